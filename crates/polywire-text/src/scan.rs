//! Byte scanning, and runs: pre-encoded names that are compared and written
//! sixteen bytes at a time.
//!
//! A scan asks one question: how many bytes from here on are ordinary? The
//! bytes in between are then copied or borrowed whole. Each scan looks at
//! blocks of sixteen bytes; the last few bytes of an input are looked at one
//! by one. On x86-64 a block is an SSE2 register, which every such machine
//! has; elsewhere it is an array, and the compiler does what it can. Wider
//! registers would need dispatch at run time and pay only on long inputs.

use block::Block;

/// How many of the first bytes may stand in a JSON string as they are: all up
/// to the first `"`, `\` or control character (below 0x20).
///
/// ```
/// assert_eq!(polywire_text::scan::json_clean(b"a long enough run\" and more"), 17);
/// ```
#[inline]
#[must_use]
pub fn json_clean(bytes: &[u8]) -> usize {
    clean(bytes, json_special, |byte| {
        byte == b'"' || byte == b'\\' || byte < 0x20
    })
}

/// How many of the first bytes are XML character data without markup: all up
/// to the first `<` or `&`, or a byte that a reader must look at (`\r`, which
/// it normalises, and control characters, which XML 1.0 forbids).
#[inline]
#[must_use]
pub fn xml_data(bytes: &[u8]) -> usize {
    clean(
        bytes,
        |block| {
            let control = block.at_most(0x1f);
            let space = block.equals(b'\t').or(block.equals(b'\n'));
            block
                .equals(b'<')
                .or(block.equals(b'&'))
                .or(control.without(space))
        },
        |byte| byte == b'<' || byte == b'&' || (byte < 0x20 && byte != b'\t' && byte != b'\n'),
    )
}

/// How many of the first bytes may be written as XML character data as they
/// are: all up to the first `<`, `>`, `&` or control character other than tab
/// and line feed.
#[inline]
#[must_use]
pub fn xml_clean(bytes: &[u8]) -> usize {
    clean(
        bytes,
        |block| {
            let control = block.at_most(0x1f);
            let space = block.equals(b'\t').or(block.equals(b'\n'));
            block
                .equals(b'<')
                .or(block.equals(b'>'))
                .or(block.equals(b'&'))
                .or(control.without(space))
        },
        |byte| {
            matches!(byte, b'<' | b'>' | b'&') || (byte < 0x20 && byte != b'\t' && byte != b'\n')
        },
    )
}

/// How many of the first bytes are white space of JSON and XML: space, tab,
/// line feed, carriage return.
#[inline]
#[must_use]
pub fn white_space(bytes: &[u8]) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    // Most documents have none, or one.
    match bytes {
        [first, ..] if !is_space(first) => 0,
        [_, second, ..] if !is_space(second) => 1,
        _ => bytes
            .iter()
            .position(|byte| !is_space(byte))
            .unwrap_or(bytes.len()),
    }
}

#[inline(always)]
pub(crate) fn clean(
    bytes: &[u8],
    special: impl Fn(Block) -> Block,
    is_special: impl Fn(u8) -> bool,
) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let mask = special(Block::load(chunk)).mask();
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 16;
    }
    while at < bytes.len() && !is_special(bytes[at]) {
        at += 1;
    }
    at
}

/// A string of at most fifteen bytes, zeros behind it, if all may stand in a
/// JSON string as they are. One look instead of a loop, and in registers: what
/// has just been stored in pieces is slow to load whole.
#[inline]
pub(crate) fn short_json(bytes: &[u8]) -> Option<u128> {
    let len = bytes.len();
    let word = if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (head, tail) = (u64::from_le_bytes(*head), u64::from_le_bytes(*tail));
        u128::from(head) | u128::from(tail).checked_shl((len as u32 - 8) * 8)?
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
        u128::from(u64::from(head) | u64::from(tail) << ((len - 4) * 8))
    } else if let [first, .., last] = bytes {
        let middle = u64::from(bytes[len / 2]) << (len / 2 * 8);
        u128::from(u64::from(*first) | middle | u64::from(*last) << ((len - 1) * 8))
    } else {
        u128::from(bytes.first().copied().unwrap_or(0))
    };
    let behind = u32::MAX.checked_shl(len as u32).unwrap_or(0);
    let special = json_special(Block::load(&word.to_le_bytes())).mask() & !behind;
    (len <= 15 && special == 0).then_some(word)
}

#[inline(always)]
fn json_special(block: Block) -> Block {
    block
        .equals(b'"')
        .or(block.equals(b'\\'))
        .or(block.at_most(0x1f))
}

