//! The spelling of strings that `JSON.stringify` has.

use polywire_text::scan;

use super::string::Escape;

/// Where canonical text goes: a digest or a buffer.
pub(crate) trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Writes `text` as a canonical string, without quotes.
#[inline(always)]
pub(crate) fn write_escaped(sink: &mut impl Sink, text: &str) {
    let bytes = text.as_bytes();
    let clean = scan::json_clean(bytes);
    sink.put(&bytes[..clean]);
    if clean < bytes.len() {
        write_special(sink, &bytes[clean..]);
    }
}

/// Writes what begins with a byte that has to be escaped.
fn write_special(sink: &mut impl Sink, mut bytes: &[u8]) {
    while let Some((&byte, rest)) = bytes.split_first() {
        write_byte(sink, byte);
        let clean = scan::json_clean(rest);
        sink.put(&rest[..clean]);
        bytes = &rest[clean..];
    }
}

/// Writes a quote, a backslash or a control character.
#[inline]
fn write_byte(sink: &mut impl Sink, byte: u8) {
    let short = match byte {
        b'\n' => b'n',
        b'"' => b'"',
        b'\\' => b'\\',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => return write_code_unit(sink, u16::from(byte)),
    };
    sink.put(&[b'\\', short]);
}

fn write_code_unit(sink: &mut impl Sink, unit: u16) {
    let [a, b] = unit.to_be_bytes();
    let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
    sink.put(&[
        b'\\',
        b'u',
        digit(a >> 4),
        digit(a & 15),
        digit(b >> 4),
        digit(b & 15),
    ]);
}

/// Writes a checked raw string in its canonical spelling.
pub(crate) fn write_canonical_string(sink: &mut impl Sink, raw: &str) {
    let mut bytes = raw.as_bytes();
    loop {
        let clean = scan::json_clean(bytes);
        sink.put(&bytes[..clean]);
        bytes = &bytes[clean..];
        match bytes.first() {
            None => return,
            Some(b'\\') => {
                let Ok(escape) = Escape::read(bytes) else {
                    // The string has been checked; this is not reached.
                    return sink.put(bytes);
                };
                match escape.character {
                    Some(character) => {
                        let mut buffer = [0; 4];
                        write_escaped(sink, character.encode_utf8(&mut buffer));
                    }
                    // Half a surrogate pair: the digits in lower case.
                    None => {
                        let mut lower = [0; 6];
                        lower.copy_from_slice(&bytes[..6]);
                        lower.make_ascii_lowercase();
                        sink.put(&lower);
                    }
                }
                bytes = &bytes[escape.len..];
            }
            // A control character without an escape.
            Some(&byte) => {
                write_byte(sink, byte);
                bytes = &bytes[1..];
            }
        }
    }
}
