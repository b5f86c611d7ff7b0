//! Base64, RFC 4648, sections 4 and 5: four characters for three bytes.
//!
//! ```text
//! base64   = *group [ last ]
//! group    = 4character
//! last     = 2character [ "==" ] / 3character [ "=" ]     see Padding
//! standard = "A"-"Z" / "a"-"z" / "0"-"9" / "+" / "/"
//! url-safe = "A"-"Z" / "a"-"z" / "0"-"9" / "-" / "_"      section 5
//! ```
//!
//! [`Base64`] is an alphabet and a padding, with all functions as methods; the functions of this
//! module are those of [`STANDARD`].
//!
//! Decoding is strict: only characters of the alphabet, padding only at the end and of the right
//! length, and no unused bits set in the last character, so each value has exactly one text. Only
//! [`Base64::decode_with_white_space`] accepts white space, which XML-RPC peers send.
//!
//! The loops are in the crate `base64-simd`, which selects vector instructions itself:
//! [`cpu::limit`](crate::cpu::limit) has no effect on it.

mod white_space;

use std::mem::MaybeUninit;
use std::sync::Arc;

use base64_simd::{AsOut, Base64 as Engine, Out};

use crate::repr::Repr;
use crate::{Blob, INLINE_CAPACITY, Malformed};

const END: &str = "the end of the base64";
const PADDING: &str = "base64 in groups of four characters, padded with =";
const STRAY: &str = "base64 whose last character has no stray bits";

/// Section 4, with padding: what most formats call base64.
pub const STANDARD: Base64 = Base64::new(Alphabet::Standard, Padding::Required);

/// Section 4 without padding.
pub const STANDARD_UNPADDED: Base64 = Base64::new(Alphabet::Standard, Padding::Forbidden);

/// Section 5, with padding.
pub const URL_SAFE: Base64 = Base64::new(Alphabet::UrlSafe, Padding::Required);

/// Section 5 without padding, as in JSON Web Tokens.
pub const URL_SAFE_UNPADDED: Base64 = Base64::new(Alphabet::UrlSafe, Padding::Forbidden);

/// The characters of the values 62 and 63.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Alphabet {
    /// `+` and `/`.
    #[default]
    Standard,
    /// `-` and `_`, which need no escapes in URLs and file names.
    UrlSafe,
}

/// Whether `=` pads the last group to four characters.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Padding {
    /// Written, and required.
    #[default]
    Required,
    /// Not written, and rejected.
    Forbidden,
    /// Written, and optional: either complete or absent.
    Optional,
}

/// An alphabet and a padding.
///
/// ```
/// use polywire_text::base64::{Alphabet, Base64, Padding};
///
/// let token = Base64::new(Alphabet::UrlSafe, Padding::Optional);
/// assert_eq!(&token.decode(b"-_8")?[..], [0xfb, 0xff]);
/// assert_eq!(&token.decode(b"-_8=")?[..], [0xfb, 0xff]);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Base64 {
    alphabet: Alphabet,
    padding: Padding,
}

impl Base64 {
    /// Base64 with this alphabet and padding.
    #[must_use]
    pub const fn new(alphabet: Alphabet, padding: Padding) -> Self {
        Self { alphabet, padding }
    }

    /// The number of characters of `len` bytes.
    ///
    /// ```
    /// use polywire_text::base64::{STANDARD, STANDARD_UNPADDED};
    ///
    /// assert_eq!((STANDARD.encoded_len(4), STANDARD_UNPADDED.encoded_len(4)), (8, 6));
    /// ```
    #[must_use]
    pub const fn encoded_len(self, len: usize) -> usize {
        match self.padding {
            Padding::Forbidden => len / 3 * 4 + (len % 3 * 4).div_ceil(3),
            Padding::Optional | Padding::Required => len.div_ceil(3) * 4,
        }
    }

    /// Appends `bytes`. Reserves 1.5 times their number plus four.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// polywire_text::base64::URL_SAFE_UNPADDED.push(&mut out, &[0xfb, 0xff]);
    /// assert_eq!(out, b"-_8");
    /// ```
    #[inline]
    pub fn push(self, out: &mut Vec<u8>, bytes: &[u8]) {
        // The engine would reserve the exact size, so that many small calls would reallocate each
        // time. This is at least four thirds plus a group.
        out.reserve(bytes.len() + bytes.len() / 2 + 4);
        let engine = self.engine(self.padding != Padding::Forbidden);
        let space = Out::from_uninit_slice(out.spare_capacity_mut());
        let len = engine.encode(bytes, space).len();
        // SAFETY: the engine has initialised `len` bytes after the old length.
        unsafe { out.set_len(out.len() + len) };
    }

