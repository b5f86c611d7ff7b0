//! Compressed payloads: four bytes with the length before compression, then raw DEFLATE (RFC 1951).
//!
//! All limits and credit count bytes before compression: a frame is measured before it is compressed, and gets its
//! original length back before it is interpreted. So compression changes only what is sent, and a small frame cannot
//! make the receiver use more memory than a large one.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Flags, Frame, ProtocolError, Reason};

/// Bytes of the length in front of the compressed data.
const LENGTH: usize = 4;

/// Initial size of the buffer for a payload, whatever length it claims to have.
const FIRST: usize = 16 << 10;

/// Capacity for compressed payloads that is kept for the next one.
const MOST_KEPT: usize = 64 << 10;

/// Compresses what a connection sends. Its state of about 300 KiB exists from the first payload until
/// the connection is idle.
#[derive(Debug)]
pub struct Compressor {
    /// Shorter payloads are not compressed.
    least: usize,
    compress: Option<Box<Compress>>,
    compressed: Vec<u8>,
}

impl Compressor {
    /// Compresses nothing.
    #[must_use]
    pub const fn off() -> Self {
        Self::new(usize::MAX)
    }

    /// Compresses payloads of at least this many bytes.
    #[must_use]
    pub const fn new(least: usize) -> Self {
        Self {
            least,
            compress: None,
            compressed: Vec::new(),
        }
    }

    /// Whether a payload of this many bytes is to be compressed.
    #[inline]
    pub(super) const fn wants(&self, bytes: usize) -> bool {
        bytes >= self.least
    }

    /// The compressed form of a payload, if that is shorter.
    #[cold]
    pub(super) fn compress(&mut self, payload: &[u8]) -> Option<&[u8]> {
        let length = u32::try_from(payload.len()).ok()?;
        let most = payload.len().checked_sub(1)?;
        let fast = || Box::new(Compress::new(Compression::fast(), false));
        let compress = self.compress.get_or_insert_with(fast);
        compress.reset();
        self.compressed.clear();
        self.compressed.shrink_to(MOST_KEPT);
        self.compressed.extend_from_slice(&length.to_le_bytes());
        loop {
            let more = self.compressed.len().max(FIRST);
            let room = more.min(most.checked_sub(self.compressed.len())?);
            if room == 0 {
                return None;
            }
            let from = self.compressed.len();
            self.compressed.resize(from + room, 0);
            let rest = payload.get(compress.total_in() as usize..)?;
            let status = compress
                .compress(rest, &mut self.compressed[from..], FlushCompress::Finish)
                .ok()?;
            self.compressed
                .truncate(LENGTH + compress.total_out() as usize);
            if status == Status::StreamEnd {
                return Some(&self.compressed);
            }
        }
    }

    /// Releases its state.
    pub(crate) fn shrink(&mut self) {
        self.compress = None;
        self.compressed = Vec::new();
    }
}

/// Decompresses received payloads. Its state of about 40 KiB exists from the first compressed frame until
/// the connection is idle.
#[derive(Debug, Default)]
pub struct Decompressor {
    decompress: Option<Box<Decompress>>,
}

impl Decompressor {
    /// Turns a frame into what it was before its payload was compressed. The payload is put into `buffer`, which
    /// never grows above the length that the frame claims; the body has at most `most` bytes.
    #[cold]
    pub(crate) fn decompress<'a>(
        &mut self,
        frame: &mut Frame<'a>,
        most: u32,
        buffer: &'a mut Vec<u8>,
    ) -> Result<(), ProtocolError> {
        let at = frame.payload_offset();
        let Some((length, compressed)) = frame.payload.split_first_chunk::<LENGTH>() else {
            return Err(ProtocolError::new(
                at,
                "a compressed payload with its length",
            ));
        };
        let length = u32::from_le_bytes(*length);
        let around = frame.header.length as usize - frame.payload.len();
        let body = around as u64 + u64::from(length);
        if body > u64::from(most) {
            let expected = format!("a body of at most {most} bytes when it is unpacked");
            return Err(ProtocolError::new(at, expected)
                .found(body.to_string())
                .because(Reason::LENGTH));
        }
        let decompress = self
            .decompress
            .get_or_insert_with(|| Box::new(Decompress::new(false)));
        decompress.reset(false);
        if inflate(decompress, compressed, length as usize, buffer).is_none() {
            let expected = format!("a payload of {length} bytes, compressed");
            return Err(ProtocolError::new(at, expected).found("something else"));
        }
        frame.payload = buffer;
        // At most `most`, which has 32 bits.
        frame.header.length = body as u32;
        frame.header.flags = frame.header.flags.difference(Flags::DEFLATE);
        Ok(())
    }

    /// Releases its state.
    pub(crate) fn shrink(&mut self) {
        self.decompress = None;
    }
}

