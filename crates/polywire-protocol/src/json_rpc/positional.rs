//! Structures without the names of their members.

use std::borrow::Cow;

use polywire_codec::json::JsonDecoder;
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, Member, Schema, Seq,
    ShapeKind, Text, Timestamp, Value,
};

/// Marks the position in the structure at the top. JSON uses no [`Seq::mark`].
const TOP: u64 = u64::MAX;

/// A decoder that reads the structure at the top from an array with the values of its members in
/// the order of the model, or from the value of its only member. All below is read as usual.
pub(super) struct PositionalDecoder<'d, 'de> {
    decoder: &'d mut JsonDecoder<'de>,
    root: Member<'d>,
    is_list: bool,
    /// Whether the structure at the top has begun.
    has_begun: bool,
}

impl<'d, 'de> PositionalDecoder<'d, 'de> {
    /// Reads an array.
    pub(super) const fn list(decoder: &'d mut JsonDecoder<'de>, root: Member<'d>) -> Self {
        Self {
            decoder,
            root,
            is_list: true,
            has_begun: false,
        }
    }

    /// Reads the value of the only member.
    pub(super) const fn single(decoder: &'d mut JsonDecoder<'de>, root: Member<'d>) -> Self {
        Self {
            is_list: false,
            ..Self::list(decoder, root)
        }
    }

    /// The next member of the structure at the top.
    fn next_of_list(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        while self.decoder.item(self.root, seq)? {
            let ordinal = seq.count - 1;
            if ordinal >= shape.len() {
                let error = Decoder::error(self.decoder, ErrorKind::Unknown, "");
                let expected = format!("at most {} parameters", shape.len());
                return Err(error.expected(expected));
            }
            let member = shape.member(ordinal);
            let may_be_null = member.kind() == ShapeKind::Document;
            if may_be_null || !self.decoder.null(member)? {
                return Ok(ordinal);
            }
        }
        Ok(END)
    }
}

/// What is read below the structure at the top.
macro_rules! forward {
    ($($method:ident($($name:ident: $ty:ty),*) -> $output:ty;)+) => {
        $(fn $method(&mut self, $($name: $ty),*) -> $output {
            Decoder::$method(self.decoder, $($name),*)
        })+
    };
}

impl<'de> Decoder<'de> for PositionalDecoder<'_, 'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.has_begun {
            return self.decoder.structure(at);
        }
        self.has_begun = true;
        let mut seq = match self.is_list {
            true => self.decoder.list(at)?,
            false => Seq::default(),
        };
        seq.mark = TOP;
        Ok(seq)
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        match (seq.mark, self.is_list) {
            (TOP, true) => self.next_of_list(shape, seq),
            (TOP, false) if seq.mark_new(0) => Ok(0),
            (TOP, false) => Ok(END),
            _ => self.decoder.member(shape, seq),
        }
    }

    forward! {
        variant(at: Member<'_>) -> Option<u32>;
        end_variant(ordinal: u32) -> Option<Seq>;
        list(at: Member<'_>) -> Result<Seq, Error>;
        item(at: Member<'_>, seq: &mut Seq) -> Result<bool, Error>;
        size_hint(at: Member<'_>, seq: &Seq) -> usize;
        map(at: Member<'_>) -> Result<Seq, Error>;
        key(at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error>;
        null(at: Member<'_>) -> Result<bool, Error>;
        boolean(at: Member<'_>) -> Result<bool, Error>;
        integer(at: Member<'_>) -> Result<i64, Error>;
        float(at: Member<'_>) -> Result<f32, Error>;
        double(at: Member<'_>) -> Result<f64, Error>;
        big_integer(at: Member<'_>) -> Result<BigInteger, Error>;
        big_decimal(at: Member<'_>) -> Result<BigDecimal, Error>;
        text(at: Member<'_>) -> Result<Text, Error>;
        str(at: Member<'_>) -> Result<Cow<'de, str>, Error>;
        blob(at: Member<'_>) -> Result<Blob, Error>;
        timestamp(at: Member<'_>) -> Result<Timestamp, Error>;
        any() -> Result<Event, Error>;
        document() -> Result<Value, Error>;
        missing(at: Member<'_>) -> Result<(), Error>;
        unknown(at: Member<'_>) -> Result<(), Error>;
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.decoder.fills_default(at)
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        Decoder::error(self.decoder, kind, expected)
    }
}
