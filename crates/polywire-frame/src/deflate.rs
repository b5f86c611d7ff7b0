//! Payloads that travel compressed: four bytes with the length that a payload has, and raw DEFLATE (RFC 1951).
//!
//! Whatever counts bytes counts them as if nothing were compressed: what is sent is measured before, and a frame
//! that has come is given its length back before anybody looks at it. So compression changes nothing but what
//! travels, and a few bytes that become many take what the many would have taken.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::broken::Broken;
use crate::frames::Frame;
use crate::{Flags, Reason};

/// Bytes of the length in front of what is compressed.
const LENGTH: usize = 4;

/// Room that is there for a payload at first, whatever length it claims to have.
const FIRST: usize = 16 << 10;

/// Room for compressed payloads that is kept for the next.
const MOST_KEPT: usize = 64 << 10;

/// Compresses what a connection sends. What it needs for that, some 300 KiB, is there from the first payload until
/// the connection rests.
#[derive(Debug)]
pub(crate) struct Packer {
    /// Payloads that are shorter stay as they are.
    least: usize,
    compress: Option<Box<Compress>>,
    packed: Vec<u8>,
}

impl Packer {
    /// One that leaves all as it is.
    pub(crate) const fn off() -> Self {
        Self::new(usize::MAX)
    }

    pub(crate) const fn new(least: usize) -> Self {
        Self {
            least,
            compress: None,
            packed: Vec::new(),
        }
    }

    /// Whether payloads of so many bytes are tried.
    #[inline]
    pub(crate) const fn wants(&self, bytes: usize) -> bool {
        bytes >= self.least
    }

    /// What travels instead of a payload, if that is shorter.
    #[cold]
    pub(crate) fn pack(&mut self, payload: &[u8]) -> Option<&[u8]> {
        let length = u32::try_from(payload.len()).ok()?;
        // What is as long is worth nothing.
        let most = payload.len().checked_sub(1)?;
        let fast = || Box::new(Compress::new(Compression::fast(), false));
        let compress = self.compress.get_or_insert_with(fast);
        compress.reset();
        self.packed.clear();
        self.packed.shrink_to(MOST_KEPT);
        self.packed.extend_from_slice(&length.to_le_bytes());
        loop {
            let more = self.packed.len().max(FIRST);
            let room = more.min(most.checked_sub(self.packed.len())?);
            if room == 0 {
                return None;
            }
            let from = self.packed.len();
            self.packed.resize(from + room, 0);
            let rest = payload.get(compress.total_in() as usize..)?;
            let status = compress
                .compress(rest, &mut self.packed[from..], FlushCompress::Finish)
                .ok()?;
            self.packed.truncate(LENGTH + compress.total_out() as usize);
            if status == Status::StreamEnd {
                return Some(&self.packed);
            }
        }
    }

    /// Gives back what it needed.
    pub(crate) fn shrink(&mut self) {
        self.compress = None;
        self.packed = Vec::new();
    }
}

/// Undoes what came compressed. What it needs for that, some 40 KiB, is there from the first such frame until the
/// connection rests.
#[derive(Debug, Default)]
pub(crate) struct Unpacker {
    decompress: Option<Box<Decompress>>,
}