/// Decompresses all of `input` into `buffer`. `None` if the result is not exactly `length` bytes.
fn inflate(
    decompress: &mut Decompress,
    input: &[u8],
    length: usize,
    buffer: &mut Vec<u8>,
) -> Option<()> {
    buffer.clear();
    loop {
        let (read, written) = (decompress.total_in(), decompress.total_out() as usize);
        let rest = input.get(read as usize..)?;
        // When the buffer is full, one more byte tells whether the stream ends here.
        let mut excess = [0];
        let into = if written == length {
            &mut excess[..]
        } else {
            if written == buffer.len() {
                let next = length.min((2 * written).max(FIRST));
                buffer.reserve_exact(next - written);
                buffer.resize(next, 0);
            }
            &mut buffer[written..]
        };
        let status = decompress.decompress(rest, into, FlushDecompress::None);
        let ended = status.ok()? == Status::StreamEnd;
        if ended || decompress.total_out() as usize > length {
            break;
        }
        if (decompress.total_in(), decompress.total_out() as usize) == (read, written) {
            return None;
        }
    }
    let whole = decompress.total_out() as usize == length;
    let all = decompress.total_in() == input.len() as u64;
    buffer.truncate(length);
    (whole && all && buffer.len() == length).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompressed(input: &[u8], length: usize) -> Option<Vec<u8>> {
        let mut buffer = Vec::new();
        inflate(&mut Decompress::new(false), input, length, &mut buffer)?;
        assert!(buffer.capacity() <= length.max(1), "{}", buffer.capacity());
        Some(buffer)
    }

    #[test]
    fn compressed_payloads_round_trip() {
        let mut compressor = Compressor::new(1);
        for payload in [
            &b"aaaaaaaaaaaaaaaaaaaa"[..],
            &[7; 100_000],
            &[b'x'; FIRST],
            &b"abcdefgh".repeat(FIRST),
        ] {
            let compressed = compressor.compress(payload).unwrap().to_vec();
            assert!(compressed.len() < payload.len());
            let (length, compressed) = compressed.split_at(4);
            assert_eq!(length, (payload.len() as u32).to_le_bytes());
            assert_eq!(
                decompressed(compressed, payload.len()).as_deref(),
                Some(payload)
            );
            // A wrong length, a truncated stream and a trailing byte are rejected.
            assert_eq!(decompressed(compressed, payload.len() - 1), None);
            assert_eq!(decompressed(compressed, payload.len() + 1), None);
            assert_eq!(
                decompressed(&compressed[..compressed.len() - 1], payload.len()),
                None
            );
            let longer = [compressed, &[0]].concat();
            assert_eq!(decompressed(&longer, payload.len()), None);
        }
    }

    #[test]
    fn incompressible_payloads_are_not_compressed() {
        let mut compressor = Compressor::new(1);
        let mut number = 1_u64;
        let noise: Vec<u8> = (0..99_999)
            .map(|_| {
                number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number >> 29;
                (number >> 40) as u8
            })
            .collect();
        for length in [0, 1, 4, 5, 6, 20, 9_000, 99_999] {
            assert_eq!(compressor.compress(&noise[..length]), None, "{length}");
        }
    }
}
