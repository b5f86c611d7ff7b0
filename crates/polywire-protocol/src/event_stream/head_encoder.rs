//! [`HeadEncoder`]: the first pass over an event.

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Encoder, Error, ErrorKind, Member, MemberFlags, ShapeKind, Text,
    Timestamp,
};

use super::{EventHeaderValue, FORMAT, PayloadKind, layout_of};
use crate::document::Side;

/// What the first pass has found.
#[derive(Debug)]
pub(super) struct EventHead<'s> {
    /// The member of the union.
    pub(super) variant: Member<'s>,
    pub(super) headers: Vec<(Member<'s>, EventHeaderValue)>,
    pub(super) payload: Payload<'s>,
}

/// The payload of an event.
#[derive(Debug)]
pub(super) enum Payload<'s> {
    None,
    /// The payload is the value of this member.
    Raw {
        member: Member<'s>,
        bytes: Blob,
    },
    /// The payload is a document, with this number of members at its top.
    Document {
        members: usize,
    },
}

/// An encoder that finds the variant of an event and the values of its headers.
///
/// It receives the union, in it the structure of the event, and in that the members that are
/// headers or a payload without a document. It refuses other members, so their values are not
/// written. Members live as long as the schema set, but the trait does not say so; the encoder
/// finds them again by their ordinals.
#[derive(Debug)]
pub(super) struct HeadEncoder<'s> {
    side: Side,
    stream: Member<'s>,
    /// The number of structures that have begun: 1 in the union, 2 in the event.
    depth: u32,
    variant: Option<Member<'s>>,
    /// The member whose value comes next.
    current: Option<Member<'s>>,
    headers: Vec<(Member<'s>, EventHeaderValue)>,
    payload: Payload<'s>,
    error: Option<Error>,
}

impl<'s> HeadEncoder<'s> {
    /// Creates an encoder for the union that `stream` targets.
    pub(super) const fn new(stream: Member<'s>, side: Side) -> Self {
        Self {
            side,
            stream,
            depth: 0,
            variant: None,
            current: None,
            headers: Vec::new(),
            payload: Payload::None,
            error: None,
        }
    }

    pub(super) fn finish(self) -> Result<EventHead<'s>, Error> {
        match (self.error, self.variant) {
            (Some(error), _) => Err(error),
            (None, Some(variant)) => Ok(EventHead {
                variant,
                headers: self.headers,
                payload: self.payload,
            }),
            (None, None) => Err(misuse()),
        }
    }

    fn put(&mut self, value: EventHeaderValue) {
        let Some(member) = self.current.take() else {
            return self.fail(misuse());
        };
        if member.has(MemberFlags::EVENT_HEADER) {
            return self.headers.push((member, value));
        }
        let bytes = match value {
            EventHeaderValue::Blob(bytes) => bytes,
            EventHeaderValue::String(text) => text.into_blob(),
            _ => return self.fail(misuse()),
        };
        self.payload = Payload::Raw { member, bytes };
    }

    fn no_header(&mut self, at: Member<'_>) {
        self.fail(
            Error::new(ErrorKind::Unwritable)
                .in_format(FORMAT)
                .expected("a value that a header can have")
                .at_path(at.name()),
        );
    }
}

/// The error for calls that do not come from a union of structures.
#[cold]
pub(super) fn misuse() -> Error {
    Error::new(ErrorKind::Internal)
        .in_format(FORMAT)
        .expected("a union whose members are structures")
}

impl Encoder for HeadEncoder<'_> {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        self.depth += 1;
        match self.depth {
            1 => {}
            2 => {
                if layout_of(at.target()).payload == PayloadKind::Document {
                    self.payload = Payload::Document { members: 0 };
                }
            }
            _ => self.fail(misuse()),
        }
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth == 1 {
            self.variant = Some(self.stream.target().member(at.ordinal()));
            return true;
        }
        let Some(variant) = self.variant else {
            return false;
        };
        let member = variant.target().member(at.ordinal());
        if member.has(MemberFlags::EVENT_HEADER) {
            self.current = Some(member);
            return true;
        }
        if !member.has(MemberFlags::EVENT_PAYLOAD) {
            if let Payload::Document { members } = &mut self.payload {
                *members += 1;
            }
            return false;
        }
        if matches!(member.kind(), ShapeKind::Structure | ShapeKind::Union) {
            self.payload = Payload::Document { members: 1 };
            return false;
        }
        self.current = Some(member);
        true
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.side.defaults().fills_default(at)
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn begin_list(&mut self, at: Member<'_>, _: usize) {
        self.no_header(at);
    }

    fn end_list(&mut self, _: Member<'_>) {}

    fn begin_map(&mut self, at: Member<'_>, _: usize) {
        self.no_header(at);
    }

    fn key(&mut self, _: Member<'_>, _: &str) {}

    fn end_map(&mut self, _: Member<'_>) {}

    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.put(EventHeaderValue::Boolean(value));
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        let header = match at.kind() {
            ShapeKind::Byte => i8::try_from(value).map(EventHeaderValue::Byte),
            ShapeKind::Short => i16::try_from(value).map(EventHeaderValue::Short),
            ShapeKind::Long => Ok(EventHeaderValue::Long(value)),
            _ => i32::try_from(value).map(EventHeaderValue::Integer),
        };
        match header {
            Ok(header) => self.put(header),
            Err(_) => self.no_header(at),
        }
    }

    fn float(&mut self, at: Member<'_>, _: f32) {
        self.no_header(at);
    }

    fn double(&mut self, at: Member<'_>, _: f64) {
        self.no_header(at);
    }

    fn big_integer(&mut self, at: Member<'_>, _: &BigInteger) {
        self.no_header(at);
    }

    fn big_decimal(&mut self, at: Member<'_>, _: &BigDecimal) {
        self.no_header(at);
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.put(EventHeaderValue::String(Text::from(value)));
    }

    fn text(&mut self, _: Member<'_>, value: &Text) {
        self.put(EventHeaderValue::String(value.clone()));
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.put(EventHeaderValue::Blob(Blob::from(value)));
    }

    fn shared_blob(&mut self, _: Member<'_>, value: &Blob) {
        self.put(EventHeaderValue::Blob(value.clone()));
    }

    fn timestamp(&mut self, _: Member<'_>, value: Timestamp) {
        self.put(EventHeaderValue::Timestamp(value));
    }

    fn null(&mut self, at: Member<'_>) {
        self.no_header(at);
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
