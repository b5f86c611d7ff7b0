//! The reference implementation of [`xmlrpc`](crate::xmlrpc).
//!
//! It reads and writes values with a schema, and messages without one. The schema crate
//! parses numbers beyond 64 bits and decimals; everything else is implemented here.

mod messages;
mod parse;
mod surrogates;
mod write;

pub use messages::{
    Response, read_call, read_multicall, read_response, write_call, write_fault, write_response,
    write_value,
};
pub(super) use parse::value_at;
pub(super) use surrogates::with_pairs_joined;
pub use write::XmlRpcEncoder;

use polywire_schema::{BigInteger, Error, Limits, ShapeKind, Text, Timestamp, Value};
use polywire_text::reference::timestamp;

use super::decode::TreeDecoder;
use super::encode::plain_text;
use super::format::{DecodeFormat, Format, Input, Options, Values, skip_parts};
use super::node::{Data, Node};
use super::xml::parse::is_space;
use crate::xmlrpc::{Duplicates, Style, XmlRpcProfile};

/// XML-RPC with a profile for reading and a style for writing.
#[derive(Debug)]
pub struct XmlRpcFormat {
    profile: XmlRpcProfile,
    style: Style,
}

/// The reference implementation of [`crate::xmlrpc::XmlRpcDecoder`].
pub type XmlRpcDecoder = TreeDecoder<XmlRpcFormat>;

impl XmlRpcDecoder {
    /// A decoder of the result of a response.
    ///
    /// # Errors
    ///
    /// The text is not a response, or it is a fault.
    pub fn response(text: &str, profile: XmlRpcProfile, limits: &Limits) -> Result<Self, Error> {
        let read = || match parse::response(text, profile, limits)? {
            Ok(result) => Ok(result),
            Err(fault) => Err(fault.syntax("a result")),
        };
        Self::begin(XmlRpcFormat::reading(profile), limits, read)
    }

    /// Creates a decoder of a parsed value.
    pub(super) fn of(root: Node, profile: XmlRpcProfile, limits: &Limits) -> Result<Self, Error> {
        Self::begin(XmlRpcFormat::reading(profile), limits, || Ok(root))
    }
}

/// The type and the text of a scalar. A string needs no type.
fn typed(node: &Node) -> Result<(&str, String), Error> {
    match &node.data {
        Data::Text(text) => Ok(("string", text.clone())),
        Data::Element(element) => Ok((&element.name, element.text())),
        _ => node.wrong_type("a scalar"),
    }
}

/// Limits the number of digits of an integer of more than 64 bits.
fn kept(input: Input<'_>, value: BigInteger) -> Result<BigInteger, Error> {
    match value.to_i64() {
        Some(_) => Ok(value),
        None => input.limited(value.as_str()).map(|_| value),
    }
}

impl XmlRpcFormat {
    fn reading(profile: XmlRpcProfile) -> Self {
        let style = Style::DEFAULT;
        Self { profile, style }
    }

    /// The text of a scalar of one of these types.
    fn scalar(&self, node: &Node, types: &[&str]) -> Result<(String, String), Error> {
        let (kind, text) = typed(node)?;
        if !types.contains(&kind) {
            return node.wrong_type("a value of another type");
        }
        let text = match self.profile.leniency.padded_scalars() && kind != "string" {
            true => text.trim_matches(is_space).to_owned(),
            false => text,
        };
        let is_number = !["string", "boolean", "dateTime", "dateTime.iso8601"].contains(&kind);
        match is_number && text.is_empty() && self.profile.leniency.empty_numbers() {
            true => Ok((kind.to_owned(), "0".to_owned())),
            false => Ok((kind.to_owned(), text)),
        }
    }

