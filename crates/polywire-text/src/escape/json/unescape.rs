//! The loop that unescapes JSON strings.

use super::{LoneSurrogate, one, value};
use crate::{Malformed, scan};

/// Unescapes `bytes` from `at` on, and appends the result to `out`.
pub(super) struct Unescaper<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) bytes: &'a [u8],
    /// How many bytes have been read.
    pub(super) at: usize,
}

impl Unescaper<'_> {
    /// The bytes that have not been read.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Copies bytes up to a quote, a control character, an escape, or the end.
    #[inline]
    pub(super) fn plain(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.rest().len() >= LONG
            && let Some(token) = crate::cpu::avx2()
        {
            self.blocks(token);
        }
        self.copy(scan::json_clean(self.rest()));
    }

    /// Reads an escape, and others that follow closely.
    #[inline]
    pub(super) fn escapes(&mut self, lone: LoneSurrogate) -> Result<(), Malformed> {
        loop {
            let letter = self.rest().get(1);
            match letter.map(|letter| SHORT[usize::from(*letter)]) {
                Some(meaning @ 1..) => self.short(meaning),
                _ if self.units() => {}
                _ => self.one(lone)?,
            }
            if !self.near() {
                return Ok(());
            }
        }
    }

    /// Copies the first `len` bytes of the rest.
    #[inline]
    fn copy(&mut self, len: usize) {
        scan::push_bytes(self.out, &self.bytes[self.at..self.at + len]);
        self.at += len;
    }

    /// Reads a short escape of two bytes, and appends its meaning.
    #[inline]
    fn short(&mut self, meaning: u8) {
        self.out.push(meaning);
        self.at += 2;
    }

    /// Reads any escape.
    #[inline(never)]
    fn one(&mut self, lone: LoneSurrogate) -> Result<(), Malformed> {
        let after = self.rest().get(1..).unwrap_or_default();
        let (character, len) = match one(after, lone) {
            Ok(read) => read,
            Err(error) => return Err(error.shifted(self.at + 1)),
        };
        let mut bytes = [0; 4];
        let encoded = character.encode_utf8(&mut bytes).len();
        // A copy of fixed width is faster, so copies all four bytes and truncates.
        let end = self.out.len() + encoded;
        self.out.extend_from_slice(&bytes);
        self.out.truncate(end);
        self.at += 1 + len;
        Ok(())
    }

    /// Reads consecutive `\uxxxx` escapes that are a character each, as far as the capacity allows.
    /// Returns whether there were any.
    #[inline]
    fn units(&mut self) -> bool {
        let room = (self.out.capacity() - self.out.len()) / size_of::<u32>();
        let (escapes, _) = self.bytes[self.at..].as_chunks::<6>();
        let (mut read, mut len) = (0, 0);
        // SAFETY: the end of the contents is within the allocation.
        let to = unsafe { self.out.as_mut_ptr().add(self.out.len()) };
        for escape in &escapes[..room.min(escapes.len())] {
            let [head @ .., a, b, c, d] = escape;
            // Control characters need only two table lookups.
            let unit = if escape.starts_with(br"\u00") {
                value([b'0', b'0', *c, *d])
            } else if head == br"\u" {
                value([*a, *b, *c, *d])
            } else {
                break;
            };
            let Some((encoded, width)) = encode(unit) else {
                break;
            };
            // SAFETY: there is capacity for four bytes per escape, and each earlier one has
            // advanced `len` by at most four.
            unsafe {
                let to = to.add(len).cast::<[u8; 4]>();
                to.write_unaligned(encoded.to_le_bytes());
            }
            read += escape.len();
            len += width;
        }
        self.at += read;
        // SAFETY: the loop has stored these `len` bytes, within the capacity.
        unsafe { self.out.set_len(self.out.len() + len) };
        read > 0
    }

    /// Copies bytes up to an escape, if one is within 16 bytes. Returns whether to read it here,
    /// rather than in blocks.
    #[inline]
    fn near(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        // With AVX2, short escapes are faster in blocks.
        let blocks = crate::cpu::avx2().is_some();
        let here = rest.first() == Some(&b'\\');
        if blocks && here {
            return true;
        }
        let Some(block) = rest.first_chunk::<16>() else {
            return here;
        };
        let clean = scan::json_clean_block(block);
        if rest.get(clean) != Some(&b'\\') || self.out.capacity() - self.out.len() < block.len() {
            return false;
        }
        // Copies all 16 bytes and truncates: a copy of variable length would be mispredicted.
        let len = self.out.len() + clean;
        self.out.extend_from_slice(block);
        self.out.truncate(len);
        self.at += clean;
        !blocks || rest.get(clean + 1) == Some(&b'u')
    }

    /// Reads blocks up to a quote, a control character or an escape that is not short, or near the
    /// end.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn blocks(&mut self, token: crate::cpu::Avx2) {
        let rest = &self.bytes[self.at..];
        // SAFETY: the token proves that the processor has the features of the function.
        self.at += unsafe { super::compact::append(token, self.out, rest) };
    }
}

/// The UTF-8 of a UTF-16 unit, the first byte lowest, and its length. `None` for surrogates and
/// for values above 0xffff.
#[inline]
fn encode(unit: u32) -> Option<(u32, usize)> {
    let tail = |shift: u32| 0x80 | unit >> shift & 0x3f;
    match unit {
        0..0x80 => Some((unit, 1)),
        0x80..0x800 => Some((0xc0 | unit >> 6 | tail(0) << 8, 2)),
        0x800..0xd800 | 0xe000..0x1_0000 => {
            Some((0xe0 | unit >> 12 | tail(6) << 8 | tail(0) << 16, 3))
        }
        _ => None,
    }
}

/// From this length on, the call of an AVX2 function pays.
#[cfg(target_arch = "x86_64")]
pub(super) const LONG: usize = 32;

/// The meaning of the letters of short escapes; 0 for other bytes.
static SHORT: [u8; 256] = {
    let mut short = [0; 256];
    short[b'"' as usize] = b'"';
    short[b'\\' as usize] = b'\\';
    short[b'/' as usize] = b'/';
    short[b'b' as usize] = 0x08;
    short[b'f' as usize] = 0x0c;
    short[b'n' as usize] = 0x0a;
    short[b'r' as usize] = 0x0d;
    short[b't' as usize] = 0x09;
    short
};
