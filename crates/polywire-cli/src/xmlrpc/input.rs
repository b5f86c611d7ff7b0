//! Converts arguments to values.

use polywire::codec::json::{JsonDecoder, JsonProfile};
use polywire::schema::{Decode, Error, Limits, Map, Member, Value};
use polywire::text::base64;

use super::typed;
use crate::Failure;

/// Returns the parameters of a call. With `are_strings`, all arguments are strings.
pub(super) fn parameters(arguments: &[String], are_strings: bool) -> Result<Vec<Value>, Failure> {
    if are_strings {
        return Ok(arguments.iter().map(|text| Value::from(&**text)).collect());
    }
    let each = arguments.iter().enumerate();
    each.map(|(index, text)| argument(index + 1, text))
        .collect()
}

fn argument(number: usize, text: &str) -> Result<Value, Failure> {
    if let Some(value) = typed::value(text) {
        return value
            .map_err(|reason| Failure::usage(format!("argument {number}, `{text}`: {reason}")));
    }
    let not_json = |reason: String| {
        // Quoted for a shell.
        let quoted = text.replace('\'', "'\\''");
        Failure::usage(format!(
            "argument {number}, `{text}`, is not JSON: {reason}\nto send it as a string, use \
             's/{quoted}'; --strings sends all arguments as strings"
        ))
    };
    if text.is_empty() {
        return Err(not_json("empty argument".to_owned()));
    }
    if !begins_as_json(text) {
        return Ok(Value::from(text));
    }
    match json(text) {
        Ok(value) => with_types(value)
            .map_err(|reason| Failure::usage(format!("argument {number}, `{text}`: {reason}"))),
        Err(error) => Err(not_json(error.message())),
    }
}

/// Whether an argument looks like JSON. Includes constants in any case, such as Python's `True`.
fn begins_as_json(text: &str) -> bool {
    let first = text.trim_start().bytes().next();
    let punctuation = |byte: u8| b"{}[]\"'-+.,:".contains(&byte) || byte.is_ascii_digit();
    let word = text.trim().to_ascii_lowercase();
    first.is_none_or(punctuation)
        || matches!(
            &*word,
            "true" | "false" | "null" | "nil" | "none" | "nan" | "infinity"
        )
}

/// Parses JSON.
pub(crate) fn json(text: &str) -> Result<Value, Error> {
    let mut decoder = JsonDecoder::from_str(text, JsonProfile::HUMAN, &Limits::DEFAULT)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// Replaces `{"$blob": ...}` and `{"$timestamp": ...}` by blobs and timestamps, at any depth.
pub(crate) fn with_types(value: Value) -> Result<Value, String> {
    match value {
        Value::List(list) => {
            let list: Result<Vec<Value>, String> = list.into_iter().map(with_types).collect();
            list.map(Value::List)
        }
        Value::Map(map) => {
            if let Some(value) = tagged(&map)? {
                return Ok(value);
            }
            let members = map.iter();
            let members: Result<Vec<(String, Value)>, String> = members
                .map(|(key, value)| Ok((key.to_string(), with_types(value.clone())?)))
                .collect();
            Ok(Value::Map(Map::from_iter(members?)))
        }
        // It would be sent as a string.
        Value::BigInteger(digits) => Err(too_large(&digits.to_string(), "an integer", "64 bits")),
        Value::BigDecimal(digits) => Err(too_large(&digits.to_string(), "a number", "a double")),
        other => Ok(other),
    }
}

/// Error for a number without XML-RPC type. Suggests alternatives.
fn too_large(digits: &str, what: &str, room: &str) -> String {
    let shown = match digits.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &digits[..end]),
        None => digits.to_owned(),
    };
    let double: Option<f64> = digits
        .parse()
        .ok()
        .filter(|double: &f64| double.is_finite());
    let near = double.map(|double| format!(", {double:e} for the nearest double"));
    format!(
        "XML-RPC has no type for {what} beyond {room}, {shown}: use '\"...\"', in quotes, to send \
         its digits as a string{}",
        near.unwrap_or_default()
    )
}