    /// An integer in the range of its type: a sign, which may be a plus, and digits.
    fn whole(&self, input: Input<'_>, kind: &str, text: &str) -> Result<BigInteger, Error> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(input.invalid("an integer"));
        }
        let value = text.strip_prefix('+').unwrap_or(text);
        let value: BigInteger = value.parse().map_err(|_| input.invalid("an integer"))?;
        let range = match kind {
            "i1" => i64::from(i8::MIN)..=i64::from(i8::MAX),
            "i2" => i64::from(i16::MIN)..=i64::from(i16::MAX),
            "i4" | "int" => i64::from(i32::MIN)..=i64::from(i32::MAX),
            _ => i64::MIN..=i64::MAX,
        };
        let fits = value.to_i64().is_some_and(|value| range.contains(&value));
        match fits || kind == "biginteger" || self.profile.leniency.wide_ints() {
            true => kept(input, value),
            false => Err(input.invalid("an integer in the range of its type")),
        }
    }

    /// A date. `None` for a date that means a missing value.
    fn date(&self, node: &Node) -> Result<Option<Timestamp>, Error> {
        let (_, text) = self.scalar(node, &["dateTime", "dateTime.iso8601"])?;
        let leniency = self.profile.leniency;
        let read = |text: &str| timestamp::xmlrpc(text.as_bytes()).ok();
        let odd = || {
            leniency
                .odd_dates()
                .then(|| odd_date(&text, &read))
                .flatten()
        };
        match read(&text).or_else(odd) {
            None if leniency.zero_dates() && text == "00000000T00:00:00Z" => Ok(None),
            None => Err(node.invalid("a date")),
            found => Ok(found),
        }
    }
}

/// `DATE [T [TIME [ZONE]]]`. TIME may have no colons or no seconds. 24:00:00 is the end of the day.
fn odd_date(text: &str, read: &dyn Fn(&str) -> Option<Timestamp>) -> Option<Timestamp> {
    let (date, rest) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let end = rest.find(['.', '+', '-', 'Z', 'z']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(end);
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let time = match time.as_bytes() {
        [] if zone.is_empty() => "00:00:00".to_owned(),
        digits if digits.len() == 6 && digits.iter().all(is_digit) => {
            format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..])
        }
        [_, _, b':', _, _] => format!("{time}:00"),
        _ => time.to_owned(),
    };
    if time != "24:00:00" {
        return read(&format!("{date}T{time}{zone}"));
    }
    if zone.starts_with('.') {
        return None;
    }
    let begin = read(&format!("{date}T00:00:00{zone}"))?;
    let end = Timestamp::new(begin.seconds() + 24 * 60 * 60, 0);
    Some(end.with_unzoned(begin.is_unzoned()))
}

const INTEGERS: [&str; 5] = ["i1", "i2", "i4", "int", "i8"];

impl Format for XmlRpcFormat {
    const NAME: &'static str = "XML-RPC";

    fn options(&self) -> Options {
        Options {
            rules: self.profile.rules,
            ..Options::DEFAULT
        }
    }
}

impl DecodeFormat for XmlRpcFormat {
    /// The members of a struct, after applying the policy for duplicates.
    fn entries(&self, input: Input<'_>) -> Result<Values, Error> {
        let entries = match &input.node.data {
            Data::Map(entries) => &entries[..],
            Data::List(items) if items.is_empty() && self.profile.leniency.array_structs() => &[],
            _ => return input.wrong_kind(),
        };
        let names: Vec<String> = entries
            .iter()
            .map(|(name, _)| plain_text(&name.data))
            .collect();
        let mut counting = Values::new();
        for (place, (key, value)) in entries.iter().enumerate() {
            let name = input.with(key).limited(&names[place])?;
            let dropped = match self.profile.duplicates {
                Duplicates::First => names[..place].contains(&name),
                Duplicates::Last => names[place + 1..].contains(&name),
                Duplicates::Reject => false,
            };
            if !dropped {
                counting.push((name, value.clone()));
                continue;
            }
            input.count(1)?;
            deeper(input.with(value), |value| self.skip(value))?;
        }
        Ok(counting)
    }

