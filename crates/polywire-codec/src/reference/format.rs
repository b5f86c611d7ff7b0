//! The differences between the formats when a tree is read.

use std::fmt;
use std::ops::Deref;

use polywire_schema::{
    BigDecimal, BigInteger, Error, Member, NameSource, Part, Rules, Schema, ShapeKind, Timestamp,
    TimestampFormat, Value,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::number::Spelling;
use polywire_text::reference::{base64, number, timestamp};
use polywire_text::timestamp::ReadPolicy;

use super::node::{Budget, Data, Node};

/// A node that is read as a value of `at`, within what remains of the limits.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) node: &'a Node,
    pub(super) at: Member<'a>,
    /// The kind of the value: that of `at`, unless a document says another.
    pub(super) kind: ShapeKind,
    pub(super) budget: &'a Budget,
}

impl Deref for Input<'_> {
    type Target = Node;

    fn deref(&self) -> &Node {
        self.node
    }
}

impl<'a> Input<'a> {
    /// Another node at the same position.
    pub(super) fn with(self, node: &'a Node) -> Self {
        Self { node, ..self }
    }

    /// Copies a text, whose length is checked.
    pub(super) fn limited(self, text: &str) -> Result<String, Error> {
        self.budget.check_length(text.len(), self.start)?;
        Ok(text.to_owned())
    }

    pub(super) fn count(self, items: usize) -> Result<(), Error> {
        self.budget.count(items, self.start)
    }

    pub(super) fn wrong_kind<T>(self) -> Result<T, Error> {
        self.wrong_type(self.kind.describe())
    }

    /// Decodes base64, which may contain white space if `allow_space` is set.
    pub(super) fn decode_base64(self, text: &str, allow_space: bool) -> Result<Vec<u8>, Error> {
        let (alphabet, padding) = (Alphabet::Standard, Padding::Required);
        base64::decode(text.as_bytes(), alphabet, padding, allow_space)
            .map_err(|malformed| self.invalid(malformed.expected))
    }

    /// Parses a timestamp.
    pub(super) fn instant(
        self,
        text: &str,
        format: TimestampFormat,
        utc: bool,
    ) -> Result<Timestamp, Error> {
        let (bytes, policy) = (text.as_bytes(), ReadPolicy::new());
        let instant = match format {
            TimestampFormat::EpochSeconds => timestamp::epoch_seconds(text),
            TimestampFormat::DateTime => timestamp::date_time(bytes, policy.utc(utc)).ok(),
            TimestampFormat::HttpDate => timestamp::http_date(bytes).ok(),
        };
        instant.ok_or_else(|| self.invalid("a timestamp"))
    }
}

/// The options of a profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) rules: Rules,
    pub(super) refuse_unknown: bool,
    pub(super) names: NameSource,
    pub(super) part: Part,
    pub(super) timestamps: TimestampFormat,
    /// Whether the limit on strings applies to unknown names too.
    pub(super) limits_names: bool,
}

impl Options {
    pub(super) const DEFAULT: Self = Self {
        rules: Rules::SERVER,
        refuse_unknown: false,
        names: NameSource::Member,
        part: Part::Whole,
        timestamps: TimestampFormat::EpochSeconds,
        limits_names: true,
    };
}

/// Values with their names or keys.
pub(super) type Values = Vec<(String, Node)>;

/// A format with its profile.
pub(super) trait Format: fmt::Debug {
    const NAME: &'static str;

    fn options(&self) -> Options;
}

/// How the nodes of a format are read.
pub(super) trait DecodeFormat: Format {
    /// The node at the top, which is read as the value of `at`.
    fn root(&self, node: Node, at: Member<'_>) -> Result<Node, Error> {
        let _ = at;
        Ok(node)
    }

    /// The members of a structure.
    fn members(&self, input: Input<'_>) -> Result<Values, Error> {
        self.entries(input)
    }

    fn items(&self, input: Input<'_>) -> Result<Vec<Node>, Error> {
        match &input.node.data {
            Data::List(items) => Ok(items.clone()),
            Data::Tagged(_, inner) => self.items(input.with(inner)),
            _ => input.wrong_kind(),
        }
    }

    /// The entries of a map. Tags do not change them.
    fn entries(&self, input: Input<'_>) -> Result<Values, Error> {
        let entries = match &input.node.data {
            Data::Map(entries) => entries.iter(),
            Data::Tagged(_, inner) => return self.entries(input.with(inner)),
            _ => return input.wrong_kind(),
        };
        let named = entries.map(|(key, value)| match &key.data {
            Data::Text(key) => Ok((key.clone(), value.clone())),
            _ => key.wrong_type("a text string"),
        });
        named.collect()
    }

