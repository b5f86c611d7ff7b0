//! Arguments with a type prefix, such as `s/38F7`. The syntax is that of the program `xmlrpc` of
//! xmlrpc-c.

use polywire::schema::{Timestamp, Value};
use polywire::text::hex;
use polywire::text::number::parse_f64;

/// Parses an argument with a type prefix. `None` if it has none.
pub(super) fn value(text: &str) -> Option<Result<Value, String>> {
    let (letter, rest) = text.split_at_checked(1)?;
    let rest = rest.strip_prefix('/')?;
    Some(match letter {
        "s" => Ok(Value::from(rest)),
        "i" => integer::<i32>(rest, "a 32-bit integer (use I/ for 64 bits)"),
        "I" => integer::<i64>(rest, "a 64-bit integer"),
        "d" => double(rest),
        "b" => boolean(rest),
        "t" => time(rest),
        "h" => bytes(rest),
        "n" if rest.is_empty() => Ok(Value::Null),
        "n" => Err("expected n/ without further text".to_owned()),
        _ => return None,
    })
}

fn integer<T: std::str::FromStr + Into<i64>>(text: &str, expected: &str) -> Result<Value, String> {
    let number: Result<T, _> = text.parse();
    match number {
        Ok(number) => Ok(Value::Integer(number.into())),
        Err(_) => Err(format!("expected {expected}")),
    }
}

fn double(text: &str) -> Result<Value, String> {
    let double = parse_f64(text.as_bytes());
    double
        .map(Value::Double)
        .map_err(|error| format!("expected {}", error.expected))
}

fn boolean(text: &str) -> Result<Value, String> {
    match text {
        "true" | "t" | "1" => Ok(Value::from(true)),
        "false" | "f" | "0" => Ok(Value::from(false)),
        _ => Err("expected b/true or b/false".to_owned()),
    }
}

/// A time as RFC 3339 or as XML-RPC has it.
pub(super) fn time(text: &str) -> Result<Value, String> {
    let time = Timestamp::parse_date_time(text).or_else(|_| Timestamp::parse_xmlrpc(text));
    time.map(Value::Timestamp)
        .map_err(|error| format!("expected {}", error.expected))
}

fn bytes(text: &str) -> Result<Value, String> {
    let bytes = hex::decode(text.as_bytes(), hex::Case::Any);
    bytes
        .map(Value::Blob)
        .map_err(|error| format!("expected {}", error.expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_prefixes() {
        let time = Timestamp::parse_xmlrpc("20261122T10:00:00").unwrap();
        for (text, expected) in [
            ("s/38F7", Value::from("38F7")),
            ("s/", Value::from("")),
            ("s/s/x", Value::from("s/x")),
            ("s/\u{f6}", Value::from("\u{f6}")),
            ("i/-5", Value::from(-5)),
            ("I/3000000000", Value::from(3_000_000_000_i64)),
            ("d/3", Value::Double(3.0)),
            ("d/1e3", Value::Double(1000.0)),
            ("b/true", Value::from(true)),
            ("b/f", Value::from(false)),
            ("b/1", Value::from(true)),
            ("n/", Value::Null),
            ("t/20261122T10:00:00", Value::Timestamp(time)),
            ("h/48656c6C6F", Value::from(b"Hello".to_vec())),
        ] {
            assert_eq!(value(text), Some(Ok(expected)), "{text}");
        }
        for text in [
            "", "s", "x/1", "S/1", "ss/1", "/s", "s:1", "\u{f6}/1", "a/b",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        for (text, part) in [
            ("i/3000000000", "I/"),
            ("i/", "32-bit"),
            ("i/1.0", "32-bit"),
            ("I/9223372036854775808", "64-bit"),
            ("d/x", "expected"),
            ("d/", "expected"),
            ("b/yes", "b/true"),
            ("n/x", "n/"),
            ("t/yesterday", "expected"),
            ("h/4", "expected"),
            ("h/xx", "expected"),
        ] {
            let error = value(text).unwrap().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