/// Appends `bytes`; up to 32 of them by two overlapping moves of fixed width
/// instead of a call of `memcpy`.
#[inline]
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    fn push_halves<const N: usize>(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
        let (Some(head), Some(tail)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else {
            return false;
        };
        let end = out.len() + bytes.len();
        out.extend_from_slice(head);
        out.truncate(end - N);
        out.extend_from_slice(tail);
        true
    }
    match bytes.len() {
        0..8 => {
            if !push_halves::<4>(out, bytes) {
                for byte in bytes {
                    out.push(*byte);
                }
            }
        }
        8..16 => _ = push_halves::<8>(out, bytes),
        16..=32 => _ = push_halves::<16>(out, bytes),
        _ => out.extend_from_slice(bytes),
    }
}

/// A short run of bytes prepared for comparing and writing: a pre-encoded
/// name such as `"cityId":` or `<member><name>cityId</name>`.
///
/// The run is the beginning of a longer window, so that sixteen or thirty-two
/// bytes can be read at once whatever its length. Where the window is short,
/// everything still works, byte by byte.
///
/// ```
/// use polywire_text::scan::Run;
///
/// let pool = b"\"cityId\":                                ";
/// let run = Run::new(pool, 9);
/// assert!(run.starts(b"\"cityId\": 5, \"name\": \"London\" and so on"));
/// let mut out = Vec::new();
/// run.push_to(&mut out);
/// assert_eq!(out, b"\"cityId\":");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// At least `len` bytes.
    window: &'a [u8],
    len: usize,
}

/// The bytes that a pool of runs should have behind its last run, so that
/// every run's window is wide enough for the quick paths.
pub const RUN_PADDING: usize = 32;

impl<'a> Run<'a> {
    /// The first `len` bytes of `window`; all of it if it is shorter.
    #[inline]
    #[must_use]
    pub fn new(window: &'a [u8], len: usize) -> Self {
        Self {
            window,
            len: len.min(window.len()),
        }
    }

    /// The bytes of the run.
    #[inline]
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        &self.window[..self.len]
    }

    /// The first `len` bytes of the run, as a run with the same window; all of
    /// it if it is shorter.
    #[inline]
    #[must_use]
    pub fn prefix(self, len: usize) -> Self {
        Self {
            window: self.window,
            len: self.len.min(len),
        }
    }

    /// The number of bytes.
    #[inline]
    #[must_use]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the run has no bytes.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Whether `input` starts with the run.
    #[inline]
    #[must_use]
    pub fn starts(self, input: &[u8]) -> bool {
        if self.len <= 16
            && let Some(input) = input.first_chunk::<16>()
            && let Some(window) = self.window.first_chunk::<16>()
        {
            let equal = Block::load(input).equals_block(Block::load(window)).mask();
            return (equal | (u32::MAX << self.len)) == u32::MAX;
        }
        if self.len <= 32
            && let Some(input) = input.first_chunk::<32>()
            && let Some(window) = self.window.first_chunk::<32>()
        {
            let [input, input_high] = halves(input);
            let [window, window_high] = halves(window);
            let low = Block::load(input).equals_block(Block::load(window)).mask();
            let high = Block::load(input_high)
                .equals_block(Block::load(window_high))
                .mask();
            let equal = u64::from(low | high << 16);
            return (equal | (u64::MAX << self.len)) == u64::MAX;
        }
        input.starts_with(self.as_bytes())
    }

    /// Appends the run to `out`.
    #[inline]
    pub fn push_to(self, out: &mut Vec<u8>) {
        let old = out.len();
        match self.window.first_chunk::<31>() {
            // Two moves of fixed width and a shorter length instead of a
            // `memcpy` of variable length.
            Some(chunk) if self.len <= 31 => {
                out.extend_from_slice(chunk);
                out.truncate(old + self.len);
            }
            _ => out.extend_from_slice(self.as_bytes()),
        }
    }
}

/// A run of up to 31 bytes that carries its bytes with it: the entry of a
/// table of names. A longer run says where in a pool it stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C, align(8))]
pub struct Name {
    /// The run and zeros behind it; of a long run its offset and length, in
    /// four bytes each, the least first.
    bytes: [u8; 31],
    /// Its length, or `LONG`.
    len: u8,
}

/// Marks a name that stands in a pool.
const LONG: u8 = u8::MAX;

impl Name {
    /// A name without bytes.
    pub const EMPTY: Self = Self {
        bytes: [0; 31],
        len: 0,
    };

