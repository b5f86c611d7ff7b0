//! The struct of a fault: "Response format" in the specification.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, Value};

use super::Leniency;

/// Returns the code and the text of a fault: the members `faultCode`, an int, and `faultString`, a
/// string, of its struct. The code may also be a string with a number, and nil is an empty text.
///
/// With [`Leniency::string_fault_codes`] the code may be any string. Then the returned code is 0, and
/// the string and a colon are a prefix of the text.
///
/// # Errors
///
/// The value is not a struct with these members.
///
/// ```
/// use polywire_codec::xmlrpc::{Leniency, fault_parts};
/// use polywire_schema::{Map, Value};
///
/// let fault = |code: Value| {
///     Value::Map(Map::from_iter([("faultCode", code), ("faultString", "no".into())]))
/// };
/// let strict = Leniency::STRICT;
/// assert_eq!(fault_parts(&fault(7.into()), strict)?, (7, "no".into()));
///
/// // As Odoo answers.
/// let odoo = fault("Access Denied".into());
/// assert!(fault_parts(&odoo, strict).is_err());
/// let leniency = strict.with_string_fault_codes(true);
/// assert_eq!(fault_parts(&odoo, leniency)?, (0, "Access Denied: no".into()));
/// # Ok::<(), polywire_schema::Error>(())
/// ```
pub fn fault_parts(value: &Value, leniency: Leniency) -> Result<(i64, Cow<'_, str>), Error> {
    parts(value, leniency).ok_or_else(|| {
        Error::new(ErrorKind::WrongType)
            .in_format("XML-RPC")
            .expected("a fault of faultCode, an int, and faultString, a string")
    })
}

fn parts(value: &Value, leniency: Leniency) -> Option<(i64, Cow<'_, str>)> {
    let code = value.get("faultCode")?;
    let text = match value.get("faultString")? {
        Value::Null => "",
        text => text.as_str()?,
    };
    if let Some(number) = code.as_i64() {
        return Some((number, text.into()));
    }
    let code = code.as_str()?.trim();
    if let Ok(number) = code.parse() {
        return Some((number, text.into()));
    }
    let whole = match (code, text) {
        (code, "") => Cow::Borrowed(code),
        ("", text) => Cow::Borrowed(text),
        (code, text) => Cow::Owned(format!("{code}: {text}")),
    };
    leniency.string_fault_codes().then_some((0, whole))
}

#[cfg(test)]
mod tests {
    use polywire_schema::Map;

    use super::*;

    #[test]
    fn codes() {
        let read = |code: Value, text: Value, leniency| {
            let value = Value::Map(Map::from_iter([("faultCode", code), ("faultString", text)]));
            fault_parts(&value, leniency)
                .map(|(code, text)| (code, text.into_owned()))
                .ok()
        };
        let switch = Leniency::STRICT.with_string_fault_codes(true);
        for leniency in [Leniency::STRICT, switch, Leniency::ALL] {
            let read = |code: Value, text: Value| read(code, text, leniency);
            for code in [Value::from(-32601), Value::from(" -32601 ")] {
                assert_eq!(read(code, "no".into()), Some((-32601, "no".into())));
            }
            assert_eq!(read(4.into(), Value::Null), Some((4, String::new())));
            for code in [
                Value::Null,
                4.5.into(),
                true.into(),
                Value::List(Vec::new()),
            ] {
                assert_eq!(read(code, "no".into()), None);
            }
            assert_eq!(read(4.into(), 4.into()), None);
            assert_eq!(read("AccessDenied".into(), 4.into()), None);
        }
        let others = Leniency::ALL.with_string_fault_codes(false);
        for (code, text, expected) in [
            ("AccessDenied", "no", "AccessDenied: no"),
            (
                "warning -- UserError\n\nNo.",
                "",
                "warning -- UserError\n\nNo.",
            ),
            ("", "no", "no"),
            ("7a", "no", "7a: no"),
            ("99999999999999999999", "no", "99999999999999999999: no"),
        ] {
            let read = |leniency| read(code.into(), text.into(), leniency);
            assert_eq!(read(others), None, "{code}");
            assert_eq!(read(switch), Some((0, expected.into())), "{code}");
        }
        let missing = Value::Map(Map::from_iter([("faultCode", Value::from("x"))]));
        assert!(fault_parts(&missing, Leniency::ALL).is_err());
    }
}
