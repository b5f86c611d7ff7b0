//! Trace context as the text of the header `traceparent`.

use std::fmt;
use std::str::FromStr;

use super::Trace;

/// The error of a text that is not a `traceparent`: see <https://www.w3.org/TR/trace-context/>.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidTraceparent;

impl fmt::Display for InvalidTraceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a traceparent: 00-TRACE-SPAN-FLAGS, in lower-case hexadecimal")
    }
}

impl std::error::Error for InvalidTraceparent {}

/// ```
/// use polywire_frame::Trace;
///
/// let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let trace: Trace = header.parse()?;
/// assert_eq!(trace.span_id[1], 0xf0);
/// assert_eq!(trace.to_string(), header);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("00-")?;
        for byte in self.trace_id {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("-")?;
        for byte in self.span_id {
            write!(f, "{byte:02x}")?;
        }
        write!(f, "-{:02x}", self.flags)
    }
}

impl FromStr for Trace {
    type Err = InvalidTraceparent;

    /// Parses the value of a `traceparent`. Fields that later versions add are ignored.
    fn from_str(header: &str) -> Result<Self, InvalidTraceparent> {
        read(header.as_bytes()).ok_or(InvalidTraceparent)
    }
}

fn read(header: &[u8]) -> Option<Trace> {
    let (version, rest) = field::<1>(header)?;
    let (trace_id, rest) = field::<16>(rest.strip_prefix(b"-")?)?;
    let (span_id, rest) = field::<8>(rest.strip_prefix(b"-")?)?;
    let ([flags], rest) = field::<1>(rest.strip_prefix(b"-")?)?;
    let ends = match version {
        [0] => rest.is_empty(),
        [0xff] => false,
        _ => rest.is_empty() || rest.starts_with(b"-"),
    };
    let known = trace_id != [0; 16] && span_id != [0; 8];
    (ends && known).then_some(Trace {
        trace_id,
        span_id,
        flags,
    })
}

/// `BYTES` bytes in hexadecimal, and the rest of the text.
fn field<const BYTES: usize>(text: &[u8]) -> Option<([u8; BYTES], &[u8])> {
    let (digits, rest) = text.split_at_checked(BYTES * 2)?;
    let mut bytes = [0; BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some((bytes, rest))
}

const fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn round_trip() {
        let trace: Trace = HEADER.parse().unwrap();
        assert_eq!(trace.to_string(), HEADER);
        assert_eq!((trace.trace_id[0], trace.flags), (0x4b, 1));
        // A later version is written as version 0.
        let later = format!("cc{}-what-will-be", &HEADER[2..]);
        assert_eq!(later.parse(), Ok(trace));
    }

    #[test]
    fn invalid_texts() {
        let zeros = HEADER.replace("00f067aa0ba902b7", "0000000000000000");
        let untraced = HEADER.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32));
        for wrong in [
            "",
            "00",
            &HEADER[..54],
            &format!("{HEADER}-more"),
            &format!("ff{}", &HEADER[2..]),
            &format!("cc{}x", &HEADER[2..]),
            &HEADER.to_uppercase(),
            &HEADER.replace('-', "_"),
            &HEADER.replace("4b", "\u{e9}"),
            &zeros,
            &untraced,
        ] {
            assert_eq!(wrong.parse::<Trace>(), Err(InvalidTraceparent), "{wrong}");
        }
    }
}
