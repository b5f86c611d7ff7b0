//! Hexadecimal: two digits a byte, RFC 4648, section 8.
//!
//! ```text
//! text  = *( digit digit )
//! digit = "0"-"9" / "a"-"f" / "A"-"F"     as far as the Case allows
//! ```
//!
//! Nothing else is read: no `0x`, no white space, no half bytes. Writing is
//! lower-case unless asked otherwise. All sizes are known beforehand, so
//! everything goes straight into its place: the end of a vector, a slice, an
//! array.
//!
//! What is wrong is found on every path, and looked for only then: the fast
//! path says that something is wrong, and a second, slow look says where. The
//! time that reading takes depends on the bytes only when they are wrong.

mod kernel;

use std::mem::MaybeUninit;

use crate::{Blob, INLINE_CAPACITY, Malformed};

const DIGIT: &str = "a hexadecimal digit";
const LOWER_DIGIT: &str = "a hexadecimal digit in lower case";
const UPPER_DIGIT: &str = "a hexadecimal digit in upper case";
const SECOND_DIGIT: &str = "the second hexadecimal digit of a byte";
const MORE: &str = "more hexadecimal digits";
const END: &str = "the end of the hexadecimal digits";

/// Which letters are digits when reading. Exhaustive on purpose: there are no
/// other cases.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Case {
    /// `a` to `f` and `A` to `F`, mixed as they come.
    #[default]
    Any,
    /// `a` to `f` only, as Nostr demands.
    Lower,
    /// `A` to `F` only, as RFC 4648 has it.
    Upper,
}

impl Case {
    const fn expected(self) -> &'static str {
        match self {
            Self::Any => DIGIT,
            Self::Lower => LOWER_DIGIT,
            Self::Upper => UPPER_DIGIT,
        }
    }
}

/// The number of digits that `len` bytes take.
#[inline]
#[must_use]
pub const fn encoded_len(len: usize) -> usize {
    // No slice is longer than half of what a `usize` counts.
    len * 2
}

/// Appends `bytes` in lower case. Reserves what it writes.
///
/// ```
/// let mut out = b"id=".to_vec();
/// polywire_text::hex::push(&mut out, &[0x00, 0xc0, 0xff]);
/// assert_eq!(out, b"id=00c0ff");
/// ```
#[inline]
pub fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    append(out, bytes, kernel::LOWER);
}

/// Appends `bytes` in upper case. Reserves what it writes.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::hex::push_upper(&mut out, &[0x00, 0xc0, 0xff]);
/// assert_eq!(out, b"00C0FF");
/// ```
#[inline]
pub fn push_upper(out: &mut Vec<u8>, bytes: &[u8]) {
    append(out, bytes, kernel::UPPER);
}

#[inline]
fn append(out: &mut Vec<u8>, bytes: &[u8], letters: u8) {
    let old = out.len();
    let len = encoded_len(bytes.len());
    out.reserve(len);
    kernel::encode(bytes, &mut out.spare_capacity_mut()[..len], letters);
    // SAFETY: `reserve` made room for `len` more bytes, and `encode` has
    // written every byte of the slice that it was given: the first `len`
    // behind the old length.
    unsafe { out.set_len(old + len) };
}

/// Writes `bytes` in lower case to the beginning of `out` and returns that
/// part of it; `None` if `out` is too short, and then nothing is written.
///
/// ```
/// use polywire_text::hex;
///
/// let mut out = [b'.'; 8];
/// assert_eq!(hex::encode_to_slice(&[0x01, 0xab], &mut out).unwrap(), b"01ab");
/// assert_eq!(&out, b"01ab....");
/// assert!(hex::encode_to_slice(&[0; 5], &mut out).is_none());
/// ```
#[inline]
pub fn encode_to_slice<'a>(bytes: &[u8], out: &'a mut [u8]) -> Option<&'a mut [u8]> {
    encode_into(bytes, out, kernel::LOWER)
}

/// [`encode_to_slice`] in upper case.
///
/// ```
/// use polywire_text::hex;
///
/// assert_eq!(hex::encode_to_slice_upper(&[0xab], &mut [0; 2]).unwrap(), b"AB");
/// ```
#[inline]
pub fn encode_to_slice_upper<'a>(bytes: &[u8], out: &'a mut [u8]) -> Option<&'a mut [u8]> {
    encode_into(bytes, out, kernel::UPPER)
}

#[inline]
fn encode_into<'a>(bytes: &[u8], out: &'a mut [u8], letters: u8) -> Option<&'a mut [u8]> {
    let out = out.get_mut(..encoded_len(bytes.len()))?;
    kernel::encode(bytes, uninitialised(out), letters);
    Some(out)
}

/// How many bytes so many digits stand for: half, and none if they are odd.
///
/// ```
/// assert_eq!(polywire_text::hex::decoded_len(64), Some(32));
/// assert_eq!(polywire_text::hex::decoded_len(63), None);
/// ```
#[inline]
#[must_use]
pub const fn decoded_len(digits: usize) -> Option<usize> {
    if digits.is_multiple_of(2) {
        Some(digits / 2)
    } else {
        None
    }
}