    /// The name of these bytes; `None` if they are more than 31.
    #[must_use]
    pub const fn short(run: &[u8]) -> Option<Self> {
        if run.len() > 31 {
            return None;
        }
        let mut bytes = [0; 31];
        let mut at = 0;
        while at < run.len() {
            bytes[at] = run[at];
            at += 1;
        }
        Some(Self {
            bytes,
            len: run.len() as u8,
        })
    }

    /// The name of `len` bytes at `start` of a pool.
    #[must_use]
    pub const fn long(start: u32, len: u32) -> Self {
        let mut bytes = [0; 31];
        let (start, len) = (start.to_le_bytes(), len.to_le_bytes());
        let mut at = 0;
        while at < 4 {
            bytes[at] = start[at];
            bytes[at + 4] = len[at];
            at += 1;
        }
        Self { bytes, len: LONG }
    }

    /// The run, which stands here or in the pool.
    #[inline]
    #[must_use]
    pub fn run<'a>(&'a self, pool: &'a [u8]) -> Run<'a> {
        if self.len == LONG {
            return self.pool_run(pool);
        }
        Run {
            window: &self.bytes,
            len: usize::from(self.len),
        }
    }

    #[inline(never)]
    fn pool_run<'a>(&self, pool: &'a [u8]) -> Run<'a> {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes;
        let start = u32::from_le_bytes([a, b, c, d]) as usize;
        let len = u32::from_le_bytes([e, f, g, h]) as usize;
        Run::new(pool.get(start..).unwrap_or_default(), len)
    }

    /// The length if the name is short and `input` starts with it; `None` says
    /// nothing about long names.
    #[inline]
    #[must_use]
    pub fn starts(&self, input: &[u8]) -> Option<usize> {
        let len = usize::from(self.len);
        let (Some(low), Some(name)) = (input.first_chunk::<16>(), self.bytes.first_chunk::<16>())
        else {
            return None;
        };
        let equal = Block::load(low).equals_block(Block::load(name)).mask();
        if len <= 16 {
            return ((equal | (u32::MAX << len)) == u32::MAX).then_some(len);
        }
        if equal != 0xffff || len > self.bytes.len() {
            return None;
        }
        // The bytes 15 to 31 of both: one is looked at twice.
        let high = input.get(15..).and_then(<[u8]>::first_chunk::<16>)?;
        let name = self.bytes.last_chunk::<16>()?;
        let equal = Block::load(high).equals_block(Block::load(name)).mask();
        ((equal | (u32::MAX << (len - 15))) == u32::MAX).then_some(len)
    }

    /// Appends the name if it is short; whether it was.
    #[inline]
    pub fn push_to(&self, out: &mut Vec<u8>) -> bool {
        let len = usize::from(self.len);
        if len > self.bytes.len() {
            return false;
        }
        let old = out.len();
        out.extend_from_slice(&self.bytes);
        out.truncate(old + len);
        true
    }
}

