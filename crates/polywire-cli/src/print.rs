//! What goes to the terminal, or to a pipe whose reader may be gone:
//! `println!` panics then.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use polywire::codec::json::{JsonEncoder, JsonProfile};
use polywire::schema::{Encode, Member, Value};

use crate::Failure;

/// Writes to standard output. Nobody reading it any more is no failure:
/// `polywire serve | head -1` has what it wants.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    write(io::stdout().lock(), text)
}

/// Writes a line to standard error. What others have written may be in it, so
/// that nothing in it may tell the terminal what to do.
pub(crate) fn err(line: impl fmt::Display) {
    err_as_is(&harmless(&line.to_string()));
}

/// Writes a line to standard error that was made harmless before.
pub(crate) fn err_as_is(line: &str) {
    // In one piece, so that lines of several threads stay apart. There is no
    // other place to say that it failed.
    let _ = io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

/// Control characters by their numbers, but for those that lay out text.
pub(crate) fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && !matches!(character, '\n' | '\t') {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// JSON without the controls that it may have as they are, U+007F to U+009F, which tell
/// some terminals what to do: they stand in strings alone, and are escaped there.
fn without_c1(json: String) -> String {
    let is_control = |character: char| matches!(character, '\u{7f}'..='\u{9f}');
    if !json.contains(is_control) {
        return json;
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match is_control(character) {
            true => safe.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => safe.push(character),
        }
    }
    safe
}

/// A value as JSON in one line: blobs as base64 and timestamps as RFC 3339, as everywhere in
/// this program.
pub(crate) fn json(value: &Value) -> Result<String, Failure> {
    json_of(value, Member::DOCUMENT)
}

/// The same of a value of a shape.
pub(crate) fn json_of(value: &Value, member: Member<'_>) -> Result<String, Failure> {
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    value.encode(member, &mut encoder);
    let bytes = encoder.finish().map_err(Failure::transport)?;
    let text = String::from_utf8(bytes).map_err(Failure::transport)?;
    Ok(without_c1(text))
}

fn write(mut output: impl Write, text: &str) -> Result<(), Failure> {
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::transport(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn controls_are_shown() {
        assert_eq!(harmless("a\tö\nb"), "a\tö\nb");
        assert_eq!(
            harmless("\u{1b}[2J\u{7}\r\u{9b}x\u{7f}"),
            r"\u{1b}[2J\u{7}\u{d}\u{9b}x\u{7f}"
        );
    }

    #[test]
    fn only_a_lost_output_is_a_failure() {
        assert!(write(Broken(ErrorKind::BrokenPipe), "x").is_ok());
        let failure = write(Broken(ErrorKind::StorageFull), "x").unwrap_err();
        assert_eq!(failure.code, 3);
        assert!(failure.message.contains("standard output"));
    }
}
