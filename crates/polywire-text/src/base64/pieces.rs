//! Writing base64 in pieces.

use super::Base64;

/// Writes base64 whose bytes come in pieces: from a reader, or from several
/// buffers.
///
/// Between two pieces it holds the bytes that make no group of three yet: at
/// most two. What it writes is what [`Base64::push`] writes of all the bytes
/// together.
///
/// ```
/// use polywire_text::base64::{Encoder, STANDARD};
///
/// let mut out = Vec::new();
/// let mut encoder = Encoder::new(STANDARD);
/// encoder.push(&mut out, b"light");
/// encoder.push(&mut out, b" work.");
/// encoder.finish(&mut out);
/// assert_eq!(out, b"bGlnaHQgd29yay4=");
/// ```
#[derive(Clone, Debug)]
#[must_use = "the last bytes are written by `finish`"]
pub struct Encoder {
    base64: Base64,
    held: [u8; 2],
    /// How many of `held` count.
    len: usize,
}

impl Encoder {
    /// Nothing held yet.
    pub const fn new(base64: Base64) -> Self {
        Self {
            base64,
            held: [0; 2],
            len: 0,
        }
    }

    /// Appends all whole groups of what is held and `bytes`, and holds the
    /// rest. Reserves what it writes.
    pub fn push(&mut self, out: &mut Vec<u8>, bytes: &[u8]) {
        let mut bytes = bytes;
        if self.len > 0 {
            let [first, second] = self.held;
            let group = match (self.len, bytes) {
                (1, [second, third, rest @ ..]) => {
                    bytes = rest;
                    [first, *second, *third]
                }
                (1, rest) => return self.hold(rest),
                (_, [third, rest @ ..]) => {
                    bytes = rest;
                    [first, second, *third]
                }
                (_, []) => return,
            };
            self.len = 0;
            self.push_group(out, group);
        }
        let (groups, rest) = bytes.as_chunks::<3>();
        self.base64.push(out, groups.as_flattened());
        self.hold(rest);
    }

    /// One group costs less by hand than setting up a loop.
    fn push_group(&self, out: &mut Vec<u8>, group: [u8; 3]) {
        let [first, second, third] = group.map(u32::from);
        let bits = first << 16 | second << 8 | third;
        let characters = self.base64.engine(false).charset();
        let six = |shift: u32| characters[(bits >> shift & 0x3f) as usize];
        out.extend_from_slice(&[six(18), six(12), six(6), six(0)]);
    }

    /// Appends the last group, if it is not whole, and its padding.
    pub fn finish(self, out: &mut Vec<u8>) {
        self.base64.push(out, &self.held[..self.len]);
    }

    /// Holds these too; callers have no more than fit.
    fn hold(&mut self, bytes: &[u8]) {
        for (to, from) in self.held[self.len..].iter_mut().zip(bytes) {
            *to = *from;
            self.len += 1;
        }
    }
}

impl Default for Encoder {
    /// [`STANDARD`](super::STANDARD).
    fn default() -> Self {
        Self::new(super::STANDARD)
    }
}