    fn is_null(&self, node: &Node) -> bool {
        matches!(node.data, Data::Null) || matches!(self.date(node), Ok(None))
    }

    /// Skipped values must be well formed.
    fn skip(&self, input: Input<'_>) -> Result<(), Error> {
        match &input.node.data {
            Data::List(_) | Data::Map(_) => deeper(input, |input| {
                input.budget.check_depth(0, input.start)?;
                skip_parts(self, input)
            }),
            _ => self.document(input).map(drop),
        }
    }

    fn digits(&self, input: Input<'_>) -> Result<String, Error> {
        let types: &[&str] = match input.kind {
            ShapeKind::Float | ShapeKind::Double => &["double", "float"],
            ShapeKind::BigInteger => &["string", "biginteger"],
            ShapeKind::BigDecimal => &["string", "biginteger", "bigdecimal", "double", "float"],
            _ => &["biginteger"],
        };
        let (kind, text) = self.scalar(input.node, &[types, &INTEGERS].concat())?;
        let is_integer = INTEGERS.contains(&&*kind) || types == ["biginteger"];
        Ok(match &*text {
            _ if is_integer => self.whole(input, &kind, &text)?.as_str().to_owned(),
            "nan" => "NaN".to_owned(),
            "inf" => "Infinity".to_owned(),
            "-inf" => "-Infinity".to_owned(),
            _ => text,
        })
    }

    fn big_integer(&self, input: Input<'_>) -> Result<BigInteger, Error> {
        let value = self.digits(input)?.parse();
        kept(input, value.map_err(|_| input.invalid("an integer"))?)
    }

    fn boolean(&self, input: Input<'_>) -> Result<bool, Error> {
        let (_, text) = self.scalar(input.node, &["boolean"])?;
        let words = self.profile.leniency.boolean_words();
        match &*text {
            "1" => Ok(true),
            "0" => Ok(false),
            _ if words && text.eq_ignore_ascii_case("true") => Ok(true),
            _ if words && text.eq_ignore_ascii_case("false") => Ok(false),
            _ => Err(input.invalid("0 or 1")),
        }
    }

    fn blob(&self, input: Input<'_>) -> Result<Vec<u8>, Error> {
        match typed(input.node)? {
            ("base64", text) => input.decode_base64(&input.limited(&text)?, true),
            _ => input.wrong_type("base64"),
        }
    }

    /// Timestamps of a model are instants. Without a zone they are in UTC.
    fn timestamp(&self, input: Input<'_>) -> Result<Timestamp, Error> {
        let date = self.date(input.node)?.map(|date| date.with_unzoned(false));
        date.ok_or_else(|| input.invalid("a date"))
    }

    fn document(&self, input: Input<'_>) -> Result<Value, Error> {
        if matches!(input.data, Data::Null) {
            return Ok(Value::Null);
        }
        let of = |kind| Input { kind, ..input };
        Ok(match typed(input.node)?.0 {
            "string" => Value::String(Text::from(self.text(input)?)),
            "boolean" => Value::Boolean(self.boolean(input)?),
            "base64" => Value::Blob(self.blob(input)?.into()),
            "dateTime" | "dateTime.iso8601" => {
                self.date(input.node)?.map_or(Value::Null, Value::from)
            }
            "double" | "float" => Value::Double(self.double(of(ShapeKind::Double))?),
            "bigdecimal" => Value::BigDecimal(self.big_decimal(of(ShapeKind::BigDecimal))?),
            _ => Value::from(self.big_integer(input)?),
        })
    }
}

/// Enters a level.
fn deeper<'a>(
    input: Input<'a>,
    go: impl FnOnce(Input<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let depth = input.budget.depth.get();
    input.budget.depth.set(depth + 1);
    go(input)?;
    input.budget.depth.set(depth);
    Ok(())
}