#[inline(always)]
fn halves(bytes: &[u8; 32]) -> [&[u8; 16]; 2] {
    let (chunks, _) = bytes.as_chunks::<16>();
    [&chunks[0], &chunks[1]]
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod block {
    use std::arch::x86_64::{
        __m128i, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8,
        _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };

    /// Sixteen bytes in a register.
    ///
    /// The one proof below holds for every function of this type: SSE2 is part
    /// of every x86-64 target, so these instructions exist wherever this
    /// module is compiled, and but for the load they touch registers alone.
    #[derive(Clone, Copy)]
    pub(crate) struct Block(__m128i);

    impl Block {
        #[inline(always)]
        pub(crate) fn load(bytes: &[u8; 16]) -> Self {
            // SAFETY: SSE2, see above; the reference covers sixteen readable,
            // initialised bytes; this load asks for no alignment.
            Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
        }

        #[inline(always)]
        fn splat(byte: u8) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_set1_epi8(byte.cast_signed()) })
        }

        #[inline(always)]
        pub(crate) fn equals(self, byte: u8) -> Self {
            self.equals_block(Self::splat(byte))
        }

        #[inline(always)]
        pub(crate) fn equals_block(self, other: Self) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_cmpeq_epi8(self.0, other.0) })
        }

        /// Bytes of at most `byte`, unsigned: the smaller of both is the byte.
        #[inline(always)]
        pub(crate) fn at_most(self, byte: u8) -> Self {
            // SAFETY: SSE2, see above.
            let smaller = Self(unsafe { _mm_min_epu8(self.0, Self::splat(byte).0) });
            self.equals_block(smaller)
        }

        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_or_si128(self.0, other.0) })
        }

        #[inline(always)]
        pub(crate) fn without(self, other: Self) -> Self {
            // SAFETY: SSE2, see above.
            Self(unsafe { _mm_andnot_si128(other.0, self.0) })
        }

        /// A bit a byte, the first byte lowest.
        #[inline(always)]
        pub(crate) fn mask(self) -> u32 {
            // SAFETY: SSE2, see above.
            unsafe { _mm_movemask_epi8(self.0) }.cast_unsigned()
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) mod block {
    /// Sixteen bytes; each is 0xff where an answer is yes, 0 where it is no.
    #[derive(Clone, Copy)]
    pub(crate) struct Block([u8; 16]);

    fn yes(answer: bool) -> u8 {
        if answer { 0xff } else { 0 }
    }

    impl Block {
        pub(crate) fn load(bytes: &[u8; 16]) -> Self {
            Self(*bytes)
        }

        pub(crate) fn equals(self, byte: u8) -> Self {
            Self(self.0.map(|own| yes(own == byte)))
        }

        pub(crate) fn equals_block(self, other: Self) -> Self {
            Self(std::array::from_fn(|index| {
                yes(self.0[index] == other.0[index])
            }))
        }

        pub(crate) fn at_most(self, byte: u8) -> Self {
            Self(self.0.map(|own| yes(own <= byte)))
        }

        pub(crate) fn or(self, other: Self) -> Self {
            Self(std::array::from_fn(|index| self.0[index] | other.0[index]))
        }

        pub(crate) fn without(self, other: Self) -> Self {
            Self(std::array::from_fn(|index| self.0[index] & !other.0[index]))
        }

        pub(crate) fn mask(self) -> u32 {
            self.0.iter().enumerate().fold(0, |mask, (index, byte)| {
                mask | (u32::from(byte >> 7) << index)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow(bytes: &[u8], special: impl Fn(u8) -> bool) -> usize {
        bytes
            .iter()
            .position(|byte| special(*byte))
            .unwrap_or(bytes.len())
    }

    proptest! {
        #[test]
        fn scans_agree_with_a_byte_loop(bytes in proptest::collection::vec(
            prop_oneof![20 => 0x20..=0xff_u8, 1 => 0..0x20_u8, 1 => Just(b'"'), 1 => Just(b'\\'),
                1 => Just(b'<'), 1 => Just(b'&'), 1 => Just(b'>')], 0..80)) {
            prop_assert_eq!(json_clean(&bytes), slow(&bytes, |b| b == b'"' || b == b'\\' || b < 0x20));
            let forbidden = |b: u8| b < 0x20 && b != b'\t' && b != b'\n';
            prop_assert_eq!(xml_data(&bytes), slow(&bytes, |b| b == b'<' || b == b'&' || forbidden(b)));
            prop_assert_eq!(xml_clean(&bytes), slow(&bytes, |b| b"<>&".contains(&b) || forbidden(b)));
            prop_assert_eq!(white_space(&bytes), slow(&bytes, |b| !b" \t\r\n".contains(&b)));
        }

        #[test]
        fn push_bytes_appends(bytes in proptest::collection::vec(any::<u8>(), 0..70)) {
            let mut out = b"before".to_vec();
            push_bytes(&mut out, &bytes);
            prop_assert_eq!(&out[6..], &bytes[..]);
        }

        #[test]
        fn runs_compare_as_slices_do(
            pool in proptest::collection::vec(0..3_u8, 0..80),
            len in 0..80_usize,
            input in proptest::collection::vec(0..3_u8, 0..80),
            same in any::<bool>(),
        ) {
            let run = Run::new(&pool, len);
            let input = if same { [run.as_bytes(), &input].concat() } else { input };
            prop_assert_eq!(run.starts(&input), input.starts_with(run.as_bytes()));
            let mut out = b"before".to_vec();
            run.push_to(&mut out);
            prop_assert_eq!(&out[6..], run.as_bytes());
            match Name::short(run.as_bytes()) {
                Some(name) => {
                    prop_assert_eq!(name.run(&[]).as_bytes(), run.as_bytes());
                    let found = name.starts(&input);
                    prop_assert!(found.is_none_or(|len| len == run.len()));
                    let enough = input.len() >= 31;
                    prop_assert!(!enough || found.is_some() == input.starts_with(run.as_bytes()));
                    out.clear();
                    prop_assert!(name.push_to(&mut out));
                    prop_assert_eq!(&out[..], run.as_bytes());
                }
                None => {
                    let name = Name::long(1, run.len() as u32);
                    let shifted = [&[9][..], run.as_bytes()].concat();
                    prop_assert_eq!(name.run(&shifted).as_bytes(), run.as_bytes());
                    prop_assert_eq!(name.starts(&input), None);
                    prop_assert!(!name.push_to(&mut out));
                }
            }
        }
    }
}
