//! What is between the data: sizes, signatures and trailers, byte by byte.
//!
//! A byte is either accepted or wrong at its own offset, however the input is split. Reading single bytes is
//! fast enough: a chunk of 64 KiB has 94 bytes around its data.

use super::framing::MAX_SIGNATURE;
use super::{ChunkedErrorKind, Decoder};

/// What comes next.
///
/// ```text
/// Size ─► SignatureName ─► Signature ─► HeadLf ─► Data ─► DataCr ─► DataLf ─► Size
///    └──────── (unsigned) ────────────────┘ └► TrailerLine ─► FinalLf ─► TrailersDue ─► EndDue ─► End
///                                               │      ▲
///                                               ▼      │
///                                    TrailerName ─► TrailerValue ─► TrailerLf
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    Size,
    /// The number of bytes of [`SIGNATURE_NAME`] that have come.
    SignatureName(usize),
    Signature,
    HeadLf,
    Data,
    DataCr,
    DataLf,
    /// The first byte of a trailer, or the CR of an empty line.
    TrailerLine,
    TrailerName,
    /// The length of the name.
    TrailerValue(usize),
    /// The length of the name.
    TrailerLf(usize),
    /// The LF of the empty line before the signature or the end.
    EmptyLineLf,
    FinalLf,
    TrailersDue,
    EndDue,
    End,
}

impl State {
    /// Whether [`Decoder::byte`] is not the one to continue.
    pub(super) const fn is_event(self) -> bool {
        matches!(
            self,
            Self::Data | Self::TrailersDue | Self::EndDue | Self::End
        )
    }
}

const SIGNATURE_NAME: &[u8] = b";chunk-signature=";
const TRAILER_SIGNATURE: &[u8] = b"x-amz-trailer-signature";

/// A size of 64 bits.
const MAX_DIGITS: usize = 16;

impl Decoder {
    /// Reads one byte. Not called if the state [is an event](State::is_event).
    pub(super) fn byte(&mut self, byte: u8) -> Result<(), ChunkedErrorKind> {
        match self.state {
            State::Size => return self.size(byte),
            State::SignatureName(index) if byte == SIGNATURE_NAME[index] => {
                self.state = match index + 1 {
                    next if next == SIGNATURE_NAME.len() => State::Signature,
                    next => State::SignatureName(next),
                };
            }
            State::Signature => return self.signature(byte),
            State::HeadLf if byte == b'\n' => return self.start_chunk(),
            State::DataCr if byte == b'\r' => self.state = State::DataLf,
            State::DataLf if byte == b'\n' => {
                self.size = 0;
                self.digits = 0;
                self.signature.clear();
                self.padding = 0;
                self.state = State::Size;
            }
            State::SignatureName(_) | State::HeadLf | State::DataCr | State::DataLf => {
                return Err(self.unexpected());
            }
            _ => return self.trailer_byte(byte),
        }
        Ok(())
    }

