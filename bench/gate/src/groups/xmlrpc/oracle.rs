//! A second reader, for checks. It reads only the canonical spelling, panics at anything else, and
//! shares nothing with the codec but `Value`.

use polywire_schema::{Blob, Map, Text, Timestamp, Value};

/// The one parameter of a call, or the result of a response.
pub fn value_of(body: &[u8]) -> Value {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let (_, inside) = text.split_once("<params><param>").unwrap_or_default();
    let mut rest = inside;
    let value = value(&mut rest);
    assert!(
        rest.starts_with("</param></params></method"),
        "one parameter, but then {}",
        &rest[..rest.len().min(80)]
    );
    value
}

fn skip(rest: &mut &str, expected: &str) -> bool {
    match rest.strip_prefix(expected) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

fn expect(rest: &mut &str, expected: &str) {
    assert!(
        skip(rest, expected),
        "expected {expected}, found {}",
        &rest[..rest.len().min(80)]
    );
}

/// Up to the next tag.
fn until_tag<'a>(rest: &mut &'a str) -> &'a str {
    let (text, _) = rest.split_once('<').unwrap_or((rest, ""));
    *rest = &rest[text.len()..];
    text
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#13;", "\r")
        .replace("&amp;", "&")
}

fn value(rest: &mut &str) -> Value {
    expect(rest, "<value><");
    let (tag, after) = rest.split_once('>').unwrap_or_default();
    *rest = after;
    let value = match tag {
        "array" => {
            expect(rest, "<data>");
            let mut items = Vec::new();
            while rest.starts_with("<value>") {
                items.push(value(rest));
            }
            expect(rest, "</data>");
            Value::List(items)
        }
        "struct" => {
            let mut members = Vec::new();
            while skip(rest, "<member><name>") {
                let name = unescaped(until_tag(rest));
                expect(rest, "</name>");
                members.push((Text::from(name), value(rest)));
                expect(rest, "</member>");
            }
            Value::Map(Map::from_iter(members))
        }
        _ => scalar(tag, &unescaped(until_tag(rest))),
    };
    expect(rest, "</");
    expect(rest, tag);
    expect(rest, "></value>");
    value
}

fn scalar(tag: &str, text: &str) -> Value {
    let number = "a number of the corpus";
    match tag {
        "int" | "i4" | "i8" => Value::Integer(text.parse().unwrap_or_else(|_| panic!("{number}"))),
        "double" => Value::Double(text.parse().unwrap_or_else(|_| panic!("{number}"))),
        "boolean" => Value::Boolean(text == "1"),
        "string" => Value::from(text),
        "base64" => Value::Blob(Blob::from(base64(text))),
        "dateTime.iso8601" => {
            // `20260102T03:04:05`, as RFC 3339 spells it.
            let (date, time) = text.split_once('T').unwrap_or_default();
            let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
            let instant = Timestamp::parse_date_time(&format!("{year}-{month}-{day}T{time}Z"));
            let instant = instant.unwrap_or_else(|_| panic!("{number}"));
            Value::Timestamp(instant.with_unzoned(true))
        }
        _ => panic!("{tag} is no type of the corpus"),
    }
}

/// The bytes of base64 text. Padding holds no digits.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.bytes() {
        let Some(digit) = DIGITS.iter().position(|known| *known == digit) else {
            break;
        };
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}