    /// Appends `bytes` to a string. Reserves the exact size, [`encoded_len`](Self::encoded_len).
    ///
    /// ```
    /// let mut out = String::from("?iv=");
    /// polywire_text::base64::STANDARD.push_str(&mut out, &[1, 2, 3, 4]);
    /// assert_eq!(out, "?iv=AQIDBA==");
    /// ```
    #[inline]
    pub fn push_str(self, out: &mut String, bytes: &[u8]) {
        // SAFETY: the code below only appends characters of the alphabet and `=`, which are ASCII.
        let out = unsafe { out.as_mut_vec() };
        out.reserve(self.encoded_len(bytes.len()));
        let engine = self.engine(self.padding != Padding::Forbidden);
        let space = Out::from_uninit_slice(out.spare_capacity_mut());
        let len = engine.encode(bytes, space).len();
        // SAFETY: the engine has initialised `len` bytes after the old length.
        unsafe { out.set_len(out.len() + len) };
    }

    /// The number of decoded bytes of `text`, from its length and the padding at its end; `None` if
    /// these are invalid.
    ///
    /// ```
    /// use polywire_text::base64::STANDARD;
    ///
    /// assert_eq!(STANDARD.decoded_len(b"AQI="), Some(2));
    /// assert_eq!(STANDARD.decoded_len(b"AQI"), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn decoded_len(self, text: &[u8]) -> Option<usize> {
        self.engine_of(text).decoded_length(text).ok()
    }

    /// Decodes into a [`Blob`]. Allocates once if the result is longer than 23 bytes, else not at
    /// all.
    ///
    /// ```
    /// use polywire_text::base64::{STANDARD, URL_SAFE};
    ///
    /// assert_eq!(&STANDARD.decode(b"+/8=")?[..], [0xfb, 0xff]);
    /// assert_eq!(STANDARD.decode(b"-_8=").unwrap_err().offset, 0);
    /// assert_eq!(&URL_SAFE.decode(b"-_8=")?[..], [0xfb, 0xff]);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first character that is wrong, or the last character if it has unused bits set.
    pub fn decode(self, text: &[u8]) -> Result<Blob, Malformed> {
        let engine = self.engine_of(text);
        let len = self.room_for(text);
        let decoded = blob(len, |space| {
            let decoded = engine.decode(text, Out::from_uninit_slice(space));
            decoded.map(|bytes| bytes.len()).ok()
        });
        decoded.ok_or_else(|| self.locate(text))
    }

    /// Decodes `text` and appends the bytes. Reserves the exact size.
    ///
    /// ```
    /// let mut out = vec![0];
    /// polywire_text::base64::STANDARD.push_decoded(&mut out, b"AQID")?;
    /// assert_eq!(out, [0, 1, 2, 3]);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode). `out` is unchanged.
    #[inline]
    pub fn push_decoded(self, out: &mut Vec<u8>, text: &[u8]) -> Result<(), Malformed> {
        let engine = self.engine_of(text);
        // See `push`.
        out.reserve(self.room_for(text));
        let decoded = engine.decode_append(text, out);
        decoded.map_err(|_| self.locate(text))
    }

    /// Decodes `text` to the beginning of `out`, and returns that part.
    ///
    /// ```
    /// use polywire_text::base64::STANDARD;
    ///
    /// let mut out = [0; 4];
    /// assert_eq!(STANDARD.decode_to_slice(b"AQID", &mut out)?, [1, 2, 3]);
    /// assert_eq!(STANDARD.decode_to_slice(b"AQIDBAU=", &mut out).unwrap_err().offset, 6);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode), or the first character that does not fit if `out` is too short.
    /// The bytes of `out` are unspecified.
    #[inline]
    pub fn decode_to_slice<'a>(
        self,
        text: &[u8],
        out: &'a mut [u8],
    ) -> Result<&'a mut [u8], Malformed> {
        let engine = self.engine_of(text);
        if self.room_for(text) > out.len() {
            return Err(self.no_room(text, out.len()));
        }
        engine
            .decode(text, out.as_out())
            .map_err(|_| self.locate(text))
    }

    /// The number of bytes that the engine writes if `text` is valid; it never writes more.
    #[inline(always)]
    fn room_for(self, text: &[u8]) -> usize {
        bytes_of(match text {
            // The engine rejects padding.
            text if self.padding == Padding::Forbidden => text.len(),
            [data @ .., b'=', b'='] | [data @ .., b'='] => data.len(),
            data => data.len(),
        })
    }

    #[inline(always)]
    fn engine(self, padded: bool) -> &'static Engine {
        match (self.alphabet, padded) {
            (Alphabet::Standard, true) => &base64_simd::STANDARD,
            (Alphabet::Standard, false) => &base64_simd::STANDARD_NO_PAD,
            (Alphabet::UrlSafe, true) => &base64_simd::URL_SAFE,
            (Alphabet::UrlSafe, false) => &base64_simd::URL_SAFE_NO_PAD,
        }
    }

    /// The engine for `text`. Optional padding is required if the text ends in `=`.
    #[inline(always)]
    fn engine_of(self, text: &[u8]) -> &'static Engine {
        self.engine(match self.padding {
            Padding::Required => true,
            Padding::Forbidden => false,
            Padding::Optional => text.last() == Some(&b'='),
        })
    }

    /// The value of a character, six bits.
    fn value(self, character: u8) -> Option<u8> {
        let [before_last, last] = match self.alphabet {
            Alphabet::Standard => *b"+/",
            Alphabet::UrlSafe => *b"-_",
        };
        match character {
            b'A'..=b'Z' => Some(character - b'A'),
            b'a'..=b'z' => Some(character - b'a' + 26),
            b'0'..=b'9' => Some(character - b'0' + 52),
            _ if character == before_last => Some(62),
            _ if character == last => Some(63),
            _ => None,
        }
    }

    /// The error of `text`, or the first character that does not fit into `room` bytes.
    #[cold]
    fn no_room(self, text: &[u8], room: usize) -> Malformed {
        if self.engine_of(text).check(text).is_err() {
            return self.locate(text);
        }
        // The character that completes the first byte that does not fit.
        let characters = room.saturating_add(1).saturating_mul(4).div_ceil(3);
        Malformed::new(characters - 1, END)
    }

    /// The error of `text`, which the engine has rejected.
    #[cold]
    fn locate(self, text: &[u8]) -> Malformed {
        let value = |byte: &u8| self.value(*byte);
        let data = text.iter().take_while(|byte| value(byte).is_some()).count();
        let padding = text[data..].iter().take_while(|byte| **byte == b'=');
        let padding = padding.count();
        let (needed, spare_bits) = match data % 4 {
            2 => (2, 0x0f),
            3 => (1, 0x03),
            _ => (0, 0),
        };
        let end = data + padding;
        if data % 4 == 1 || (padding == 0 && data < text.len()) {
            Malformed::new(data, self.character())
        } else if padding > 0 && self.padding == Padding::Forbidden {
            Malformed::new(data, END)
        } else if padding < needed && (padding > 0 || self.padding == Padding::Required) {
            Malformed::new(end, PADDING)
        } else if end.min(data + needed) < text.len() {
            Malformed::new(end.min(data + needed), END)
        } else {
            let stray = text[..data].last().and_then(value).unwrap_or(0) & spare_bits;
            debug_assert!(stray != 0, "nothing is wrong with {text:?}");
            Malformed::new(data.saturating_sub(1), STRAY)
        }
    }

    const fn character(self) -> &'static str {
        match (self.alphabet, self.padding) {
            (Alphabet::Standard, Padding::Forbidden) => "base64 (A-Z a-z 0-9 + /)",
            (Alphabet::Standard, _) => "base64 (A-Z a-z 0-9 + / and = padding)",
            (Alphabet::UrlSafe, Padding::Forbidden) => "base64 (A-Z a-z 0-9 - _)",
            (Alphabet::UrlSafe, _) => "base64 (A-Z a-z 0-9 - _ and = padding)",
        }
    }
}