    fn size(&mut self, byte: u8) -> Result<(), ChunkedErrorKind> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            if self.digits == MAX_DIGITS {
                return Err(self.unexpected());
            }
            self.size = self.size << 4 | u64::from(digit);
            self.digits += 1;
            return Ok(());
        }
        self.state = match (self.digits, self.framing.is_signed(), byte) {
            (1.., true, b';') => State::SignatureName(1),
            (1.., false, b'\r') => State::HeadLf,
            _ => return Err(self.unexpected()),
        };
        Ok(())
    }

    fn signature(&mut self, byte: u8) -> Result<(), ChunkedErrorKind> {
        let len = self.framing.signature_len();
        let is_complete = self.signature.len() + self.padding == len;
        match byte {
            b'0'..=b'9' | b'a'..=b'f' if !is_complete && self.padding == 0 => {
                self.signature.push(byte);
            }
            b'*' if !is_complete && len == MAX_SIGNATURE && !self.signature.is_empty() => {
                self.padding += 1;
            }
            b'\r' if is_complete => self.state = State::HeadLf,
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    fn trailer_byte(&mut self, byte: u8) -> Result<(), ChunkedErrorKind> {
        match (self.state, byte) {
            (State::TrailerLine, b'\r') if self.empty_line_due => self.state = State::EmptyLineLf,
            (State::TrailerLine, b'\r') if !self.is_trailer_signature_due() => {
                self.check_declared()?;
                self.state = State::FinalLf;
            }
            (State::TrailerLine, _) if self.accepts_trailer() && is_name(byte) => {
                self.push(byte)?;
                self.state = State::TrailerName;
            }
            (State::TrailerName, b':') => {
                self.state = State::TrailerValue(self.line.len());
                self.push(byte)?;
            }
            (State::TrailerName, _) if is_name(byte) => self.push(byte)?,
            (State::TrailerValue(name), b'\r') => self.state = State::TrailerLf(name),
            (State::TrailerValue(name), b'\n') if self.options.line_feed_trailers => {
                self.empty_line_due = true;
                self.trailer_line(name)?;
            }
            (State::TrailerValue(_), b'\t' | b' '..=b'~') => self.push(byte)?,
            (State::TrailerLf(name), b'\n') => self.trailer_line(name)?,
            (State::EmptyLineLf, b'\n') => {
                self.empty_line_due = false;
                self.empty_line_seen = true;
                self.state = State::TrailerLine;
            }
            (State::FinalLf, b'\n') if self.framing.has_trailer() => {
                self.state = State::TrailersDue;
            }
            (State::FinalLf, b'\n') => self.state = State::EndDue,
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    fn push(&mut self, byte: u8) -> Result<(), ChunkedErrorKind> {
        if self.trailer_bytes == self.options.max_trailer_bytes {
            return Err(ChunkedErrorKind::TrailerLimit);
        }
        self.trailer_bytes += 1;
        self.line.push(byte);
        Ok(())
    }

    /// A line `name:value` is complete.
    fn trailer_line(&mut self, name: usize) -> Result<(), ChunkedErrorKind> {
        self.state = State::TrailerLine;
        let line = std::mem::take(&mut self.line);
        let mut name = line[..name].to_vec();
        let value = line[name.len() + 1..].trim_ascii();
        name.make_ascii_lowercase();
        if self.framing.is_signed() && name == TRAILER_SIGNATURE {
            self.check_declared()?;
            // The line is the last one, also if it ends with LF alone.
            self.empty_line_due = false;
            let expected = "a signature in lower-case hexadecimal digits";
            let signature = signature_digits(value, self.framing.signature_len())
                .ok_or(ChunkedErrorKind::Trailer { expected })?;
            return self.authenticate_trailers(signature);
        }
        if self.empty_line_seen {
            let expected = "x-amz-trailer-signature after the empty line";
            return Err(ChunkedErrorKind::Trailer { expected });
        }
        if self.trailers.len() == self.options.max_trailers {
            return Err(ChunkedErrorKind::TrailerLimit);
        }
        // Names and values are ASCII: nothing is replaced.
        let name = String::from_utf8_lossy(&name).into_owned();
        let declared = self.options.declared_trailers.as_ref();
        if declared.is_some_and(|declared| !declared.contains(&name)) {
            let expected = "a trailer that x-amz-trailer declares";
            return Err(ChunkedErrorKind::Trailer { expected });
        }
        if !self.trailers.insert(name, &String::from_utf8_lossy(value)) {
            let expected = "each trailer once";
            return Err(ChunkedErrorKind::Trailer { expected });
        }
        Ok(())
    }

    fn is_trailer_signature_due(&self) -> bool {
        self.framing.is_signed() && self.framing.has_trailer() && !self.trailers_authenticated
    }

    /// After the empty line, only the signature may follow.
    fn accepts_trailer(&self) -> bool {
        self.framing.has_trailer()
            && !self.trailers_authenticated
            && (!self.empty_line_seen || self.framing.is_signed())
    }

    fn check_declared(&self) -> Result<(), ChunkedErrorKind> {
        let declared = self
            .options
            .declared_trailers
            .as_deref()
            .unwrap_or_default();
        if declared
            .iter()
            .any(|name| self.trailers.get(name).is_none())
        {
            let expected = "all trailers that x-amz-trailer declares";
            return Err(ChunkedErrorKind::Trailer { expected });
        }
        Ok(())
    }

    #[cold]
    fn unexpected(&self) -> ChunkedErrorKind {
        let expected = self.expected();
        match self.state {
            State::TrailerLine
            | State::TrailerName
            | State::TrailerValue(_)
            | State::TrailerLf(_)
            | State::EmptyLineLf
            | State::FinalLf => ChunkedErrorKind::Trailer { expected },
            _ => ChunkedErrorKind::Chunk { expected },
        }
    }

    /// What may come next, for errors.
    pub(super) fn expected(&self) -> &'static str {
        match self.state {
            State::Size => match (self.digits, self.framing.is_signed()) {
                (0, _) => "the size of a chunk in hexadecimal digits",
                (MAX_DIGITS, true) => ";chunk-signature= after 16 digits",
                (MAX_DIGITS, false) => "CR LF after 16 digits",
                (_, true) => "a hexadecimal digit or ;chunk-signature=",
                (_, false) => "a hexadecimal digit or CR LF",
            },
            State::SignatureName(_) => ";chunk-signature= after the size",
            State::Signature if self.framing.signature_len() == MAX_SIGNATURE => {
                "a signature of 144 characters, and CR LF"
            }
            State::Signature => "a signature of 64 lower-case hexadecimal digits, and CR LF",
            State::HeadLf => "LF after the head of a chunk",
            State::Data => "more data of the chunk",
            State::DataCr | State::DataLf => "CR LF after the data of a chunk",
            State::TrailerLine if self.empty_line_due => "a trailer or an empty line",
            State::TrailerLine if self.is_trailer_signature_due() => {
                "a trailer or x-amz-trailer-signature"
            }
            State::TrailerLine if self.accepts_trailer() => "a trailer or the last CR LF",
            State::TrailerLine | State::FinalLf => "the last CR LF",
            State::TrailerName => "the name of a trailer, and a colon",
            State::TrailerValue(_) => "the value of a trailer, and CR LF",
            State::TrailerLf(_) => "LF after a trailer",
            State::EmptyLineLf => "LF after an empty line",
            State::TrailersDue | State::EndDue | State::End => "that all events are read",
        }
    }
}

/// RFC 9110, section 5.6.2: the characters of a token.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The digits of a signature without padding; none if the form is wrong.
fn signature_digits(value: &[u8], len: usize) -> Option<&[u8]> {
    let digits = match value.iter().position(|&byte| byte == b'*') {
        Some(padding) if len == MAX_SIGNATURE => {
            let is_padded = value[padding..].iter().all(|&byte| byte == b'*');
            is_padded.then_some(&value[..padding])?
        }
        _ => value,
    };
    let is_hex = digits
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (value.len() == len && is_hex && !digits.is_empty()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_signatures_have_padding() {
        let hmac = [b'a'; 64];
        assert_eq!(signature_digits(&hmac, 64), Some(&hmac[..]));
        assert_eq!(signature_digits(&hmac[1..], 64), None);
        assert_eq!(signature_digits(&[b'*'; 64], 64), None);
        let mut ecdsa = [b'*'; MAX_SIGNATURE];
        assert_eq!(signature_digits(&ecdsa, MAX_SIGNATURE), None);
        ecdsa[0] = b'7';
        assert_eq!(signature_digits(&ecdsa, MAX_SIGNATURE), Some(&b"7"[..]));
        ecdsa[2] = b'7';
        assert_eq!(signature_digits(&ecdsa, MAX_SIGNATURE), None);
    }

    #[test]
    fn names_are_tokens() {
        assert!(b"x-Amz_1~".iter().all(|&byte| is_name(byte)));
        assert!(!b" :\r\n\0\x7f\xe4(\"".iter().any(|&byte| is_name(byte)));
    }
}
