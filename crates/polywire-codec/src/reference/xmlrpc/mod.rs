//! The reference implementation of [`xmlrpc`](crate::xmlrpc).
//!
//! It reads and writes values with a schema, and whole messages without one. It has an opinion
//! of its own about everything but numbers beyond 64 bits and decimals, which have one owner in
//! the schema crate.

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

use polywire_schema::{BigInteger, Error, Limits, Member, ShapeKind, Text, Timestamp, Value};
use polywire_text::number::Spelling;
use polywire_text::reference::{number, timestamp};
use polywire_text::timestamp::ReadPolicy;

use super::decode::{DecodeFormat, Rules, TreeDecoder, Values, skip_parts, unbase64};
use super::node::{Budget, Data, Node};
use super::xml::parse::is_space;
use crate::xmlrpc::{Duplicates, XmlRpcProfile};

/// How XML-RPC reads a tree.
#[derive(Debug)]
pub struct XmlRpcReader(XmlRpcProfile);

/// The reference implementation of [`crate::xmlrpc::XmlRpcDecoder`].
pub type XmlRpcDecoder = TreeDecoder<XmlRpcReader>;

impl XmlRpcDecoder {
    /// A decoder of the result of a response.
    ///
    /// # Errors
    ///
    /// The text is no response, or it is a fault.
    pub fn response(text: &str, profile: XmlRpcProfile, limits: &Limits) -> Result<Self, Error> {
        Self::begin(XmlRpcReader(profile), limits, || {
            let response = parse::response(text, profile, limits)?;
            response.map_err(|fault| fault.syntax("a result"))
        })
    }

    /// A decoder of a value that was parsed.
    pub(super) fn of(root: Node, profile: XmlRpcProfile, limits: &Limits) -> Result<Self, Error> {
        Self::begin(XmlRpcReader(profile), limits, || Ok(root))
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

impl XmlRpcReader {
    /// The text of a scalar of one of these types.
    fn scalar(&self, node: &Node, types: &[&str]) -> Result<(String, String), Error> {
        let (kind, text) = typed(node)?;
        if !types.contains(&kind) {
            return node.wrong_type("a value of another type");
        }
        let text = match self.0.leniency.padded_scalars() && kind != "string" {
            true => text.trim_matches(is_space).to_owned(),
            false => text,
        };
        let is_number = !["string", "boolean", "dateTime", "dateTime.iso8601"].contains(&kind);
        match is_number && text.is_empty() && self.0.leniency.empty_numbers() {
            true => Ok((kind.to_owned(), "0".to_owned())),
            false => Ok((kind.to_owned(), text)),
        }
    }

    /// An integer in the range of its type: a sign, which may be a plus, and digits.
    fn whole(
        &self,
        node: &Node,
        (kind, text): (&str, &str),
        budget: &mut Budget,
    ) -> Result<BigInteger, Error> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(node.invalid("an integer"));
        }
        let value = text.strip_prefix('+').unwrap_or(text).parse::<BigInteger>();
        let value = value.map_err(|_| node.invalid("an integer"))?;
        let range = match kind {
            "i1" => i64::from(i8::MIN)..=i64::from(i8::MAX),
            "i2" => i64::from(i16::MIN)..=i64::from(i16::MAX),
            "i4" | "int" => i64::from(i32::MIN)..=i64::from(i32::MAX),
            _ => i64::MIN..=i64::MAX,
        };
        let fits = value.to_i64().is_some_and(|value| range.contains(&value));
        match fits || kind == "biginteger" || self.0.leniency.wide_ints() {
            true => self.kept(node, value, budget),
            false => Err(node.invalid("an integer in the range of its type")),
        }
    }

    /// The text of a number that is read as one of this kind.
    fn number(&self, node: &Node, of: ShapeKind, budget: &mut Budget) -> Result<String, Error> {
        let types: &[&str] = match of {
            ShapeKind::Float | ShapeKind::Double => &["double", "float"],
            ShapeKind::BigInteger => &["string", "biginteger"],
            ShapeKind::BigDecimal => &["string", "biginteger", "bigdecimal", "double", "float"],
            _ => &["biginteger"],
        };
        let (kind, text) = self.scalar(node, &[types, &INTEGERS].concat())?;
        let is_integer = INTEGERS.contains(&&*kind) || types == ["biginteger"];
        Ok(match &*text {
            _ if is_integer => self
                .whole(node, (&kind, &text), budget)?
                .as_str()
                .to_owned(),
            "nan" => "NaN".to_owned(),
            "inf" => "Infinity".to_owned(),
            "-inf" => "-Infinity".to_owned(),
            _ => text,
        })
    }

    /// An integer beyond 64 bits keeps its digits, so they must not be too many.
    fn kept(&self, node: &Node, value: BigInteger, budget: &Budget) -> Result<BigInteger, Error> {
        if value.to_i64().is_none() {
            budget.check_length(value.as_str().len(), node.start)?;
        }
        Ok(value)
    }

