//! The spelling of strings that `JSON.stringify` has.

use polywire_text::{escape, scan};

use super::string::Escape;

/// Where canonical text goes: a digest or a buffer.
pub(crate) trait Sink {
    /// Takes bytes as they are.
    fn put(&mut self, bytes: &[u8]);

    /// Takes text as the inside of a canonical string.
    fn put_escaped(&mut self, text: &str);
}

impl Sink for Vec<u8> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline(always)]
    fn put_escaped(&mut self, text: &str) {
        escape::push_json(self, text);
    }
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
                        sink.put_escaped(character.encode_utf8(&mut buffer));
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
                sink.put_escaped(char::from(byte).encode_utf8(&mut [0; 4]));
                bytes = &bytes[1..];
            }
        }
    }
}
