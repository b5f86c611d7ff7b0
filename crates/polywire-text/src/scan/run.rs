//! Pre-encoded names that are compared and written sixteen bytes at a time.

use crate::Text;
use crate::block::{Block, Block16};

/// A pre-encoded name, such as `"cityId":` or `<member><name>cityId</name>`.
///
/// The bytes of the run are followed by others, so that 16 or 32 bytes can be loaded at once. All
/// methods also work without them, but slower.
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

/// The number of bytes that a buffer of runs should have after the last one, for the fast paths.
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

    /// The first `len` bytes of the run; all of it if it is shorter.
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
            let equal = Block16::load(input)
                .equals_block(Block16::load(window))
                .mask();
            return begins(equal, self.len);
        }
        if self.len <= 32
            && let Some(input) = input.first_chunk::<32>()
            && let Some(window) = self.window.first_chunk::<32>()
        {
            let [input, input_high] = halves(input);
            let [window, window_high] = halves(window);
            let low = Block16::load(input)
                .equals_block(Block16::load(window))
                .mask();
            let high = Block16::load(input_high)
                .equals_block(Block16::load(window_high))
                .mask();
            return begins(low, self.len.min(16)) && begins(high, self.len.saturating_sub(16));
        }
        input.starts_with(self.as_bytes())
    }

    /// Appends the run to `out`.
    #[inline]
    pub fn push_to(self, out: &mut Vec<u8>) {
        let old = out.len();
        match self.window.first_chunk::<31>() {
            // Moves of fixed width, instead of a `memcpy` of variable length.
            Some(chunk) if self.len <= 31 => {
                out.extend_from_slice(chunk);
                out.truncate(old + self.len);
            }
            _ => out.extend_from_slice(self.as_bytes()),
        }
    }
}

/// An entry in a table of names: up to 31 bytes in place, or the range of a longer name in a
/// buffer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C, align(8))]
pub struct Name {
    /// The name, padded with zeros; or offset and length of a long one, as little-endian `u32`s.
    bytes: [u8; 31],
    /// The length, or `LONG`.
    len: u8,
}

/// Marks a name in a buffer.
const LONG: u8 = u8::MAX;

impl Name {
    /// An empty name.
    pub const EMPTY: Self = Self {
        bytes: [0; 31],
        len: 0,
    };

    /// A name in place. `None` if it has more than 31 bytes.
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

    /// A name of `len` bytes at `start` of a buffer.
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

    /// The name as a run. `pool` is the buffer of long names.
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

    /// The length of the name, if it is short and `input` starts with it. `None` for all long
    /// names.
    #[inline]
    #[must_use]
    pub fn starts(&self, input: &[u8]) -> Option<usize> {
        let len = usize::from(self.len);
        let (Some(low), Some(name)) = (input.first_chunk::<16>(), self.bytes.first_chunk::<16>())
        else {
            return None;
        };
        let equal = Block16::load(low).equals_block(Block16::load(name)).mask();
        if len <= 16 {
            return begins(equal, len).then_some(len);
        }
        if equal != 0xffff || len > self.bytes.len() {
            return None;
        }
        // Bytes 15 to 30, which overlap the first block by one.
        let high = input.get(15..).and_then(<[u8]>::first_chunk::<16>)?;
        let name = self.bytes.last_chunk::<16>()?;
        let equal = Block16::load(high).equals_block(Block16::load(name)).mask();
        begins(equal, len - 15).then_some(len)
    }

    /// Whether the name is any byte followed by `text`. False for long names, and for text that is
    /// not inline.
    ///
    /// ```
    /// use polywire_text::Text;
    /// use polywire_text::scan::Name;
    ///
    /// let name = Name::short(b"\x66cityId").unwrap();
    /// assert!(name.matches_after_head(&Text::from("cityId")));
    /// assert!(!name.matches_after_head(&Text::from("cityIds")));
    /// ```
    #[inline]
    #[must_use]
    pub fn matches_after_head(&self, text: &Text) -> bool {
        let Some((window, len)) = text.window() else {
            return false;
        };
        let [_, name @ ..] = &self.bytes;
        let (Some(name), true) = (name.first_chunk::<24>(), usize::from(self.len) == 1 + len)
        else {
            return false;
        };
        let equal = |at: usize| {
            let blocks = [window, name].map(|bytes| bytes.get(at..).and_then(<[u8]>::first_chunk));
            match blocks {
                [Some(text), Some(name)] => {
                    Block16::load(text).equals_block(Block16::load(name)).mask()
                }
                _ => 0,
            }
        };
        let mut all = equal(0);
        if len > 16 {
            // Overlaps the first block by eight bytes.
            all |= equal(8) << 8;
        }
        (all | u32::MAX << (len & 31)) == u32::MAX
    }

    /// The name without its first byte, if it is ASCII and fits into an inline [`Text`].
    ///
    /// ```
    /// use polywire_text::scan::Name;
    ///
    /// let name = Name::short(b"\x66cityId").unwrap();
    /// assert_eq!(name.text_after_head().as_deref(), Some("cityId"));
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn text_after_head(&self) -> Option<Text> {
        let [_, name @ ..] = &self.bytes;
        Text::ascii_prefix(name, usize::from(self.len).checked_sub(1)?)
    }

    /// Appends the name if it is short. Returns whether it was.
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

/// Whether the lowest `len` bits are set, at most 16.
#[inline(always)]
pub(super) fn begins(mask: u32, len: usize) -> bool {
    // Fewer instructions than a mask of `len` bits.
    (!mask).trailing_zeros() as usize >= len
}

#[inline(always)]
fn halves(bytes: &[u8; 32]) -> [&[u8; 16]; 2] {
    let (chunks, _) = bytes.as_chunks::<16>();
    [&chunks[0], &chunks[1]]
}