    /// A date; `None` for a date that means there is none.
    fn date(&self, node: &Node) -> Result<Option<Timestamp>, Error> {
        let (_, text) = self.scalar(node, &["dateTime", "dateTime.iso8601"])?;
        let leniency = self.0.leniency;
        let read = |text: &str| timestamp::xmlrpc(text.as_bytes(), ReadPolicy::new()).ok();
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

/// `DATE [T [TIME [ZONE]]]`, where TIME may be without colons or without seconds, or be
/// 24:00:00, which is the day's end.
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

impl DecodeFormat for XmlRpcReader {
    const NAME: &'static str = "XML-RPC";

    fn rules(&self) -> Rules {
        Rules {
            skip_nulls: self.0.skip_nulls,
            required: self.0.required,
            defaults: self.0.defaults,
            spaced_base64: true,
            ..Rules::DEFAULT
        }
    }

    /// The members of a struct that count, by the policy for duplicates.
    fn entries(&self, node: Node, at: Member<'_>, budget: &mut Budget) -> Result<Values, Error> {
        let empty = matches!(&node.data, Data::List(items) if items.is_empty());
        let entries = match node.data {
            Data::Map(entries) => entries,
            _ if empty && self.0.leniency.array_structs() => Vec::new(),
            _ => return node.wrong_type(at.kind().describe()),
        };
        let names = entries
            .iter()
            .map(|(name, _)| typed(name).map(|(_, text)| text));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let mut counting = Values::new();
        for (place, (key, value)) in entries.into_iter().enumerate() {
            let name = &names[place];
            budget.check_length(name.len(), key.start)?;
            let dropped = match self.0.duplicates {
                Duplicates::First => names[..place].contains(name),
                Duplicates::Last => names[place + 1..].contains(name),
                Duplicates::Refuse => false,
            };
            if !dropped {
                counting.push((name.clone(), value));
                continue;
            }
            budget.count(1, key.start)?;
            budget.depth += 1;
            self.skip(&value, budget)?;
            budget.depth -= 1;
        }
        Ok(counting)
    }

    fn is_null(&self, node: &Node) -> bool {
        matches!(node.data, Data::Null) || matches!(self.date(node), Ok(None))
    }

    /// What is not read must be well formed all the same.
    fn skip(&self, node: &Node, budget: &mut Budget) -> Result<(), Error> {
        match &node.data {
            Data::List(_) | Data::Map(_) => {
                budget.depth += 1;
                budget.check_depth(budget.depth, node.start)?;
                skip_parts(self, node, budget)?;
                budget.depth -= 1;
                Ok(())
            }
            _ => self.document(node, Member::DOCUMENT, budget).map(drop),
        }
    }

    fn text(&self, node: &Node, _: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        let (_, text) = self.scalar(node, &["string"])?;
        budget.check_length(text.len(), node.start)?;
        Ok(text)
    }

    fn digits(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        self.number(node, at.kind(), budget)
    }

    fn big_integer(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<BigInteger, Error> {
        let value = self.digits(node, at, budget)?.parse();
        self.kept(node, value.map_err(|_| node.invalid("an integer"))?, budget)
    }

    fn boolean(&self, node: &Node, _: Member<'_>, _: &mut Budget) -> Result<bool, Error> {
        let (_, text) = self.scalar(node, &["boolean"])?;
        let words = self.0.leniency.boolean_words();
        match &*text {
            "1" => Ok(true),
            "0" => Ok(false),
            _ if words && text.eq_ignore_ascii_case("true") => Ok(true),
            _ if words && text.eq_ignore_ascii_case("false") => Ok(false),
            _ => Err(node.invalid("0 or 1")),
        }
    }

    fn blob(&self, node: &Node, _: Member<'_>, budget: &mut Budget) -> Result<Vec<u8>, Error> {
        let ("base64", text) = typed(node)? else {
            return node.wrong_type("base64");
        };
        budget.check_length(text.len(), node.start)?;
        unbase64(node, &text, true)
    }

    /// A model's timestamps are instants; without a zone they are UTC.
    fn timestamp(&self, node: &Node, _: Member<'_>, _: &mut Budget) -> Result<Timestamp, Error> {
        match self.date(node)? {
            Some(date) => Ok(date.with_unzoned(false)),
            None => Err(node.invalid("a date")),
        }
    }

    fn document(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<Value, Error> {
        if matches!(node.data, Data::Null) {
            return Ok(Value::Null);
        }
        let (kind, _) = typed(node)?;
        Ok(match kind {
            "string" => Value::String(Text::from(self.text(node, at, budget)?)),
            "boolean" => Value::Boolean(self.boolean(node, at, budget)?),
            "base64" => Value::Blob(self.blob(node, at, budget)?.into()),
            "dateTime" | "dateTime.iso8601" => self.date(node)?.map_or(Value::Null, Value::from),
            "double" | "float" => {
                let digits = self.number(node, ShapeKind::Double, budget)?;
                let double = number::double(digits.as_bytes(), Spelling::SMITHY);
                Value::Double(double.map_err(|_| node.invalid("a number"))?)
            }
            "bigdecimal" => {
                let digits = self.number(node, ShapeKind::BigDecimal, budget)?;
                budget.check_length(digits.len(), node.start)?;
                let decimal = digits.parse().map_err(|_| node.invalid("a decimal number"));
                Value::BigDecimal(decimal?)
            }
            _ => Value::from(self.big_integer(node, at, budget)?),
        })
    }
}
