//! Reading: what a document means, by <http://xmlrpc.com/spec.md> and
//! `docs/xmlrpc-mapping.md`.

use polywire_schema::{
    BigDecimal, BigInteger, Error, ErrorKind, LimitKind, Limits, Map, Text, Timestamp, Value,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::number::Spelling;
use polywire_text::reference::{base64, number, timestamp};

use super::tree::{self, Element, Node, error, is_space};
use crate::xmlrpc::{Duplicates, Leniency, XmlRpcProfile};

/// A result, or the value of a fault.
pub type Response = Result<Value, Value>;

/// Reads a call: its method and its parameters.
///
/// # Errors
///
/// The text is no call, or beyond the limits.
pub fn read_call(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<(String, Vec<Value>), Error> {
    let (mut reader, root) = begin(text, profile, limits)?;
    reader.call(&root)
}

/// Reads a response.
///
/// # Errors
///
/// The text is no response, or beyond the limits.
pub fn read_response(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Response, Error> {
    let (mut reader, root) = begin(text, profile, limits)?;
    if root.name != "methodResponse" {
        return Err(wrong("<methodResponse>"));
    }
    let nothing = profile.leniency.missing_params() && !root.closed;
    match root.children()?[..] {
        [] if nothing => Ok(Ok(Value::Null)),
        [fault] if fault.name == "fault" => Ok(Err(reader.value(fault.only_child("value")?)?)),
        [params] if params.name == "params" => match params.children()?[..] {
            [] if nothing => Ok(Ok(Value::Null)),
            [param] if param.name == "param" => match param.children()?[..] {
                [] if nothing => Ok(Ok(Value::Null)),
                [value] if value.name == "value" => Ok(Ok(reader.value(value)?)),
                _ => Err(wrong("one <value>")),
            },
            _ => Err(wrong("one <param>")),
        },
        _ => Err(wrong("<params> or <fault>")),
    }
}

/// Reads the calls of a `system.multicall`: of each its method and its parameters, or
/// nothing where it is no call.
///
/// # Errors
///
/// The text is no such call, or beyond the limits.
#[expect(clippy::type_complexity, reason = "for tests alone")]
pub fn read_multicall(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Vec<Option<(String, Vec<Value>)>>, Error> {
    let (mut reader, root) = begin(text, profile, limits)?;
    // A member that comes twice spoils one of the calls, not all of them.
    reader.marks_duplicates = true;
    let (_, parameters) = reader.call(&root)?;
    let [Value::List(calls)] = &parameters[..] else {
        return Err(wrong("one parameter, an array of calls"));
    };
    if calls.len() > limits.calls() as usize {
        return Err(error(
            ErrorKind::Limit(LimitKind::Calls(limits.calls())),
            "",
        ));
    }
    let call = |value: &Value| {
        let twice = value.get(TWICE).and_then(Value::as_str);
        let (method, parameters) = (value.get("methodName")?, value.get("params")?);
        let (method, parameters) = (method.as_str()?, parameters.as_list()?);
        let spoiled = matches!(twice, Some("methodName" | "params"));
        (!spoiled).then(|| (method.to_owned(), parameters.to_vec()))
    };
    let calls: Vec<_> = calls.iter().map(call).collect();
    for (_, parameters) in calls.iter().flatten() {
        if parameters.iter().any(has_duplicates) {
            return Err(error(ErrorKind::Duplicate, "each member once"));
        }
    }
    Ok(calls)
}

/// A name that no member has: of the mark that a member came twice.
const TWICE: &str = "\u{fffe}twice";

fn has_duplicates(value: &Value) -> bool {
    match value {
        Value::List(list) => list.iter().any(has_duplicates),
        Value::Map(map) => map.contains_key(TWICE) || map.values().any(has_duplicates),
        _ => false,
    }
}

fn begin(text: &str, profile: XmlRpcProfile, limits: &Limits) -> Result<(Reader, Element), Error> {
    if text.len() > limits.bytes() {
        return Err(error(
            ErrorKind::Limit(LimitKind::Bytes(limits.bytes())),
            "",
        ));
    }
    let root = tree::parse(text, profile.leniency)?;
    let reader = Reader {
        leniency: profile.leniency,
        duplicates: profile.duplicates,
        limits: *limits,
        items: 0,
        depth: 0,
        marks_duplicates: false,
        skips: false,
    };
    Ok((reader, root))
}

fn wrong(expected: &'static str) -> Error {
    error(ErrorKind::Syntax, expected)
}

fn invalid(expected: &'static str) -> Error {
    error(ErrorKind::InvalidValue, expected)
}

/// Whether this is a member of a struct with a name.
fn has_name(member: &Element, name: &str) -> bool {
    let children = member.children().unwrap_or_default();
    let own = children.first().map(|own| own.text());
    own.is_some_and(|own| own.is_ok_and(|own| own == name))
}

struct Reader {
    leniency: Leniency,
    duplicates: Duplicates,
    limits: Limits,
    items: u32,
    depth: u32,
    /// Whether a member that comes twice leaves a mark instead of an error.
    marks_duplicates: bool,
    /// Whether what is read is dropped: collections in it take no memory, so they are no items.
    skips: bool,
}

impl Reader {
    fn call(&mut self, root: &Element) -> Result<(String, Vec<Value>), Error> {
        if root.name != "methodCall" {
            return Err(wrong("<methodCall>"));
        }
        let (name, parameters) = match root.children()?[..] {
            [name] => (name, None),
            [name, parameters] if parameters.name == "params" => (name, Some(parameters)),
            _ => return Err(wrong("<methodName> and perhaps <params>")),
        };
        // A call without a name is none, unless its name is there and empty.
        if name.name != "methodName" || name.closed {
            return Err(wrong("<methodName>"));
        }
        let method = self.short(name.text()?)?.trim_matches(is_space).to_owned();
        let mut values = Vec::new();
        for parameter in parameters
            .map(Element::children)
            .transpose()?
            .unwrap_or_default()
        {
            if parameter.name != "param" {
                return Err(wrong("<param>"));
            }
            self.count()?;
            values.push(self.value(parameter.only_child("value")?)?);
        }
        Ok((method, values))
    }

    /// Counts a parameter, item, member or nested collection.
    fn count(&mut self) -> Result<(), Error> {
        self.items += 1;
        match self.items > self.limits.items() {
            true => Err(error(
                ErrorKind::Limit(LimitKind::Items(self.limits.items())),
                "",
            )),
            false => Ok(()),
        }
    }

    /// A text that is kept, and so must not be too long.
    fn short(&self, text: String) -> Result<String, Error> {
        let most = self.limits.string();
        match text.len() > most {
            true => Err(error(ErrorKind::Limit(LimitKind::StringLength(most)), "")),
            false => Ok(text),
        }
    }

    fn value(&mut self, value: &Element) -> Result<Value, Error> {
        let has_type = value
            .content
            .iter()
            .any(|node| matches!(node, Node::Element(_)));
        if !has_type {
            return Ok(Value::from(self.short(value.text()?)?));
        }
        let [element] = value.children()?[..] else {
            return Err(wrong("one type in a value"));
        };
        let name = element.name.strip_prefix("ex:").unwrap_or(&element.name);
        match name {
            "array" | "struct" => {
                if self.depth == self.limits.depth() {
                    let limit = LimitKind::Depth(self.limits.depth());
                    return Err(error(ErrorKind::Limit(limit), ""));
                }
                if self.depth > 0 && !self.skips {
                    self.count()?;
                }
                self.depth += 1;
                let value = match name {
                    "array" => self.array(element),
                    _ => self.structure(element),
                }?;
                self.depth -= 1;
                Ok(value)
            }
            "nil" => match element.children()?[..] {
                [] => Ok(Value::Null),
                _ => Err(wrong("nothing in nil")),
            },
            "string" => Ok(Value::from(self.short(element.text()?)?)),
            "base64" => {
                let text = self.short(element.text()?)?;
                let bytes =
                    base64::decode(text.as_bytes(), Alphabet::Standard, Padding::Required, true);
                Ok(Value::from(bytes.map_err(|_| invalid("base64"))?))
            }
            "boolean" => self.boolean(&self.unpadded(element.text()?)),
            "dateTime" | "dateTime.iso8601" => self.date(&self.unpadded(element.text()?)),
            "double" | "float" => self.double(&self.number(element.text()?)),
            "i1" => self.integer(element, i64::from(i8::MIN), i64::from(i8::MAX)),
            "i2" => self.integer(element, i64::from(i16::MIN), i64::from(i16::MAX)),
            "i4" | "int" => self.integer(element, i64::from(i32::MIN), i64::from(i32::MAX)),
            "i8" => self.integer(element, i64::MIN, i64::MAX),
            "biginteger" => {
                let value = Value::from(big(&self.number(element.text()?))?);
                self.kept(value)
            }
            "bigdecimal" => {
                let text = self.short(self.number(element.text()?))?;
                let decimal = text.parse::<BigDecimal>();
                Ok(Value::from(
                    decimal.map_err(|_| invalid("a decimal number"))?,
                ))
            }
            _ => Err(wrong("a type of XML-RPC")),
        }
    }

    /// `<array><data>`, values, and the ends; nothing at all for an empty one.
    fn array(&mut self, array: &Element) -> Result<Value, Error> {
        let items = match array.children()?[..] {
            [] => Vec::new(),
            [data] if data.name == "data" => data.children()?,
            _ => return Err(wrong("one <data>")),
        };
        let mut list = Vec::new();
        for item in items {
            if item.name != "value" {
                return Err(wrong("<value>"));
            }
            self.count()?;
            list.push(self.value(item)?);
        }
        Ok(Value::List(list))
    }

    fn structure(&mut self, structure: &Element) -> Result<Value, Error> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        let members = structure.children()?;
        for (at, member) in members.iter().enumerate() {
            let [name, value] = member.children()?[..] else {
                return Err(wrong("<name> and <value>"));
            };
            if member.name != "member" || name.name != "name" || value.name != "value" {
                return Err(wrong("<member> of <name> and <value>"));
            }
            let name = self.short(name.text()?)?;
            self.count()?;
            let (earlier, later) = (&members[..at], &members[at + 1..]);
            let skips = self.skips;
            self.skips |= match self.duplicates {
                Duplicates::First => earlier.iter().any(|member| has_name(member, &name)),
                Duplicates::Last => later.iter().any(|member| has_name(member, &name)),
                Duplicates::Refuse => false,
            };
            let value = self.value(value)?;
            self.skips = skips;
            let before = entries.iter().position(|(own, _)| *own == name);
            match (before, self.duplicates) {
                (None, _) => entries.push((name, value)),
                (Some(_), Duplicates::First) => {}
                (Some(before), Duplicates::Last) => {
                    entries.remove(before);
                    entries.push((name, value));
                }
                (Some(_), Duplicates::Refuse) if self.marks_duplicates => {
                    entries.push((TWICE.to_owned(), Value::from(name)));
                }
                (Some(_), Duplicates::Refuse) => {
                    return Err(error(ErrorKind::Duplicate, "each member once"));
                }
            }
        }
        let entries = entries
            .into_iter()
            .map(|(name, value)| (Text::from(name), value));
        Ok(Value::Map(Map::from_iter(entries)))
    }

    fn unpadded(&self, text: String) -> String {
        match self.leniency.padded_scalars() {
            true => text.trim_matches(is_space).to_owned(),
            false => text,
        }
    }

    /// As [`Self::unpadded`], of a number, which may be empty.
    fn number(&self, text: String) -> String {
        let text = self.unpadded(text);
        match text.is_empty() && self.leniency.empty_numbers() {
            true => "0".to_owned(),
            false => text,
        }
    }

    fn boolean(&self, text: &str) -> Result<Value, Error> {
        let words = self.leniency.boolean_words();
        match text {
            "1" => Ok(Value::from(true)),
            "0" => Ok(Value::from(false)),
            _ if words && text.eq_ignore_ascii_case("true") => Ok(Value::from(true)),
            _ if words && text.eq_ignore_ascii_case("false") => Ok(Value::from(false)),
            _ => Err(invalid("0 or 1")),
        }
    }

    fn integer(&self, element: &Element, least: i64, most: i64) -> Result<Value, Error> {
        let value = Value::from(big(&self.number(element.text()?))?);
        let fits = value
            .as_i64()
            .is_some_and(|value| least <= value && value <= most);
        match fits || self.leniency.wide_ints() {
            true => self.kept(value),
            false => Err(invalid("an integer in the range of its type")),
        }
    }

    /// A number whose digits are bounded if they are kept.
    fn kept(&self, value: Value) -> Result<Value, Error> {
        if let Value::BigInteger(digits) = &value {
            self.short(digits.as_str().to_owned())?;
        }
        Ok(value)
    }

    fn double(&self, text: &str) -> Result<Value, Error> {
        let text = match text {
            "nan" => "NaN",
            "inf" => "Infinity",
            "-inf" => "-Infinity",
            other => other,
        };
        number::double(text.as_bytes(), Spelling::SMITHY)
            .map(Value::from)
            .map_err(|_| invalid("a number"))
    }

    fn date(&self, text: &str) -> Result<Value, Error> {
        let read = |text: &str| timestamp::xmlrpc(text.as_bytes()).ok();
        let odd = || match self.leniency.odd_dates() {
            true => odd_date(text, &read),
            false => None,
        };
        let none = || {
            let none = self.leniency.zero_dates() && text == "00000000T00:00:00Z";
            none.then_some(Value::Null)
        };
        read(text)
            .or_else(odd)
            .map(Value::from)
            .or_else(none)
            .ok_or_else(|| invalid("a date"))
    }
}

/// A sign, which may be a plus, and digits.
fn big(text: &str) -> Result<BigInteger, Error> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid("an integer"));
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    text.parse().map_err(|_| invalid("an integer"))
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
