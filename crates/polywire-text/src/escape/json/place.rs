//! Where unescaping reads and writes, and the loops over what stands together.

use super::{LoneSurrogate, one, value};
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;
use crate::{Malformed, scan};

/// Where unescaping reads and writes.
pub(super) trait Place {
    /// How many bytes have been read.
    fn at(&self) -> usize;
    /// What has not been read.
    fn rest(&self) -> &[u8];
    /// Copies the first bytes of the rest.
    fn copy(&mut self, len: usize);
    /// Reads so many bytes and writes the first `len` of what they stand for, which are
    /// no more.
    fn replace(&mut self, read: usize, with: [u8; 4], len: usize);
    /// Reads two bytes, which stand for this one.
    #[inline]
    fn short(&mut self, meaning: u8) {
        self.replace(2, [meaning, 0, 0, 0], 1);
    }

    /// Reads any escape.
    #[inline(never)]
    fn one(&mut self, lone: LoneSurrogate) -> Result<(), Malformed> {
        let after = self.rest().get(1..).unwrap_or_default();
        let (character, len) = match one(after, lone) {
            Ok(read) => read,
            Err(error) => return Err(error.behind(self.at() + 1)),
        };
        let mut bytes = [0; 4];
        let encoded = character.encode_utf8(&mut bytes).len();
        self.replace(1 + len, bytes, encoded);
        Ok(())
    }

    /// Reads some escapes of four digits, each a character, if they stand here and it
    /// is easy; says whether it did. Where there is one there are often more.
    #[inline]
    fn units(&mut self) -> bool {
        false
    }

    /// Goes on up to an escape if one is near, and says whether it did.
    #[inline]
    fn near(&mut self) -> bool {
        self.rest().first() == Some(&b'\\')
    }

    /// Goes on up to a quote, a control character, an escape, or near the end. Short
    /// escapes are read on the way.
    #[cfg(target_arch = "x86_64")]
    fn wide(&mut self, token: Avx2);

    /// Goes on up to a quote, a control character, an escape, or the end.
    #[inline]
    fn plain(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.rest().len() >= LONG
            && let Some(token) = crate::cpu::avx2()
        {
            self.wide(token);
        }
        self.copy(scan::json_clean(self.rest()));
    }

    /// Reads an escape, and those near behind it.
    #[inline]
    fn escapes(&mut self, lone: LoneSurrogate) -> Result<(), Malformed> {
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
}

/// The UTF-8 of a character in a single UTF-16 unit, the first byte lowest, and how
/// many bytes count; nothing for half a surrogate pair, and for more than a unit.
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

/// From this length on a call of a function for wide registers pays.
#[cfg(target_arch = "x86_64")]
pub(super) const LONG: usize = 32;

/// Appends to a vector.
pub(super) struct Append<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Place for Append<'_> {
    #[inline]
    fn at(&self) -> usize {
        self.at
    }

    #[inline]
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn copy(&mut self, len: usize) {
        scan::push_bytes(self.out, &self.bytes[self.at..self.at + len]);
        self.at += len;
    }

    #[inline]
    fn replace(&mut self, read: usize, with: [u8; 4], len: usize) {
        let end = self.out.len() + len;
        self.out.extend_from_slice(&with);
        self.out.truncate(end);
        self.at += read;
    }

    #[inline]
    fn short(&mut self, meaning: u8) {
        self.out.push(meaning);
        self.at += 2;
    }

    #[inline]
    fn units(&mut self) -> bool {
        let room = (self.out.capacity() - self.out.len()) / size_of::<u32>();
        let (escapes, _) = self.bytes[self.at..].as_chunks::<6>();
        let (mut read, mut len) = (0, 0);
        // SAFETY: the end of what there is lies within the vector.
        let to = unsafe { self.out.as_mut_ptr().add(self.out.len()) };
        for escape in &escapes[..room.min(escapes.len())] {
            let [head @ .., a, b, c, d] = escape;
            // Those of control characters need two looks less.
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
            // SAFETY: there is capacity for four bytes for each escape, and those before
            // this one counted for at most so many.
            unsafe {
                let to = to.add(len).cast::<[u8; 4]>();
                to.write_unaligned(encoded.to_le_bytes());
            }
            read += escape.len();
            len += width;
        }
        self.at += read;
        // SAFETY: so many have just been stored, within the capacity.
        unsafe { self.out.set_len(self.out.len() + len) };
        read > 0
    }

    #[inline]
    fn near(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        // Short escapes go better in wide blocks, where there are any.
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
        // All sixteen, whatever counts of them, since a guess at how many would fail.
        let len = self.out.len() + clean;
        self.out.extend_from_slice(block);
        self.out.truncate(len);
        self.at += clean;
        !blocks || rest.get(clean + 1) == Some(&b'u')
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn wide(&mut self, token: Avx2) {
        let rest = &self.bytes[self.at..];
        // SAFETY: the token proves that the processor has what the function needs.
        self.at += unsafe { super::compact::append(token, self.out, rest) };
    }
}

/// Writes over what has been read.
pub(super) struct InPlace<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) from: usize,
    /// At most `from`.
    pub(super) to: usize,
}

impl Place for InPlace<'_> {
    #[inline]
    fn at(&self) -> usize {
        self.from
    }

    #[inline]
    fn rest(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    #[inline]
    fn copy(&mut self, len: usize) {
        self.bytes.copy_within(self.from..self.from + len, self.to);
        self.from += len;
        self.to += len;
    }

    #[inline]
    fn replace(&mut self, read: usize, with: [u8; 4], len: usize) {
        // An escape is never shorter than its character: two bytes for one, six for up
        // to three, twelve for four.
        for (place, byte) in self.bytes[self.to..].iter_mut().zip(&with[..len]) {
            *place = *byte;
        }
        self.from += read;
        self.to += len;
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn wide(&mut self, token: Avx2) {
        // SAFETY: the token proves that the processor has what the function needs.
        let ends = unsafe { super::compact::in_place(token, self.bytes, self.from, self.to) };
        (self.from, self.to) = ends;
    }
}

/// What the letters of short escapes stand for; 0 for what is no such letter.
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
