//! Decompression of gzip (RFC 1952) under limits.

use std::fmt;
use std::io::{self, Read as _};

use flate2::bufread::GzDecoder;

/// The most bytes that are decompressed between two checks of the size.
const PIECE: u64 = 64 * 1024;
/// The number of members that a body can have in addition to one for each [`MEMBER_BYTES`] of
/// output.
const FREE_MEMBERS: usize = 16;
/// The output that each further member must have on average, in bytes.
const MEMBER_BYTES: usize = 1024;

/// Why a body could not be decompressed.
#[derive(Debug)]
#[non_exhaustive]
pub enum GzipError<E> {
    /// The bytes are not gzip, are cut off, or have a wrong checksum.
    Malformed(io::Error),
    /// The check of the size failed.
    Limit(E),
}

/// Decompresses a gzip body, which can consist of several members.
///
/// `check` is called after each piece of at most 64 KiB with the length of the output so far, in
/// bytes. It enforces limits.
///
/// Starting a member takes a few microseconds, however little it contains. A body may therefore
/// have 16 members, and one more for each KiB of output.
///
/// # Errors
///
/// The body is malformed or has too many members, or `check` failed.
///
/// ```
/// use std::io::Write as _;
/// use flate2::{Compression, write::GzEncoder};
///
/// let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
/// encoder.write_all(b"hello")?;
/// let body = encoder.finish()?;
///
/// let mut check = |length| if length <= 5 { Ok(()) } else { Err("too long") };
/// let text = polywire_protocol::decompress_gzip(&body, &mut check).unwrap();
/// assert_eq!(text, b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn decompress_gzip<E>(
    body: &[u8],
    check: &mut dyn FnMut(usize) -> Result<(), E>,
) -> Result<Vec<u8>, GzipError<E>> {
    let mut decompressor = GzipDecompressor::new(body);
    let mut checked = 0;
    while let Some(length) = decompressor.step().map_err(GzipError::Malformed)? {
        if length > checked {
            check(length).map_err(GzipError::Limit)?;
            checked = length;
        }
    }
    Ok(decompressor.into_output())
}

/// Decompresses a gzip body in steps, so that the caller can do other work in between.
/// [`decompress_gzip`] runs all steps at once.
///
/// ```
/// # use std::io::Write as _;
/// # use flate2::{Compression, write::GzEncoder};
/// # let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
/// # encoder.write_all(&[0; 100_000])?;
/// # let body = encoder.finish()?;
/// use polywire_protocol::GzipDecompressor;
///
/// let mut decompressor = GzipDecompressor::new(&body);
/// while let Some(length) = decompressor.step()? {
///     assert!(length <= 100_000);
/// }
/// assert_eq!(decompressor.into_output(), [0; 100_000]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct GzipDecompressor<'b> {
    /// The current member, and what follows it; `None` at the end.
    member: Option<GzDecoder<&'b [u8]>>,
    /// How many members have begun.
    members: usize,
    output: Vec<u8>,
}

impl<'b> GzipDecompressor<'b> {
    /// Creates a decompressor at the start of a body.
    #[must_use]
    pub fn new(body: &'b [u8]) -> Self {
        Self {
            member: Some(GzDecoder::new(body)),
            members: 1,
            output: Vec::new(),
        }
    }

    /// Decompresses at most 64 KiB, or goes to the next member. Returns the length of the output
    /// so far in bytes, and `None` at the end of the body. The caller enforces limits.
    ///
    /// # Errors
    ///
    /// The body is malformed or has too many members.
    pub fn step(&mut self) -> io::Result<Option<usize>> {
        let Some(member) = &mut self.member else {
            return Ok(None);
        };
        let start = self.output.len();
        member.take(PIECE).read_to_end(&mut self.output)?;
        if self.output.len() > start {
            return Ok(Some(self.output.len()));
        }
        let rest = self.member.take().map(GzDecoder::into_inner);
        let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
            return Ok(None);
        };
        self.members += 1;
        if self.members > FREE_MEMBERS + start / MEMBER_BYTES {
            let members = self.members;
            let message = format!("{members} members for {start} bytes are too many");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.member = Some(GzDecoder::new(rest));
        Ok(Some(start))
    }

    /// Returns the output so far.
    #[must_use]
    pub fn into_output(self) -> Vec<u8> {
        self.output
    }
}

impl<E: fmt::Display> fmt::Display for GzipError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "expected gzip: {error}"),
            Self::Limit(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decompress(body: &[u8]) -> Result<Vec<u8>, GzipError<()>> {
        decompress_gzip(body, &mut |_| Ok(()))
    }

    #[test]
    fn members_are_joined() {
        let body = [member(b"one "), member(b""), member(b"two")].concat();
        assert_eq!(decompress(&body).unwrap(), b"one two");
        // bgzip writes one member for each 64 KiB, and an empty one at the end.
        let block = member(&[b'x'; 65_280]);
        let body = [block.repeat(40), member(b"")].concat();
        assert_eq!(decompress(&body).unwrap().len(), 40 * 65_280);
    }

    #[test]
    fn many_members_without_output_are_rejected_early() {
        let body = member(b"").repeat(1 << 20);
        let error = decompress(&body).unwrap_err();
        let GzipError::Malformed(error) = error else {
            panic!("{error:?}")
        };
        assert_eq!(error.to_string(), "17 members for 0 bytes are too many");
        let body = member(b"x").repeat(17);
        assert!(decompress(&body).is_err());
    }

    #[test]
    fn invalid_gzip_is_rejected() {
        let body = member(b"hello");
        let mut wrong = body.clone();
        wrong[body.len() - 5] ^= 1;
        for body in [&b""[..], b"hello", &body[..body.len() - 1], &wrong] {
            assert!(matches!(decompress(body), Err(GzipError::Malformed(_))));
        }
        let garbage = [&body[..], b"\0"].concat();
        assert!(decompress(&garbage).is_err());
    }

    #[test]
    fn the_size_is_checked_in_pieces() {
        let body = member(&vec![0; 1 << 20]);
        let mut lengths = Vec::new();
        let result = decompress_gzip(&body, &mut |length| {
            lengths.push(length);
            if length > 100_000 {
                Err("too long")
            } else {
                Ok(())
            }
        });
        assert!(matches!(result, Err(GzipError::Limit("too long"))));
        assert_eq!(lengths, [65_536, 131_072]);
    }
}
