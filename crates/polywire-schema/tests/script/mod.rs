//! A decoder that returns scripted values.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, Member, Schema, Seq, Text,
    Timestamp, Value,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// The start of a structure, list or map, or of a further part of it.
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
            step => Err(unexpected(step)),
        }
    }

    /// Returns whether another item follows. Consumes the end.
    fn has_next(&mut self) -> bool {
        let has_next = self.steps.first() != Some(&Step::End);
        if !has_next {
            self.next();
        }
        has_next
    }
}

fn unexpected(step: impl std::fmt::Debug) -> Error {
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
            step => Err(unexpected(step)),
        }
    }

    fn list(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.begin()
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        Ok(self.has_next())
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.begin()
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        match self.next() {
            Step::Key(key) => Ok(Some(Text::from(key))),
            Step::End => Ok(None),
            step => Err(unexpected(step)),
        }
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        let is_null = self.steps.first() == Some(&Step::Null);
        if is_null {
            self.next();
        }
        Ok(is_null)
    }

    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        match self.next() {
            Step::Text(text) => Ok(Text::from(text)),
            step => Err(unexpected(step)),
        }
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        Ok(Cow::Owned(self.text(at)?.into()))
    }

    /// Returns a map if a key follows, otherwise a list or scalar.
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
        Err(unexpected(at))
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        Err(unexpected(at))
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        Err(unexpected(at))
    }

    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        Err(unexpected(at))
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        Err(unexpected(at))
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        Err(unexpected(at))
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        Err(unexpected(at))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        Err(unexpected(at))
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        Err(unexpected(at))
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        Error::new(kind).expected(expected)
    }
}
