//! The member that is the whole body: any format's encoder and decoder, inside
//! a structure whose other members stand in the head.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Encoder, Error, ErrorKind, Event, Location, Member,
    Schema, Seq, Text, Timestamp,
};

/// Passes on what belongs to the payload, as a value at the top. A blob is
/// not written by the format but kept as it is.
pub(crate) struct PayloadEncoder<E> {
    pub(crate) inner: E,
    pub(crate) raw: Option<Vec<u8>>,
    depth: u32,
}

impl<E: Encoder> PayloadEncoder<E> {
    pub(crate) fn new(inner: E) -> Self {
        Self {
            inner,
            raw: None,
            depth: 0,
        }
    }

    /// The payload is at the top of its document, with the name of its shape.
    fn place<'s>(&self, at: Member<'s>) -> Member<'s> {
        if self.depth == 1 {
            at.target().root()
        } else {
            at
        }
    }
}

macro_rules! pass_scalars {
    ($($method:ident($type:ty),)*) => {
        $(fn $method(&mut self, at: Member<'_>, value: $type) {
            self.inner.$method(self.place(at), value);
        })*
    };
}

impl<E: Encoder> Encoder for PayloadEncoder<E> {
    fn begin_structure(&mut self, at: Member<'_>, present: usize) {
        if self.depth > 0 {
            self.inner.begin_structure(self.place(at), present);
        }
        self.depth += 1;
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        match self.depth {
            1 => at.location() == Location::Payload,
            _ => self.inner.member(at),
        }
    }

    fn end_structure(&mut self, at: Member<'_>) {
        self.depth -= 1;
        if self.depth > 0 {
            self.inner.end_structure(self.place(at));
        }
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        self.inner.begin_list(self.place(at), len);
        self.depth += 1;
    }

    fn end_list(&mut self, at: Member<'_>) {
        self.depth -= 1;
        self.inner.end_list(self.place(at));
    }

    fn begin_map(&mut self, at: Member<'_>, len: usize) {
        self.inner.begin_map(self.place(at), len);
        self.depth += 1;
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        self.inner.key(at, key);
    }

    fn end_map(&mut self, at: Member<'_>) {
        self.depth -= 1;
        self.inner.end_map(self.place(at));
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        match self.depth {
            1 => self.raw = Some(value.to_vec()),
            _ => self.inner.blob(at, value),
        }
    }

    fn null(&mut self, at: Member<'_>) {
        self.inner.null(at);
    }

    fn fail(&mut self, error: Error) {
        self.inner.fail(error);
    }

    pass_scalars! {
        boolean(bool),
        integer(i64),
        float(f32),
        double(f64),
        big_integer(&BigInteger),
        big_decimal(&BigDecimal),
        string(&str),
        timestamp(Timestamp),
    }
}

/// A structure whose only member here is the payload, read by `inner`; or by
/// nobody, if it is a blob.
pub(crate) struct PayloadDecoder<'a, D> {
    pub(crate) inner: &'a mut D,
    pub(crate) raw: Blob,
}

/// A state that no format uses, for the structure around the payload.
const OUTER: u32 = u32::MAX;

fn place(at: Member<'_>) -> Member<'_> {
    match at.location() {
        Location::Payload => at.target().root(),
        _ => at,
    }
}

macro_rules! pass_values {
    ($($method:ident -> $type:ty,)*) => {
        $(fn $method(&mut self, at: Member<'_>) -> Result<$type, Error> {
            self.inner.$method(place(at))
        })*
    };
}

impl<'de, D: Decoder<'de>> Decoder<'de> for PayloadDecoder<'_, D> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let mut members = at.target().members();
        if members.any(|at| at.location() == Location::Payload) {
            return Ok(Seq {
                state: OUTER,
                ..Seq::default()
            });
        }
        self.inner.structure(place(at))
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if seq.state != OUTER {
            return self.inner.member(shape, seq);
        }
        seq.count += 1;
        let mut members = shape.members();
        let payload = members.find(|at| at.location() == Location::Payload);
        Ok(payload
            .filter(|_| seq.count == 1)
            .map_or(END, Member::ordinal))
    }

    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        self.inner.item(at, seq)
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        self.inner.key(at, seq)
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        match at.location() {
            Location::Payload => Ok(self.raw.clone()),
            _ => self.inner.blob(at),
        }
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.inner.any()
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.inner.error(kind, expected)
    }

    pass_values! {
        list -> Seq,
        map -> Seq,
        null -> bool,
        boolean -> bool,
        integer -> i64,
        float -> f32,
        double -> f64,
        big_integer -> BigInteger,
        big_decimal -> BigDecimal,
        text -> Text,
        str -> Cow<'de, str>,
        timestamp -> Timestamp,
        missing -> (),
        unknown -> (),
    }
}
