//! An encoder for small PNG images.
//!
//! A PNG consists of a signature and chunks. Each chunk has a length, a name, data and a checksum.
//! This encoder writes only the header, uncompressed 24-bit pixels, and the end.

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Returns an image of a sky: each row has one colour, interpolated from the first at the top to
/// the second at the bottom.
pub(super) fn gradient(width: u16, height: u16, top: [u8; 3], bottom: [u8; 3]) -> Vec<u8> {
    let mut rows = Vec::new();
    for row in 0..height {
        // Each row starts with its filter type. 0 is none.
        rows.push(0);
        let colour = std::array::from_fn(|index| {
            let (from, to) = (i32::from(top[index]), i32::from(bottom[index]));
            let step = (to - from) * i32::from(row) / i32::from(height.max(2) - 1);
            // The value is between two bytes.
            (from + step) as u8
        });
        rows.extend(std::iter::repeat_n::<[u8; 3]>(colour, width.into()).flatten());
    }

    let mut header = Vec::new();
    header.extend_from_slice(&u32::from(width).to_be_bytes());
    header.extend_from_slice(&u32::from(height).to_be_bytes());
    // 8 bits per channel, RGB, default compression and filter methods, not interlaced.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);

    let mut out = SIGNATURE.to_vec();
    push_chunk(&mut out, *b"IHDR", &header);
    push_chunk(&mut out, *b"IDAT", &stored(&rows));
    push_chunk(&mut out, *b"IEND", &[]);
    out
}

fn push_chunk(out: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend_from_slice(&name);
    out.extend_from_slice(data);
    let checksum = crc32(&out[start..]);
    out.extend_from_slice(&checksum.to_be_bytes());
}

/// Returns a zlib stream (RFC 1950) of stored blocks (RFC 1951, section 3.2.4).
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let mut blocks = data.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        out.push(u8::from(blocks.peek().is_none()));
        let length = block.len() as u16;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&adler32(data).to_be_bytes());
    out
}

fn adler32(data: &[u8]) -> u32 {
    let (low, high) = data.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

/// Computes bit by bit: a table would be larger than the images.
fn crc32(data: &[u8]) -> u32 {
    let register = data.iter().fold(u32::MAX, |register, byte| {
        (0..8).fold(register ^ u32::from(*byte), |register, _| {
            let carry = 0_u32.wrapping_sub(register & 1);
            register >> 1 ^ (0xedb8_8320 & carry)
        })
    });
    !register
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_the_known_ones() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn png_has_all_chunks() {
        let png = gradient(2, 3, [0, 10, 255], [255, 10, 1]);
        let header = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0";
        assert!(png.starts_with(header));
        let rows =
            b"\0\x00\x0a\xff\x00\x0a\xff\0\x7f\x0a\x80\x7f\x0a\x80\0\xff\x0a\x01\xff\x0a\x01";
        assert!(png.windows(rows.len()).any(|window| window == rows));
        assert!(png.ends_with(b"\0\0\0\0IEND\xaeB\x60\x82"));
    }
}
