//! Output to standard output and standard error. `println!` panics if the reader has closed the
//! pipe.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use polywire::codec::json::{JsonEncoder, JsonProfile};
use polywire::schema::{Encode, Member, Value};

use crate::Failure;

/// Writes to standard output. A closed pipe is not a failure, so that `polywire serve | head -1`
/// works.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    write(io::stdout().lock(), text)
}

/// Writes a line to standard error. Escapes control characters, because the line may contain
/// untrusted text.
pub(crate) fn err(line: impl fmt::Display) {
    err_unescaped(&escape_controls(&line.to_string()));
}

/// Writes a line to standard error whose control characters are already escaped.
pub(crate) fn err_unescaped(line: &str) {
    // One write, so that lines of several threads do not mix. A failure cannot be reported
    // anywhere.
    let _ = io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

/// Escapes control characters, except line breaks and tabs.
pub(crate) fn escape_controls(text: &str) -> String {
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

/// Escapes U+007F to U+009F in JSON, which some terminals interpret as commands. They occur only in
/// strings.
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

/// Formats a value as JSON in one line. Blobs are base64, timestamps RFC 3339.
pub(crate) fn json(value: &Value) -> Result<String, Failure> {
    json_of(value, Member::DOCUMENT)
}

/// Formats a value of a shape, like [`json`].
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
    fn escapes_control_characters() {
        assert_eq!(escape_controls("a\tö\nb"), "a\tö\nb");
        assert_eq!(
            escape_controls("\u{1b}[2J\u{7}\r\u{9b}x\u{7f}"),
            r"\u{1b}[2J\u{7}\u{d}\u{9b}x\u{7f}"
        );
    }

    #[test]
    fn closed_pipes_are_not_a_failure() {
        assert!(write(Broken(ErrorKind::BrokenPipe), "x").is_ok());
        let failure = write(Broken(ErrorKind::StorageFull), "x").unwrap_err();
        assert_eq!(failure.code, 3);
        assert!(failure.message.contains("standard output"));
    }
}
