//! A decoder that plays a script of steps.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, Member, Schema, Seq, Text,
    Timestamp, Value,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// A structure, list or map begins, or goes on.
    Begin {
        continues: bool,
    },
    Member(u32),
    Key(&'static str),
    Text(&'static str),
    Null,
    End,
}

pub(crate) struct Script<'s> {
    steps: &'s [Step],
}

impl<'s> Script<'s> {
    pub(crate) fn new(steps: &'s [Step]) -> Self {
        Self { steps }
    }

    fn next(&mut self) -> Step {
        let (first, rest) = self.steps.split_first().expect("a step");
        self.steps = rest;
        *first
    }

    fn begin(&mut self) -> Result<Seq, Error> {
        match self.next() {
            Step::Begin { continues } => Ok(Seq {
                continues,
                ..Seq::default()
            }),
            step => Err(unplanned(step)),
        }
    }

    /// Whether something stands before the end.
    fn more(&mut self) -> bool {
        let more = self.steps.first() != Some(&Step::End);
        if !more {
            self.next();
        }
        more
    }
}

fn unplanned(step: impl std::fmt::Debug) -> Error {
    Error::new(ErrorKind::WrongType).found(format!("{step:?}"))
}

impl<'de> Decoder<'de> for Script<'_> {
    fn structure(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.begin()
    }

    fn member(&mut self, _: Schema<'_>, _: &mut Seq) -> Result<u32, Error> {
        match self.next() {
            Step::Member(ordinal) => Ok(ordinal),
            Step::End => Ok(END),
            step => Err(unplanned(step)),
        }
    }

    fn list(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.begin()
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        Ok(self.more())
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.begin()
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        match self.next() {
            Step::Key(key) => Ok(Some(Text::from(key))),
            Step::End => Ok(None),
            step => Err(unplanned(step)),
        }
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        let null = self.steps.first() == Some(&Step::Null);
        if null {
            self.next();
        }
        Ok(null)
    }

    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        match self.next() {
            Step::Text(text) => Ok(Text::from(text)),
            step => Err(unplanned(step)),
        }
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        Ok(Cow::Owned(self.text(at)?.into()))
    }

    /// A list if something other than a key follows, a map if a key does.
    fn any(&mut self) -> Result<Event, Error> {
        match (self.steps.first(), self.steps.get(1)) {
            (Some(Step::Begin { .. }), Some(Step::Key(_))) => self.begin().map(Event::Map),
            (Some(Step::Begin { .. }), _) => self.begin().map(Event::List),
            (Some(Step::Null), _) => {
                self.next();
                Ok(Event::Scalar(Value::Null))
            }
            _ => Ok(Event::Scalar(Value::String(self.text(Member::DOCUMENT)?))),
        }
    }

    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
        Err(unplanned(at))
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        Err(unplanned(at))
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        Err(unplanned(at))
    }

    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        Err(unplanned(at))
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        Err(unplanned(at))
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        Err(unplanned(at))
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        Err(unplanned(at))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        Err(unplanned(at))
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        Err(unplanned(at))
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        Error::new(kind).expected(expected)
    }
}
