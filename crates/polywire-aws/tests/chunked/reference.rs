//! A decoder of a whole body that follows the grammar line by line. It says whether a body is valid, not what is
//! wrong with it.

use polywire_aws::chunked::{ChunkAuthenticator, DecoderOptions, Framing, Trailers};
use sha2::{Digest, Sha256};

use crate::support::Decoded;

pub(crate) fn decode(
    framing: Framing,
    authenticator: &mut dyn ChunkAuthenticator,
    options: &DecoderOptions,
    body: &[u8],
) -> Option<Decoded> {
    let mut rest = body;
    let mut data = Vec::new();
    loop {
        let head = take_line(&mut rest)?;
        let (size, signature) = match framing.is_signed() {
            true => head.split_once(";chunk-signature=")?,
            false => (head, ""),
        };
        if size.is_empty() || size.len() > 16 || !size.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let size = u64::from_str_radix(size, 16).ok()?;
        if size > options.max_chunk {
            return None;
        }
        let size = usize::try_from(size).ok()?;
        let chunk = rest.get(..size)?;
        rest = &rest[size..];
        if framing.is_signed() {
            let signature = signature_digits(framing, signature)?;
            if options.verified_chunks.is_some_and(|limit| size > limit)
                || !authenticator.chunk(&Sha256::digest(chunk).into(), signature.as_bytes())
            {
                return None;
            }
        }
        data.extend_from_slice(chunk);
        if size == 0 {
            break;
        }
        rest = rest.strip_prefix(b"\r\n")?;
    }
    if options
        .decoded_length
        .is_some_and(|len| len != data.len() as u64)
    {
        return None;
    }
    let trailers = match framing.has_trailer() {
        true => Some(trailers(framing, authenticator, options, &mut rest)?),
        false => None,
    };
    (rest == b"\r\n").then_some(Decoded { data, trailers })
}

fn trailers(
    framing: Framing,
    authenticator: &mut dyn ChunkAuthenticator,
    options: &DecoderOptions,
    rest: &mut &[u8],
) -> Option<Trailers> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    let mut signature = None;
    let mut bare_line_feed = false;
    let mut empty_line = false;
    while *rest != b"\r\n" || bare_line_feed {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = str::from_utf8(&rest[..end]).ok()?;
        *rest = &rest[end + 1..];
        if bare_line_feed && line == "\r" {
            bare_line_feed = false;
            empty_line = true;
            continue;
        }
        let line = match line.strip_suffix('\r') {
            Some(line) => line,
            None if options.line_feed_trailers => {
                bare_line_feed = !empty_line;
                line
            }
            None => return None,
        };
        bytes += line.len();
        let (name, value) = line.split_once(':')?;
        let printable = |byte| matches!(byte, b'\t' | b' '..=b'~');
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() || !value.bytes().all(printable) {
            return None;
        }
        if framing.is_signed() && name.eq_ignore_ascii_case("x-amz-trailer-signature") {
            signature = Some(signature_digits(framing, value.trim_matches([' ', '\t']))?);
            break;
        }
        if empty_line {
            return None;
        }
        lines.push((name, value));
    }
    if bytes > options.max_trailer_bytes || lines.len() > options.max_trailers {
        return None;
    }
    let trailers: Trailers = lines.iter().copied().collect();
    if trailers.len() != lines.len() {
        return None;
    }
    if let Some(declared) = &options.declared_trailers {
        let mut declared = declared.clone();
        declared.sort();
        declared.dedup();
        if !trailers.iter().map(|trailer| trailer.0).eq(&declared) {
            return None;
        }
    }
    if framing.is_signed() && !authenticator.trailer(&trailers.canonical(), signature?.as_bytes()) {
        return None;
    }
    Some(trailers)
}

fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    let line = str::from_utf8(&rest[..end]).ok()?;
    *rest = &rest[end + 2..];
    Some(line)
}

fn signature_digits(framing: Framing, signature: &str) -> Option<&str> {
    let digits = match framing {
        Framing::SignedEcdsa | Framing::SignedEcdsaTrailer => signature.trim_end_matches('*'),
        _ => signature,
    };
    let is_hex = digits
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_valid = signature.len() == framing.signature_len() && is_hex && !digits.is_empty();
    is_valid.then_some(digits)
}
