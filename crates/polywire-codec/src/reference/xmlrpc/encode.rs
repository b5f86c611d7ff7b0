//! Writing: the canonical form, as `docs/xmlrpc-mapping.md` has it.

use polywire_schema::{Error, ErrorKind, Value};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::escape::{Forbidden, XmlPlace};
use polywire_text::number;
use polywire_text::reference::{base64, timestamp, xml};
use polywire_text::timestamp::Fraction;

use crate::xmlrpc::{ForbiddenText, Nil, Style};

const DECLARATION: &str = "<?xml version=\"1.0\"?>";

/// Writes a call.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_call(method: &str, parameters: &[Value], style: Style) -> Result<String, Error> {
    let method = escaped(method, Forbidden::Refuse)?;
    let mut params = String::new();
    for parameter in parameters {
        params += &element("param", &write_value(parameter, style)?);
    }
    let inside = element("methodName", &method) + &element("params", &params);
    Ok(DECLARATION.to_owned() + &element("methodCall", &inside))
}

/// Writes a response.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_response(value: &Value, style: Style) -> Result<String, Error> {
    let params = element("params", &element("param", &write_value(value, style)?));
    Ok(DECLARATION.to_owned() + &element("methodResponse", &params))
}

/// Writes a fault.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_fault(value: &Value, style: Style) -> Result<String, Error> {
    let fault = element("fault", &write_value(value, style)?);
    Ok(DECLARATION.to_owned() + &element("methodResponse", &fault))
}

/// Writes a value.
///
/// # Errors
///
/// Something cannot be written.
pub fn write_value(value: &Value, style: Style) -> Result<String, Error> {
    Ok(element("value", &inside(value, style)?))
}

fn element(name: &str, inside: &str) -> String {
    format!("<{name}>{inside}</{name}>")
}

fn unwritable(expected: &'static str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("XML-RPC")
        .expected(expected)
}

/// The digits without an exponent and with a fraction. Words such as `NaN` stay as they are.
fn plain(digits: String) -> String {
    if !digits.ends_with(|last: char| last.is_ascii_digit()) {
        return digits;
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", &*digits),
    };
    let (digits, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // One place at a time.
    let (mut whole, mut fraction) = (whole.to_owned(), fraction.to_owned());
    let exponent: i32 = exponent.parse().unwrap_or_default();
    for _ in 0..exponent {
        whole.push(if fraction.is_empty() {
            '0'
        } else {
            fraction.remove(0)
        });
    }
    for _ in exponent..0 {
        fraction.insert(0, whole.pop().unwrap_or('0'));
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = if fraction.is_empty() { "0" } else { &fraction };
    format!("{sign}{whole}.{fraction}")
}

fn escaped(text: &str, forbidden: Forbidden) -> Result<String, Error> {
    xml::escaped(text.as_bytes(), XmlPlace::Text, forbidden)
        .map_err(|malformed| unwritable(malformed.expected))
}

fn forbidden(style: Style) -> Forbidden {
    match style.forbidden {
        ForbiddenText::Replace => Forbidden::Replace,
        ForbiddenText::Strip => Forbidden::Strip,
        _ => Forbidden::Refuse,
    }
}

fn inside(value: &Value, style: Style) -> Result<String, Error> {
    Ok(match value {
        Value::Null => match style.nil {
            Nil::Plain => "<nil/>".to_owned(),
            Nil::Prefixed => {
                "<ex:nil xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\"/>"
                    .to_owned()
            }
            Nil::Refuse => return Err(unwritable("a value")),
        },
        Value::Boolean(true) => element("boolean", "1"),
        Value::Boolean(false) => element("boolean", "0"),
        Value::Integer(value) => match i32::try_from(*value) {
            Ok(value) => element("int", &value.to_string()),
            Err(_) if style.prefixed_i8 => format!(
                "<ex:i8 xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\">{value}</ex:i8>"
            ),
            Err(_) => element("i8", &value.to_string()),
        },
        // The shortest digits have one owner, which is held against the standard
        // library elsewhere.
        Value::Float(value) => element(
            "double",
            &plain(digits(|out| number::push_f32(out, *value))),
        ),
        Value::Double(value) => element(
            "double",
            &plain(digits(|out| number::push_f64(out, *value))),
        ),
        Value::BigInteger(value) => string(value.as_str(), style)?,
        Value::BigDecimal(value) => string(value.as_str(), style)?,
        Value::String(value) => string(value, style)?,
        Value::Blob(value) => blob(value),
        Value::Timestamp(value) => {
            // Years of four digits, from 0001 on.
            if !(-62_135_596_800..253_402_300_800).contains(&value.seconds()) {
                return Err(unwritable("a year from 0001 to 9999"));
            }
            let fraction = match style.fractions {
                true => Fraction::Needed,
                false => Fraction::Exactly(0),
            };
            element(
                "dateTime.iso8601",
                &timestamp::write_xmlrpc(*value, fraction),
            )
        }
        Value::List(list) => {
            let items: Result<String, Error> =
                list.iter().map(|item| write_value(item, style)).collect();
            element("array", &element("data", &items?))
        }
        Value::Map(map) => {
            let mut members = String::new();
            for (name, value) in map.iter() {
                // Names are never changed: two could become one.
                let name = element("name", &escaped(name, Forbidden::Refuse)?);
                members += &element("member", &(name + &write_value(value, style)?));
            }
            element("struct", &members)
        }
        _ => return Err(unwritable("a value of a known kind")),
    })
}

fn digits(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    push(&mut out);
    out.into_iter().map(char::from).collect()
}

fn blob(bytes: &[u8]) -> String {
    element(
        "base64",
        &base64::encode(bytes, Alphabet::Standard, Padding::Required),
    )
}

fn string(text: &str, style: Style) -> Result<String, Error> {
    match escaped(text, forbidden(style)) {
        Ok(text) if style.untyped_strings => Ok(text),
        Ok(text) => Ok(element("string", &text)),
        Err(_) if style.forbidden == ForbiddenText::Base64 => Ok(blob(text.as_bytes())),
        Err(error) => Err(error),
    }
}