    fn find<'s>(&self, shape: Schema<'s>, name: &str, value: &Node) -> Option<Member<'s>> {
        let _ = value;
        let names = self.options().names;
        shape.members().find(|member| member.plain(names) == name)
    }

    fn is_null(&self, node: &Node) -> bool {
        matches!(node.data, Data::Null)
    }

    /// Skips a value, and counts its items.
    fn skip(&self, input: Input<'_>) -> Result<(), Error> {
        skip_parts(self, input)
    }

    /// The text of a string, whose length is checked.
    fn text(&self, input: Input<'_>) -> Result<String, Error> {
        match &input.node.data {
            Data::Text(text) => input.limited(text),
            _ => input.wrong_type("a string"),
        }
    }

    /// The text of a scalar other than a string.
    fn word(&self, input: Input<'_>) -> Result<String, Error> {
        self.text(input)
    }

    /// The text of a number, or one of `NaN`, `Infinity` and `-Infinity`.
    fn digits(&self, input: Input<'_>) -> Result<String, Error> {
        self.word(input)
    }

    fn boolean(&self, input: Input<'_>) -> Result<bool, Error> {
        match input.data {
            Data::Boolean(value) => Ok(value),
            _ => self
                .word(input)?
                .parse()
                .map_err(|_| input.invalid("true or false")),
        }
    }

    fn integer(&self, input: Input<'_>) -> Result<i64, Error> {
        let (min, max) = input.kind.integer_range();
        let value = self.digits(input)?.parse().ok();
        let value = value.filter(|value| (min..=max).contains(value));
        value.ok_or_else(|| input.invalid(input.kind.describe()))
    }

    fn float(&self, input: Input<'_>) -> Result<f32, Error> {
        let digits = self.digits(input)?;
        let float = match number::double(digits.as_bytes(), Spelling::SMITHY) {
            Ok(double) if !double.is_finite() => Some(double as f32),
            // Parsed from the text again, to round only once.
            Ok(_) => digits.parse().ok().filter(|float: &f32| float.is_finite()),
            Err(_) => None,
        };
        float.ok_or_else(|| input.invalid("a number of 32 bits"))
    }

    fn double(&self, input: Input<'_>) -> Result<f64, Error> {
        let double = number::double(self.digits(input)?.as_bytes(), Spelling::SMITHY);
        double.map_err(|_| input.invalid("a number of 64 bits"))
    }

    fn big_integer(&self, input: Input<'_>) -> Result<BigInteger, Error> {
        let digits = input.limited(&self.digits(input)?)?;
        digits.parse().map_err(|_| input.invalid("an integer"))
    }

    fn big_decimal(&self, input: Input<'_>) -> Result<BigDecimal, Error> {
        let digits = input.limited(&self.digits(input)?)?;
        digits
            .parse()
            .map_err(|_| input.invalid("a decimal number"))
    }

    fn blob(&self, input: Input<'_>) -> Result<Vec<u8>, Error> {
        input.decode_base64(&self.text(input)?, false)
    }

    fn timestamp(&self, input: Input<'_>) -> Result<Timestamp, Error> {
        let options = self.options();
        let format = input.at.timestamp_format().unwrap_or(options.timestamps);
        input.instant(&self.word(input)?, format, options.rules.strict)
    }

    /// A scalar without a schema.
    fn document(&self, input: Input<'_>) -> Result<Value, Error> {
        input.wrong_type("a shape that the format has")
    }
}

/// Counts the items and entries of a skipped value. The containers themselves are not counted, because
/// they take no memory.
pub(super) fn skip_parts(
    format: &(impl DecodeFormat + ?Sized),
    input: Input<'_>,
) -> Result<(), Error> {
    match &input.node.data {
        Data::Text(text) => input.limited(text).map(drop),
        Data::Bytes(bytes) => input.budget.check_length(bytes.len(), input.start),
        Data::Tagged(_, inner) => format.skip(input.with(inner)),
        Data::List(items) => items.iter().try_for_each(|item| {
            input.count(1)?;
            format.skip(input.with(item))
        }),
        Data::Map(entries) => entries.iter().try_for_each(|(key, value)| {
            input.count(1)?;
            format.skip(input.with(key))?;
            format.skip(input.with(value))
        }),
        _ => Ok(()),
    }
}
