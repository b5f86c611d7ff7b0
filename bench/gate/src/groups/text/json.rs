//! JSON strings, escaped and unescaped.

use super::{REAL_TEXT, random};
use crate::{Group, same, same_bytes};
use polywire_text::escape::{LoneSurrogate, json_str, push_json, push_json_string};
use polywire_text::reference::json as reference;

/// A data file: a line of 116 bytes.
pub const LINE: &str = "bench/nostr/text_small.bin";

/// Adds the cases.
pub fn cases(group: &mut Group) {
    group.case_from(
        "JSON: escape 8 KB of real text",
        [REAL_TEXT],
        |case, [text]| {
            let text = utf8(text);
            case.polywire_writes(
                move |out| {
                    out.push(b'"');
                    push_json(out, text);
                    out.push(b'"');
                },
                move |out| same_bytes(out, quoted(text).as_bytes()),
            );
        },
    );
    let real = "JSON: unescape 8 KB of real text into a string of its own";
    for (name, file, times) in [
        (
            "JSON: unescape a line of 116 bytes into a string of its own",
            LINE,
            1,
        ),
        (real, REAL_TEXT, 1),
        (
            "JSON: unescape 16 KB of real text into a string of its own",
            REAL_TEXT,
            2,
        ),
    ] {
        group.case_from(name, [file], |case, [text]| {
            let text = utf8(text).repeat(times);
            case.bytes(text.len())
                .polywire(unescapes(&text), move |out| {
                    same_bytes(out.as_bytes(), text.as_bytes())
                });
            if times > 1 {
                case.target_instructions_of_case(real, 2.1);
            } else {
                case.target_allocations(1);
            }
        });
    }
    let text = japanese();
    group
        .case("JSON: unescape Japanese that was written in ASCII")
        .bytes(text.len())
        .polywire(
            {
                let quoted = quoted_ascii(text);
                move || unescaped(quoted)
            },
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        );
    short(group);
}

/// Short strings of many lengths, as the members of documents are.
fn short(group: &mut Group) {
    let strings = short_strings();
    let document = short_strings_json();
    group
        .case("JSON: write 1000 short strings")
        .bytes(document.len())
        .polywire_writes(
            move |out| {
                out.push(b'[');
                for text in strings {
                    push_json_string(out, text, *b"\",");
                }
                if let Some(last) = out.last_mut() {
                    *last = b']';
                }
            },
            move |out| same_bytes(out, document.as_bytes()),
        )
        .target_allocations(0);
    let total: usize = strings.iter().map(String::len).sum();
    group
        .case("JSON: read 1000 short strings, borrowed where they can be")
        .bytes(document.len())
        .polywire(
            move || {
                let (mut at, mut sum) = (1, 0);
                while let Some(rest) = document.get(at + 1..)
                    && let Ok((text, read)) = json_str(rest, LoneSurrogate::Reject)
                {
                    sum += text.len();
                    at += read + 2;
                }
                sum
            },
            move |sum| same(sum, &total),
        );
}

fn unescapes(text: &str) -> impl Fn() -> String + 'static {
    let quoted = quoted(text);
    move || unescaped(quoted)
}

/// The string of a JSON text in quotes.
fn unescaped(quoted: &str) -> String {
    json_str(&quoted[1..], LoneSurrogate::Reject)
        .map_or_else(|_| String::new(), |(text, _)| text.into_owned())
}

/// A data file's text. The files are UTF-8, so an empty text means a broken file.
pub fn utf8(bytes: &'static [u8]) -> &'static str {
    str::from_utf8(bytes).unwrap_or_default()
}

/// A text as a JSON string, with its quotes.
pub fn quoted(text: &str) -> &'static str {
    let escaped = reference::escape(text.as_bytes());
    format!("\"{}\"", String::from_utf8_lossy(&escaped)).leak()
}

/// A text in another script.
pub fn japanese() -> &'static str {
    "日本語の文章は、JSONでは\n長くなる。".repeat(100).leak()
}

/// A text as a JSON string in ASCII, as Python's `json.dumps` writes it.
pub fn quoted_ascii(text: &str) -> &'static str {
    let escaped = reference::escape_ascii(text);
    format!("\"{}\"", String::from_utf8_lossy(&escaped)).leak()
}

/// 1000 strings of 3 to 95 bytes. One in five holds a line feed, which has to be escaped.
pub fn short_strings() -> &'static [String] {
    let mut random = random(7);
    let mut below = move |end: usize| random() as usize % end;
    let mut string = |at: usize| {
        let len = [3, 5, 8, 10, 12, 17, 24, 36, 60, 90][at % 10] + below(6);
        let mut text: String = (0..len)
            .map(|_| char::from(b'a' + below(26) as u8))
            .collect();
        if below(5) == 0 {
            let place = below(len);
            text.replace_range(place..=place, "\n");
        }
        text
    };
    (0..1000).map(&mut string).collect::<Vec<_>>().leak()
}

/// The same strings as a JSON array.
pub fn short_strings_json() -> &'static str {
    let strings: Vec<&str> = short_strings().iter().map(|text| quoted(text)).collect();
    format!("[{}]", strings.join(",")).leak()
}
