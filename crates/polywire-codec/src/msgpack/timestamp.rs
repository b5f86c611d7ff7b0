//! Timestamps: extension type -1.

use polywire_text::Timestamp;

/// The number of the extension type.
pub(super) const TYPE: i8 = -1;

/// Decodes the data of the extension. `None` if the length is invalid or the nanoseconds are not less
/// than a second.
pub(super) fn read(data: &[u8]) -> Option<Timestamp> {
    let (seconds, nanoseconds) = match *data {
        [a, b, c, d] => (i64::from(u32::from_be_bytes([a, b, c, d])), 0),
        [a, b, c, d, e, f, g, h] => {
            let both = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            // 34 bits of seconds.
            ((both & 0x3_ffff_ffff).cast_signed(), (both >> 34) as u32)
        }
        [a, b, c, d, ref seconds @ ..] => {
            let seconds = i64::from_be_bytes(*seconds.first_chunk()?);
            (seconds, u32::from_be_bytes([a, b, c, d]))
        }
        _ => return None,
    };
    let is_valid = matches!(data.len(), 4 | 8 | 12) && nanoseconds < 1_000_000_000;
    is_valid.then(|| Timestamp::new(seconds, nanoseconds))
}

/// Writes a timestamp in its shortest form.
pub(super) fn push(out: &mut Vec<u8>, value: Timestamp) {
    let (seconds, nanoseconds) = (value.seconds(), value.nanoseconds());
    let kind = TYPE.cast_unsigned();
    match (u32::try_from(seconds), u64::try_from(seconds)) {
        (Ok(seconds), _) if nanoseconds == 0 => {
            out.extend_from_slice(&[0xd6, kind]);
            out.extend_from_slice(&seconds.to_be_bytes());
        }
        (_, Ok(seconds)) if seconds >> 34 == 0 => {
            out.extend_from_slice(&[0xd7, kind]);
            let both = u64::from(nanoseconds) << 34 | seconds;
            out.extend_from_slice(&both.to_be_bytes());
        }
        _ => {
            out.extend_from_slice(&[0xc7, 12, kind]);
            out.extend_from_slice(&nanoseconds.to_be_bytes());
            out.extend_from_slice(&seconds.to_be_bytes());
        }
    }
}
