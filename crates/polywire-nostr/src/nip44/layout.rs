//! Lengths, padding and the length prefix of a plaintext.

use polywire_text::base64;

use super::{HEAD, Nip44Error, TAG};

/// Plaintexts of at least this length have a prefix of six bytes.
const EXTENDED_FROM: usize = 1 << 16;

/// The big-endian length before a plaintext.
pub(super) struct Prefix {
    bytes: [u8; 6],
    len: usize,
}

impl Prefix {
    /// `len` is not 0.
    fn new(len: u32) -> Self {
        let [first, second, third, fourth] = len.to_be_bytes();
        match (len as usize) < EXTENDED_FROM {
            true => Self {
                bytes: [third, fourth, 0, 0, 0, 0],
                len: 2,
            },
            false => Self {
                bytes: [0, 0, first, second, third, fourth],
                len: 6,
            },
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The lengths of a payload.
pub(super) struct Layout {
    pub(super) prefix: Prefix,
    /// The bytes of the prefix, the plaintext and its padding.
    pub(super) ciphertext: usize,
    /// The characters of the payload in base64.
    pub(super) characters: usize,
}

impl Layout {
    /// Computes the layout of a plaintext of `len` bytes, if `len` is at most `max`.
    pub(super) fn new(len: usize, max: u32) -> Result<Self, Nip44Error> {
        let max = max as usize;
        if len == 0 {
            return Err(Nip44Error::Empty);
        }
        let fitting = u32::try_from(len).ok().filter(|_| len <= max);
        let too_long = Nip44Error::TooLong { len, max };
        let short = fitting.ok_or(too_long)?;
        let prefix = Prefix::new(short);
        // On 32-bit targets, the payload of a long plaintext can exceed `usize`.
        let ciphertext = padded_len(short) + prefix.len as u64;
        let raw = ciphertext + (HEAD + TAG) as u64;
        let characters = raw.div_ceil(3) * 4;
        let (Ok(ciphertext), Ok(characters)) = (ciphertext.try_into(), characters.try_into())
        else {
            return Err(too_long);
        };
        Ok(Self {
            prefix,
            ciphertext,
            characters,
        })
    }
}

/// The maximum number of characters of the payload of a plaintext of at most `max` bytes.
pub(super) fn max_characters(max: u32) -> usize {
    match Layout::new((max as usize).max(1), u32::MAX) {
        Ok(layout) => layout.characters,
        // No text in memory is longer than `usize::MAX`.
        Err(_) => usize::MAX,
    }
}

/// The length of a plaintext with its padding (NIP-44, "Padding"): a multiple of 32 up to 256
/// bytes, above that a multiple of one eighth of the next power of two.
fn padded_len(len: u32) -> u64 {
    let len = u64::from(len);
    let step = (len.next_power_of_two() / 8).max(32);
    len.next_multiple_of(step)
}

/// The length of the prefix in a ciphertext of this many bytes. It is unambiguous: the longest
/// ciphertext with a prefix of two bytes is four bytes shorter than the shortest with six bytes.
pub(super) const fn prefix_len(ciphertext: usize) -> usize {
    if ciphertext < 6 + EXTENDED_FROM { 2 } else { 6 }
}

/// Decodes a prefix. Returns the length of the plaintext if its padded length is `padded`.
pub(super) fn plaintext_len(prefix: &[u8], padded: usize) -> Option<usize> {
    let len = match *prefix {
        [first, second] => u32::from(u16::from_be_bytes([first, second])),
        [0, 0, first, second, third, fourth] => {
            let len = u32::from_be_bytes([first, second, third, fourth]);
            (len as usize >= EXTENDED_FROM).then_some(len)?
        }
        _ => return None,
    };
    (len > 0 && padded_len(len) == padded as u64).then_some(len as usize)
}

/// Returns the decoded length of base64 text.
pub(super) fn decoded_len(text: &[u8]) -> Result<usize, Nip44Error> {
    base64::STANDARD.decoded_len(text).ok_or_else(|| {
        // Decoding finds the offset of the error before it needs space in the output.
        let error = base64::STANDARD.decode_to_slice(text, &mut []);
        Nip44Error::Base64 {
            offset: error.map_or_else(|error| error.offset, |_| text.len()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding() {
        let cases = [
            (1, 32),
            (32, 32),
            (33, 64),
            (37, 64),
            (64, 64),
            (65, 96),
            (256, 256),
            (257, 320),
            (320, 320),
            (321, 384),
            (383, 384),
            (512, 512),
            (515, 640),
            (1025, 1280),
            (65_535, 65_536),
            (65_536, 65_536),
            (65_537, 81_920),
            (100_000, 114_688),
            (u32::MAX, 1 << 32),
        ];
        for (len, padded) in cases {
            assert_eq!(padded_len(len), padded, "{len}");
        }
    }

    #[test]
    fn prefixes() {
        assert_eq!(Prefix::new(1).as_bytes(), [0, 1]);
        assert_eq!(Prefix::new(65_535).as_bytes(), [0xff, 0xff]);
        assert_eq!(Prefix::new(65_536).as_bytes(), [0, 0, 0, 1, 0, 0]);
        assert_eq!(
            Prefix::new(u32::MAX).as_bytes(),
            [0, 0, 0xff, 0xff, 0xff, 0xff]
        );
    }

    #[test]
    fn plaintexts() {
        assert_eq!(plaintext_len(&[0, 5], 32), Some(5));
        assert_eq!(plaintext_len(&[0, 33], 64), Some(33));
        assert_eq!(plaintext_len(&[0, 0, 0, 1, 0, 0], 65_536), Some(65_536));
        assert_eq!(plaintext_len(&[0, 0, 0, 1, 0, 1], 81_920), Some(65_537));
        let wrong: [(&[u8], usize); 12] = [
            (&[], 0),
            (&[0], 32),
            // An empty plaintext.
            (&[0, 0], 32),
            (&[0, 0], 0),
            (&[0, 0, 0, 0, 0, 0], 65_536),
            // Too little and too much padding.
            (&[0, 5], 31),
            (&[0, 5], 33),
            (&[0, 5], 64),
            (&[0, 33], 32),
            // Six bytes for a length that fits in two.
            (&[0, 0, 0, 0, 0xff, 0xff], 65_536),
            // A length greater than the padded length.
            (&[0, 0, 0xff, 0xff, 0xff, 0xff], 65_536),
            // Six bytes that do not start with two zeros.
            (&[0, 1, 0, 1, 0, 0], 65_536),
        ];
        for (prefix, padded) in wrong {
            assert_eq!(plaintext_len(prefix, padded), None, "{prefix:?} {padded}");
        }
    }

    #[test]
    fn lengths_of_prefixes() {
        for len in [1, 32, 33, 65_535, 65_536, 65_537, 100_000] {
            let Ok(layout) = Layout::new(len, u32::MAX) else {
                panic!("{len}");
            };
            let prefix = layout.prefix.as_bytes();
            assert_eq!(prefix_len(layout.ciphertext), prefix.len(), "{len}");
            let padded = layout.ciphertext - prefix.len();
            assert_eq!(plaintext_len(prefix, padded), Some(len));
        }
    }

    #[test]
    fn limits() {
        assert!(matches!(Layout::new(0, 9), Err(Nip44Error::Empty)));
        assert!(Layout::new(9, 9).is_ok());
        let error = Nip44Error::TooLong { len: 10, max: 9 };
        assert_eq!(Layout::new(10, 9).err(), Some(error));
        assert_eq!(max_characters(32), super::super::MIN_CHARACTERS);
        assert_eq!(max_characters(0), super::super::MIN_CHARACTERS);
    }
}