fn tagged(map: &Map) -> Result<Option<Value>, String> {
    let mut members = map.iter();
    let (Some((key, value)), None) = (members.next(), members.next()) else {
        return Ok(None);
    };
    let text = || value.as_str().ok_or(format!("`{key}` must be a string"));
    match key {
        "$blob" => {
            let blob = base64::decode(text()?.as_bytes());
            let blob = blob.map_err(|error| format!("$blob: expected {}", error.expected))?;
            Ok(Some(Value::Blob(blob)))
        }
        "$timestamp" => {
            let time = typed::time(text()?);
            time.map(Some)
                .map_err(|error| format!("$timestamp: {error}"))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Value, String> {
        argument(1, text).map_err(|failure| failure.message)
    }

    #[test]
    fn parses_json_and_words() {
        for (text, value) in [
            ("3", Value::from(3)),
            ("-3", Value::from(-3)),
            ("3.0", Value::from(3.0)),
            ("true", Value::from(true)),
            ("null", Value::Null),
            (" [1] ", Value::List(vec![Value::from(1)])),
            ("\"3\"", Value::from("3")),
            ("web", Value::from("web")),
            ("web:0", Value::from("web:0")),
            ("/var/log", Value::from("/var/log")),
            ("truely", Value::from("truely")),
            ("\u{f6}l", Value::from("\u{f6}l")),
        ] {
            assert_eq!(one(text).unwrap(), value, "{text}");
        }
    }

    /// Hashes can look like numbers.
    #[test]
    fn strings_option_sends_strings() {
        let arguments = ["1234567", "38F7", "", "null", "{", "s/x", "-3"];
        let strings = arguments.map(str::to_owned);
        let strings = parameters(&strings, true).unwrap();
        assert_eq!(strings, arguments.map(Value::from));
        let typed = ["s/1234567".to_owned(), "1234567".to_owned()];
        let values = parameters(&typed, false).unwrap();
        assert_eq!(values, ["1234567".into(), Value::from(1_234_567)]);
    }

    #[test]
    fn rejects_malformed_json() {
        for (text, quoted) in [
            ("{name: web}", "'s/{name: web}'"),
            ("2026-11-22", "'s/2026-11-22'"),
            ("38F7", "'s/38F7'"),
            ("True", "'s/True'"),
            ("'web'", r"'s/'\''web'\'''"),
            ("\"web", "'s/\"web'"),
            ("1 2", "'s/1 2'"),
            ("", "'s/'"),
            ("-x", "'s/-x'"),
            ("NaN", "'s/NaN'"),
        ] {
            let message = one(text).unwrap_err();
            assert!(message.contains("is not JSON"), "{message}");
            let hint = format!("use {quoted}; --strings");
            assert!(message.contains(&hint), "{message}");
        }
        let wrong = one("i/38F7").unwrap_err();
        assert!(
            wrong.starts_with("error: argument 1, `i/38F7`: "),
            "{wrong}"
        );
    }

    /// Large numbers are sent as strings only if the user quotes them.
    #[test]
    fn rejects_numbers_without_xmlrpc_type() {
        for (text, parts) in [
            (
                "9223372036854775808",
                ["64 bits, 9223372036854775808:", "9.223372036854776e18"],
            ),
            (
                "[{\"a\": -99999999999999999999}]",
                ["64 bits, -9", "-1e20 for the nearest double"],
            ),
            ("1e400", ["beyond a double, 1", "in quotes"]),
        ] {
            let message = one(text).unwrap_err();
            assert!(message.starts_with("error: argument 1, `"), "{message}");
            for part in parts {
                assert!(message.contains(part), "{message}");
            }
        }
        for (text, value) in [
            ("9223372036854775807", Value::from(i64::MAX)),
            ("-9223372036854775808", Value::from(i64::MIN)),
            ("1e20", Value::from(1e20)),
            (
                "\"9223372036854775808\"",
                Value::from("9223372036854775808"),
            ),
        ] {
            assert_eq!(one(text).unwrap(), value, "{text}");
        }
        let long = one(&"9".repeat(1_000)).unwrap_err();
        assert!(!long.contains("nearest") && long.len() < 1_300, "{long}");
    }

    #[test]
    fn parses_blobs_and_timestamps() {
        let value = one(r#"[{"$blob": "aGk="}, {"$timestamp": "20261122T10:00:00"}]"#).unwrap();
        assert_eq!(value[0].as_blob(), Some(&b"hi"[..]));
        assert!(value[1].as_timestamp().is_some());
        for wrong in [
            r#"{"$blob": "?"}"#,
            r#"{"$timestamp": 3}"#,
            r#"{"$timestamp": "x"}"#,
        ] {
            assert!(one(wrong).unwrap_err().contains('$'), "{wrong}");
        }
        // `$blob` is special only if it is the only member.
        let value = one(r#"{"$blob": "?", "x": 1}"#).unwrap();
        assert_eq!(value["$blob"].as_str(), Some("?"));
    }
}
