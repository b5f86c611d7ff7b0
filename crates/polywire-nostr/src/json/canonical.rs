//! Strings in canonical form, as `JSON.stringify` writes them.

use polywire_text::{escape, scan};

use super::string::Escape;

/// A destination for canonical text: a hash or a buffer.
pub(crate) trait Sink {
    /// Appends bytes unchanged.
    fn put(&mut self, bytes: &[u8]);

    /// Escapes text as the contents of a canonical string, and appends it.
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

/// Writes the contents of a valid JSON string in canonical form.
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
                    // Unreachable: the string is valid.
                    return sink.put(bytes);
                };
                match escape.character {
                    Some(character) => {
                        let mut buffer = [0; 4];
                        sink.put_escaped(character.encode_utf8(&mut buffer));
                    }
                    // A lone surrogate keeps its escape, with lower-case digits.
                    None => {
                        let mut lower = [0; 6];
                        lower.copy_from_slice(&bytes[..6]);
                        lower.make_ascii_lowercase();
                        sink.put(&lower);
                    }
                }
                bytes = &bytes[escape.len..];
            }
            // An unescaped control character.
            Some(&byte) => {
                sink.put_escaped(char::from(byte).encode_utf8(&mut [0; 4]));
                bytes = &bytes[1..];
            }
        }
    }
}