/// Decodes into a [`Blob`]: one allocation if the result is longer than 23
/// bytes, and a second small one for its handle; else none.
///
/// ```
/// use polywire_text::hex::{self, Case};
///
/// assert_eq!(&hex::decode(b"c0ff", Case::Lower)?[..], [0xc0, 0xff]);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// As for [`push_decoded`].
pub fn decode(text: &[u8], case: Case) -> Result<Blob, Malformed> {
    let mut short = [0; INLINE_CAPACITY];
    match decoded_len(text.len()).and_then(|len| short.get_mut(..len)) {
        Some(out) => {
            decode_to_slice(text, out, case)?;
            Ok(Blob::from(&*out))
        }
        None => {
            let mut out = Vec::new();
            push_decoded(&mut out, text, case)?;
            Ok(Blob::from(out))
        }
    }
}

/// Appends what `text` stands for. Reserves what it appends, half the length of
/// `text`, and nothing if the length is odd.
///
/// ```
/// use polywire_text::hex::{self, Case};
///
/// let mut out = Vec::new();
/// hex::push_decoded(&mut out, b"00c0fF", Case::Any)?;
/// assert_eq!(out, [0x00, 0xc0, 0xff]);
/// assert_eq!(hex::push_decoded(&mut out, b"00c0fF", Case::Lower).unwrap_err().offset, 5);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// The offset of the first byte that is not a digit of this case; the length
/// of `text` if it is odd and they all are. `out` is as it was then.
#[inline]
pub fn push_decoded(out: &mut Vec<u8>, text: &[u8], case: Case) -> Result<(), Malformed> {
    let old = out.len();
    let len = text.len() / 2;
    if !text.len().is_multiple_of(2) {
        return Err(locate(text, usize::MAX, case));
    }
    out.reserve(len);
    if !kernel::decode(text, &mut out.spare_capacity_mut()[..len], case) {
        return Err(locate(text, usize::MAX, case));
    }
    // SAFETY: `reserve` made room for `len` more bytes, and `decode`, which
    // was given twice as many digits, has written all of them.
    unsafe { out.set_len(old + len) };
    Ok(())
}

/// Fills `out` with what `text` stands for, which must be twice as long.
///
/// ```
/// use polywire_text::hex::{self, Case};
///
/// let mut key = [0; 2];
/// hex::decode_to_slice(b"c0ff", &mut key, Case::Lower)?;
/// assert_eq!(key, [0xc0, 0xff]);
/// assert_eq!(hex::decode_to_slice(b"c0ffee", &mut key, Case::Lower).unwrap_err().offset, 4);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// As `text` is read from the left: the offset of the first byte that is not a
/// digit of this case, or at which the digits should have ended, or at which
/// more of them should have come. The bytes of `out` are unspecified then.
#[inline]
pub fn decode_to_slice(text: &[u8], out: &mut [u8], case: Case) -> Result<(), Malformed> {
    // Halved rather than doubled: this cannot overflow.
    let fits = text.len() / 2 == out.len() && text.len().is_multiple_of(2);
    if !fits || !kernel::decode(text, uninitialised(out), case) {
        return Err(locate(text, encoded_len(out.len()), case));
    }
    Ok(())
}

/// Reads what most lists begin with, quickly: items of a quote, the digits of
/// `size` bytes, a quote and a comma, without white space. They go one behind
/// the other into `out`, as many as it has room for; returns how many they
/// were. What is read otherwise begins behind them: this may stop anywhere,
/// and does on what is wrong. The bytes of `out` behind the items are
/// unspecified.
#[inline]
pub(crate) fn decode_items(list: &[u8], out: &mut [u8], size: usize, case: Case) -> usize {
    kernel::decode_items(list, uninitialised(out), size, case)
}

/// What `text` stands for, which must have two digits for each of the `N` bytes.
///
/// ```
/// use polywire_text::hex::{self, Case};
///
/// assert_eq!(hex::decode_to_array(b"c0ff", Case::Lower)?, [0xc0, 0xff]);
/// // 64 digits would have been read here, were `z` one.
/// assert!(hex::decode_to_array::<32>(&[b'z'; 64], Case::Any).is_err());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// As [`decode_to_slice`].
#[inline]
pub fn decode_to_array<const N: usize>(text: &[u8], case: Case) -> Result<[u8; N], Malformed> {
    let mut out = [0; N];
    decode_to_slice(text, &mut out, case)?;
    Ok(out)
}

/// Bytes that are only going to be written to.
fn uninitialised(out: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    let range: *mut [u8] = out;
    // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and the slice is
    // borrowed exclusively for as long as the result lives. The one thing that
    // could go wrong is that somebody writes uninitialised bytes through it:
    // the result goes only to `kernel`, which writes digits and values.
    unsafe { &mut *(range as *mut [MaybeUninit<u8>]) }
}

/// Finds what is wrong with at most `most` digits, on the way out.
#[cold]
fn locate(text: &[u8], most: usize, case: Case) -> Malformed {
    let bad = |byte: &u8| kernel::value(*byte, case).is_none();
    match text.iter().take(most).position(bad) {
        Some(offset) => Malformed::new(offset, case.expected()),
        None if text.len() > most => Malformed::new(most, END),
        None if text.len().is_multiple_of(2) => Malformed::new(text.len(), MORE),
        None => Malformed::new(text.len(), SECOND_DIGIT),
    }
}

/// Whether these are exactly `len` digits, slowly: for errors.
#[cold]
pub(crate) fn check(text: &[u8], len: usize, case: Case) -> Result<(), Malformed> {
    let fine = |byte: &u8| kernel::value(*byte, case).is_some();
    match text.len() == len && text.iter().all(fine) {
        true => Ok(()),
        false => Err(locate(text, len, case)),
    }
}
