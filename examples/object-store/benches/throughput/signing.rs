//! What a request carries beside its bytes: signatures and checksums.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use http::Request;
use http::request::Parts;
use polywire::text::Timestamp;
use polywire_aws::checksum::{Algorithm, Checksum};
use polywire_aws::chunked::{ChunkLayout, DEFAULT_CHUNK_SIZE, Encoder};
use polywire_aws::signature::{
    Credentials, KeyCache, Payload, Settings, SigningTime, sign_request,
};

use super::bare;

/// The form of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// As a client without keys sends it.
    Plain,
    /// The bare server computes the MD5 sum.
    Md5,
    /// Signed, without the body.
    Head,
    /// Signed, with the SHA-256 sum of the body.
    Body,
    /// Signed, and in `aws-chunked` with the CRC32 in a trailer.
    Trailer,
}

/// A body, and what the client knows of it. It is computed once, so that the client costs the same in all forms.
pub(crate) struct Payloads {
    pub(crate) plain: Bytes,
    pub(crate) crc32: Checksum,
    pub(crate) etag: String,
    sha256: Payload,
    chunked: Bytes,
}

impl Payloads {
    /// A body of `len` bytes, which do not repeat within any page.
    pub(crate) fn new(len: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut plain = Vec::with_capacity(len + 8);
        while plain.len() < len {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            plain.extend_from_slice(&state.to_le_bytes());
        }
        plain.truncate(len);
        let plain = Bytes::from(plain);
        let mut pieces = Vec::new();
        let mut encoder = encoder();
        encoder.push(plain.clone(), &mut pieces).unwrap();
        encoder.finish(&mut pieces).unwrap();
        let mut chunked = BytesMut::new();
        pieces
            .iter()
            .for_each(|piece| chunked.extend_from_slice(piece));
        Self {
            crc32: Checksum::of(Algorithm::Crc32, &plain),
            etag: format!("\"{}\"", Checksum::of(Algorithm::Md5, &plain).to_hex()),
            sha256: Payload::of(&plain),
            chunked: chunked.freeze(),
            plain,
        }
    }

    /// The bytes to send.
    pub(crate) fn sent(&self, form: Form) -> Bytes {
        match form {
            Form::Trailer => self.chunked.clone(),
            _ => self.plain.clone(),
        }
    }
}

fn encoder() -> Encoder {
    let layout = ChunkLayout::Fixed(DEFAULT_CHUNK_SIZE);
    Encoder::unsigned(layout, Some(Algorithm::Crc32))
}

/// Completes the heads of requests.
#[derive(Default)]
pub(crate) struct Finisher {
    keys: KeyCache,
}

impl Finisher {
    /// Completes a head in a form. Without a body `payloads` is `None`.
    pub(crate) fn finish(
        &mut self,
        parts: &mut Parts,
        form: Form,
        payloads: Option<&Payloads>,
        credentials: Option<&Credentials>,
    ) {
        let payload = match (form, payloads) {
            (Form::Plain, _) => return,
            (Form::Md5, _) => {
                let value = http::HeaderValue::from_static("1");
                parts.headers.insert(bare::MD5, value);
                return;
            }
            (Form::Head, _) => Payload::Unsigned,
            (Form::Body, Some(payloads)) => payloads.sha256,
            (Form::Trailer, Some(payloads)) => {
                encoder().apply_headers(&mut parts.headers, payloads.plain.len() as u64);
                Payload::StreamingUnsignedTrailer
            }
            (Form::Body | Form::Trailer, None) => Payload::of(b""),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = Timestamp::new(i64::try_from(now.as_secs()).unwrap(), 0);
        let time = SigningTime::new(now).unwrap();
        let key = self.keys.key(credentials.unwrap(), time, "us-east-1", "s3");
        sign_request(parts, payload, &key, &Settings::S3, time).unwrap();
    }
}

/// A head for a path.
pub(crate) fn head(method: http::Method, path: &str, host: &str) -> Parts {
    let builder = Request::builder()
        .method(method)
        .uri(path)
        .header("host", host);
    builder.body(()).unwrap().into_parts().0
}
