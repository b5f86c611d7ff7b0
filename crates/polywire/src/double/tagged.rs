//! Values of any type as JSON, without a schema.
//!
//! JSON has no blobs, timestamps or big numbers. They are objects with one member: `{"$blob":
//! "aGk="}`, `{"$timestamp": "2026-01-31T12:00:00Z"}`, `{"$number": "1e400"}`. An object whose first
//! key starts with `$` gets another `$`.

use polywire_protocol::Fault;
use polywire_schema::{BigDecimal, Blob, Map, Text, Timestamp, Value};
use polywire_text::base64;

/// A time as text.
pub(crate) fn date_time(time: Timestamp) -> Result<Value, Fault> {
    let mut text = Vec::new();
    let pushed = time.push_date_time(&mut text);
    pushed.map_err(|error| Fault::internal(error.to_string()))?;
    Ok(Value::from(String::from_utf8(text)?))
}

/// A value with these objects in place of what JSON does not have.
///
/// # Errors
///
/// A timestamp is outside of the years 0 to 9999.
pub(crate) fn tag(value: &Value) -> Result<Value, Fault> {
    Ok(match value {
        Value::Blob(blob) => {
            let mut text = String::new();
            base64::STANDARD.push_str(&mut text, blob);
            one("$blob", text)
        }
        Value::Timestamp(time) => {
            let text = date_time(*time)?;
            Value::Map(Map::from_iter([("$timestamp", text)]))
        }
        Value::BigDecimal(number) => one("$number", number.to_string()),
        Value::Double(number) if !number.is_finite() => one("$number", number.to_string()),
        Value::Float(number) if !number.is_finite() => one("$number", number.to_string()),
        Value::List(items) => {
            let items = items.iter().map(tag);
            Value::List(items.collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(key, value)| {
                let key = match key.strip_prefix('$') {
                    Some(_) => Text::from(format!("${key}")),
                    None => Text::from(key),
                };
                Ok::<_, Fault>((key, tag(value)?))
            });
            Value::Map(entries.collect::<Result<Map, _>>()?)
        }
        value => value.clone(),
    })
}

fn one(tag: &str, text: String) -> Value {
    Value::Map(Map::from_iter([(tag, Value::from(text))]))
}

/// Reads what [`tag`] returns. The error says what was expected.
pub(crate) fn untag(value: &Value) -> Result<Value, String> {
    Ok(match value {
        Value::List(items) => {
            let items = items.iter().map(untag);
            Value::List(items.collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            if let [(key, Value::String(text))] = map.entries()
                && key.starts_with('$')
                && !key.starts_with("$$")
            {
                return special(key, text);
            }
            let entries = map.iter().map(|(key, value)| {
                let key = key.strip_prefix('$').unwrap_or(key);
                Ok::<_, String>((Text::from(key), untag(value)?))
            });
            Value::Map(entries.collect::<Result<Map, _>>()?)
        }
        value => value.clone(),
    })
}

fn special(tag: &str, text: &str) -> Result<Value, String> {
    match tag {
        "$blob" => {
            let blob: Result<Blob, _> = base64::decode(text.as_bytes());
            blob.map(Value::Blob)
                .map_err(|error| format!("{tag}: {error}"))
        }
        "$timestamp" => {
            let time = Timestamp::parse_date_time(text);
            time.map(Value::Timestamp)
                .map_err(|error| format!("{tag}: {error}"))
        }
        "$number" => match text {
            "NaN" => Ok(Value::Double(f64::NAN)),
            "inf" => Ok(Value::Double(f64::INFINITY)),
            "-inf" => Ok(Value::Double(f64::NEG_INFINITY)),
            text => {
                let number: Result<BigDecimal, _> = text.parse();
                number
                    .map(Value::BigDecimal)
                    .map_err(|error| format!("{tag}: {error}"))
            }
        },
        _ => Err(format!(
            "expected $blob, $timestamp or $number, found {tag}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use polywire_codec::json;

    use super::*;

    #[test]
    fn values_survive_json() {
        let value = Value::Map(Map::from_iter([
            ("blob", Value::Blob(Blob::from(b"\0\xff"))),
            ("time", Value::Timestamp(Timestamp::new(1, 500_000_000))),
            ("big", Value::BigDecimal("1e400".parse().unwrap())),
            ("infinite", Value::Double(f64::NEG_INFINITY)),
            ("list", Value::List(vec![Value::Null, Value::from(true)])),
            ("$blob", Value::from("a key")),
            ("nested", one("$blob", "not base64!".to_owned())),
        ]));
        let text = json::write_value(&tag(&value).unwrap()).unwrap();
        let read = json::read_value(std::str::from_utf8(&text).unwrap()).unwrap();
        assert_eq!(untag(&read), Ok(value));
        let wrong = json::read_value(r#"{"$blob":"?"}"#).unwrap();
        assert!(
            untag(&wrong)
                .unwrap_err()
                .starts_with("$blob: expected base64")
        );
        let wrong = json::read_value(r#"{"$other":"?"}"#).unwrap();
        assert!(untag(&wrong).unwrap_err().contains("found $other"));
    }
}