/// The number of characters of `len` bytes in [`STANDARD`] base64.
#[must_use]
pub const fn encoded_len(len: usize) -> usize {
    STANDARD.encoded_len(len)
}

/// Appends `bytes` in [`STANDARD`] base64.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::base64::push(&mut out, b"light work.");
/// assert_eq!(out, b"bGlnaHQgd29yay4=");
/// ```
#[inline]
pub fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    STANDARD.push(out, bytes);
}

/// Decodes [`STANDARD`] base64 into a [`Blob`]: see [`Base64::decode`].
///
/// # Errors
///
/// As [`Base64::decode`].
///
/// ```
/// use polywire_text::base64;
///
/// assert_eq!(&base64::decode(b"AQID")?[..], [1, 2, 3]);
/// assert!(base64::decode(b"AQI").is_err());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn decode(text: &[u8]) -> Result<Blob, Malformed> {
    STANDARD.decode(text)
}

/// A blob of `len` bytes that `fill` writes. `fill` returns the number of bytes that it has
/// initialised from the beginning; unless that is `len`, the result is `None`.
fn blob(len: usize, fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> Option<usize>) -> Option<Blob> {
    if len <= INLINE_CAPACITY {
        let mut short = [MaybeUninit::new(0); INLINE_CAPACITY];
        if fill(&mut short[..len]) != Some(len) {
            return None;
        }
        // SAFETY: all were initialised above, and the callers' `fill` writes no uninitialised
        // bytes.
        let short = short.map(|byte| unsafe { byte.assume_init() });
        return Some(Blob::from_repr(Repr::copy(&short[..len])));
    }
    // Through the pointer, as `Arc::get_mut` would use a locked instruction.
    let bytes = Arc::into_raw(Arc::<[u8]>::new_uninit_slice(len));
    // SAFETY: the pointer is that of the only handle, made on the line above, so nobody else reads
    // or writes; `into_raw` keeps its permissions.
    let filled = fill(unsafe { &mut *bytes.cast_mut() });
    // SAFETY: the pointer comes from `into_raw`, and this is its only `from_raw`.
    let bytes = unsafe { Arc::from_raw(bytes) };
    if filled != Some(len) {
        return None;
    }
    // SAFETY: both callers return the number of bytes that the engine has initialised from the
    // beginning, and that is `len`.
    let bytes = unsafe { bytes.assume_init() };
    Some(Blob::from_repr(Repr::from_arc(bytes)))
}

/// The number of whole bytes in this many characters: what `base64-simd` writes for a valid text.
#[inline]
const fn bytes_of(characters: usize) -> usize {
    characters / 4 * 3 + characters % 4 * 3 / 4
}