impl Unpacker {
    /// Makes a frame what it would be if its payload had not been compressed, with the payload in `room`. Its body is
    /// then of at most `most` bytes, and no more memory is taken than it says.
    #[cold]
    pub(crate) fn unpack<'a>(
        &mut self,
        frame: &mut Frame<'a>,
        most: u32,
        room: &'a mut Vec<u8>,
    ) -> Result<(), Broken> {
        let at = frame.payload_offset();
        let Some((length, packed)) = frame.payload.split_first_chunk::<LENGTH>() else {
            return Err(Broken::new(at, "a compressed payload with its length"));
        };
        let length = u32::from_le_bytes(*length);
        let around = frame.header.length as usize - frame.payload.len();
        let body = around as u64 + u64::from(length);
        if body > u64::from(most) {
            let expected = format!("a body of at most {most} bytes when it is unpacked");
            return Err(Broken::new(at, expected)
                .found(body.to_string())
                .because(Reason::LENGTH));
        }
        let decompress = self
            .decompress
            .get_or_insert_with(|| Box::new(Decompress::new(false)));
        decompress.reset(false);
        if inflate(decompress, packed, length as usize, room).is_none() {
            let expected = format!("a payload of {length} bytes, compressed");
            return Err(Broken::new(at, expected).found("something else"));
        }
        frame.payload = room;
        // It is not above `most`, which has 32 bits.
        frame.header.length = body as u32;
        frame.header.flags = frame.header.flags.beyond(Flags::DEFLATE);
        Ok(())
    }

    /// Gives back what it needed.
    pub(crate) fn shrink(&mut self) {
        self.decompress = None;
    }
}

/// Fills `room` with exactly so many bytes, which are all that `packed` is.
fn inflate(
    decompress: &mut Decompress,
    packed: &[u8],
    length: usize,
    room: &mut Vec<u8>,
) -> Option<()> {
    room.clear();
    loop {
        let (taken, made) = (decompress.total_in(), decompress.total_out() as usize);
        let rest = packed.get(taken as usize..)?;
        // Where all is there that there may be, one byte more tells whether the end follows.
        let mut beyond = [0];
        let into = if made == length {
            &mut beyond[..]
        } else {
            if made == room.len() {
                let next = length.min((2 * made).max(FIRST));
                room.reserve_exact(next - made);
                room.resize(next, 0);
            }
            &mut room[made..]
        };
        let status = decompress.decompress(rest, into, FlushDecompress::None);
        let ended = status.ok()? == Status::StreamEnd;
        if ended || decompress.total_out() as usize > length {
            break;
        }
        if (decompress.total_in(), decompress.total_out() as usize) == (taken, made) {
            return None;
        }
    }
    let whole = decompress.total_out() as usize == length;
    let all = decompress.total_in() == packed.len() as u64;
    room.truncate(length);
    (whole && all && room.len() == length).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(packed: &[u8], length: usize) -> Option<Vec<u8>> {
        let mut room = Vec::new();
        inflate(&mut Decompress::new(false), packed, length, &mut room)?;
        assert!(room.capacity() <= length.max(1), "{}", room.capacity());
        Some(room)
    }

    #[test]
    fn what_is_packed_comes_back_and_nothing_else() {
        let mut packer = Packer::new(1);
        for payload in [
            &b"aaaaaaaaaaaaaaaaaaaa"[..],
            &[7; 100_000],
            &[b'x'; FIRST],
            &b"abcdefgh".repeat(FIRST),
        ] {
            let packed = packer.pack(payload).unwrap().to_vec();
            assert!(packed.len() < payload.len());
            let (length, packed) = packed.split_at(4);
            assert_eq!(length, (payload.len() as u32).to_le_bytes());
            assert_eq!(undone(packed, payload.len()).as_deref(), Some(payload));
            // Another length, and what is cut or has something behind it.
            assert_eq!(undone(packed, payload.len() - 1), None);
            assert_eq!(undone(packed, payload.len() + 1), None);
            assert_eq!(undone(&packed[..packed.len() - 1], payload.len()), None);
            let longer = [packed, &[0]].concat();
            assert_eq!(undone(&longer, payload.len()), None);
        }
    }

    #[test]
    fn what_would_be_longer_stays() {
        let mut packer = Packer::new(1);
        let mut number = 1_u64;
        let noise: Vec<u8> = (0..99_999)
            .map(|_| {
                number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number >> 29;
                (number >> 40) as u8
            })
            .collect();
        for length in [0, 1, 4, 5, 6, 20, 9_000, 99_999] {
            assert_eq!(packer.pack(&noise[..length]), None, "{length}");
        }
    }
}
