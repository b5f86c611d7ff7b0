//! Writers of compact JSON.

use polywire_text::{escape, hex, number};

/// A writer of a JSON object. Member names must not need escapes.
pub(crate) struct Object<'o> {
    pub(crate) out: &'o mut Vec<u8>,
    first: bool,
}

impl<'o> Object<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, first: true }
    }

    /// Writes the name of a member. The caller must write the value to `out`.
    pub(crate) fn name(&mut self, name: &str) {
        self.out
            .extend_from_slice(if self.first { b"{\"" } else { b",\"" });
        self.first = false;
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        number::push_u64(self.out, value);
    }

    pub(crate) fn bool(&mut self, name: &str, value: bool) {
        self.name(name);
        self.out
            .extend_from_slice(if value { b"true" } else { b"false" });
    }

    pub(crate) fn string(&mut self, name: &str, value: &str) {
        self.name(name);
        push_string(self.out, value);
    }

    pub(crate) fn list<T>(&mut self, name: &str, items: &[T], push: impl Fn(&mut Vec<u8>, &T)) {
        self.name(name);
        self.out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            push(self.out, item);
        }
        self.out.push(b']');
    }

    pub(crate) fn end(self) {
        self.out
            .extend_from_slice(if self.first { b"{}" } else { b"}" });
    }
}

/// Writes a string with its quotes.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escape::push_json(out, text);
    out.push(b'"');
}

/// Writes bytes as a string of hexadecimal digits.
pub(crate) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    hex::push(out, bytes);
    out.push(b'"');
}

/// Returns the output of `push`, which must be UTF-8, as a string.
pub(crate) fn to_string(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    push(&mut out);
    String::from_utf8(out).unwrap_or_default()
}
