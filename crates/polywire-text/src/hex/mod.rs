//! Hexadecimal, RFC 4648, section 8: two digits per byte.
//!
//! ```text
//! text  = *( digit digit )
//! digit = "0"-"9" / "a"-"f" / "A"-"F"     ("A"-"F" only with Case::Any)
//! ```
//!
//! Readers reject `0x`, white space and an odd number of digits. Writers write lower case.
//!
//! The fast path detects that the input is invalid; a second, slow pass finds the offset. The time
//! to read valid input depends only on its length.

mod kernel;

use std::mem::MaybeUninit;

use crate::{Blob, INLINE_CAPACITY, Malformed};

const DIGIT: &str = "a hexadecimal digit";
const LOWER_DIGIT: &str = "a hexadecimal digit in lower case";
const SECOND_DIGIT: &str = "the second hexadecimal digit of a byte";
const MORE: &str = "more hexadecimal digits";
const END: &str = "the end of the hexadecimal digits";

/// Which letters readers accept.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Case {
    /// `a` to `f` and `A` to `F`, also mixed.
    #[default]
    Any,
    /// `a` to `f` only, as Nostr requires.
    Lower,
}

impl Case {
    const fn expected(self) -> &'static str {
        match self {
            Self::Any => DIGIT,
            Self::Lower => LOWER_DIGIT,
        }
    }
}

/// The number of digits of `len` bytes.
#[inline]
pub(crate) const fn encoded_len(len: usize) -> usize {
    // Cannot overflow: slices have at most `isize::MAX` bytes.
    len * 2
}

/// Appends `bytes` in lower case. Reserves the exact size.
///
/// ```
/// let mut out = b"id=".to_vec();
/// polywire_text::hex::push(&mut out, &[0x00, 0xc0, 0xff]);
/// assert_eq!(out, b"id=00c0ff");
/// ```
#[inline]
pub fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    let old = out.len();
    let len = encoded_len(bytes.len());
    out.reserve(len);
    kernel::encode(bytes, &mut out.spare_capacity_mut()[..len]);
    // SAFETY: `reserve` made room for `len` more bytes, and `encode` has initialised all bytes of
    // the slice that it was given, which are the first `len` after the old length.
    unsafe { out.set_len(old + len) };
}

/// Writes `bytes` in lower case to the beginning of `out` and returns that part. `None` if `out` is
/// too short; then it is unchanged.
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
    let out = out.get_mut(..encoded_len(bytes.len()))?;
    kernel::encode(bytes, uninitialised(out));
    Some(out)
}

/// Decodes into a [`Blob`]. Allocates twice if the result is longer than 23 bytes, else not at all.
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
/// As [`push_decoded`].
pub fn decode(text: &[u8], case: Case) -> Result<Blob, Malformed> {
    let mut short = [0; INLINE_CAPACITY];
    match short.get_mut(..text.len() / 2) {
        Some(out) if text.len().is_multiple_of(2) => {
            decode_to_slice(text, out, case)?;
            Ok(Blob::from(&*out))
        }
        _ => {
            let mut out = Vec::new();
            push_decoded(&mut out, text, case)?;
            Ok(Blob::from(out))
        }
    }
}

/// Decodes `text` and appends the bytes. Reserves the exact size, or nothing if the length is odd.
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
/// The first byte that is not a digit of this case; else the length of `text` if it is odd. `out`
/// is unchanged.
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
    // SAFETY: `reserve` made room for `len` more bytes, and `decode`, which was given twice as many
    // digits, has initialised all of them.
    unsafe { out.set_len(old + len) };
    Ok(())
}

/// Decodes `text`, which must be twice as long as `out`, into `out`.
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
/// The first byte that is not a digit of this case, or the offset at which there are too many or
/// too few digits. The bytes of `out` are unspecified.
#[inline]
pub fn decode_to_slice(text: &[u8], out: &mut [u8], case: Case) -> Result<(), Malformed> {
    // Halved rather than doubled: this cannot overflow.
    let fits = text.len() / 2 == out.len() && text.len().is_multiple_of(2);
    if !fits || !kernel::decode(text, uninitialised(out), case) {
        return Err(locate(text, encoded_len(out.len()), case));
    }
    Ok(())
}

/// Fast path for the beginning of a list: decodes items of the form `"digits",`, each of `size`
/// bytes, without white space, into `out`, and returns their number.
///
/// It stops when `out` is full, at any other input, or earlier: the caller reads on after these
/// items. The bytes of `out` after the items are unspecified.
#[inline]
pub(crate) fn decode_items(list: &[u8], out: &mut [u8], size: usize, case: Case) -> usize {
    kernel::decode_items(list, uninitialised(out), size, case)
}

/// Decodes `text` into an array of `N` bytes.
///
/// ```
/// use polywire_text::hex::{self, Case};
///
/// assert_eq!(hex::decode_to_array(b"c0ff", Case::Lower)?, [0xc0, 0xff]);
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

/// A slice for the functions of `kernel` to write to.
fn uninitialised(out: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    let range: *mut [u8] = out;
    // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and the result has the exclusive borrow.
    // Nobody writes uninitialised bytes: only `kernel` receives the slice, and it writes digits and
    // values.
    unsafe { &mut *(range as *mut [MaybeUninit<u8>]) }
}

/// The error of `text`, which may have at most `most` digits.
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

/// Whether `text` has exactly `len` digits. Slow, for errors.
#[cold]
pub(crate) fn check(text: &[u8], len: usize, case: Case) -> Result<(), Malformed> {
    let fine = |byte: &u8| kernel::value(*byte, case).is_some();
    match text.len() == len && text.iter().all(fine) {
        true => Ok(()),
        false => Err(locate(text, len, case)),
    }
}
