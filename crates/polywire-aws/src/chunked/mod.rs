//! The content encoding `aws-chunked`: bodies in chunks that may be signed, with trailers, as S3 receives them.
//!
//! All parts are state machines without I/O: they take bytes as they arrive, and return events or bytes to send.
//!
//! ```text
//! body           = *chunk last-chunk end
//! chunk          = size [ signature ] CRLF data CRLF
//! last-chunk     = "0" [ signature ] CRLF
//! size           = 1*16HEXDIG
//! signature      = ";chunk-signature=" 64lower-hex                        signed framings
//!                / ";chunk-signature=" 1*144lower-hex *"*"                ECDSA: padded with "*" to 144 characters
//! end            = CRLF                                                   framings without trailer
//!                / *trailer CRLF                                          unsigned with trailer
//!                / *trailer "x-amz-trailer-signature:" hex CRLF CRLF      signed with trailer
//! trailer        = name ":" value CRLF
//! ```
//!
//! | `x-amz-content-sha256` | [`Framing`] |
//! |---|---|
//! | `STREAMING-UNSIGNED-PAYLOAD-TRAILER` | [`Framing::UnsignedTrailer`] |
//! | `STREAMING-AWS4-HMAC-SHA256-PAYLOAD` | [`Framing::Signed`] |
//! | `STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER` | [`Framing::SignedTrailer`] |
//! | `STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD` | [`Framing::SignedEcdsa`] |
//! | `STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER` | [`Framing::SignedEcdsaTrailer`] |
//!
//! - [`Decoder`] returns the data and the trailers of a body. [`ChunkAuthenticator`] checks signatures for it.
//! - [`Encoder`] frames a body. [`ChunkSigner`] signs for it.
//! - [`BodyVerifier`] checks the data against the checksums in the head and in the trailer.
//! - [`BodyReader`] is a decoder and a verifier: what a server needs for a request.
//!
//! See "Signature calculations for the Authorization header: Transferring payload in multiple chunks" and "Signature
//! calculations for trailing headers" in the API reference of Amazon S3.
//!
//! ```
//! use bytes::Bytes;
//! use polywire_aws::chunked::{BodyVerifier, Decoder, DecoderOptions, Event};
//!
//! let mut headers = http::HeaderMap::new();
//! headers.insert("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER".parse()?);
//! headers.insert("x-amz-trailer", "x-amz-checksum-crc32".parse()?);
//! headers.insert("x-amz-decoded-content-length", "9".parse()?);
//!
//! let mut verifier = BodyVerifier::from_headers(&headers)?;
//! let mut decoder = Decoder::unsigned(DecoderOptions::from_headers(&headers)?);
//! let mut body = Vec::new();
//! for packet in ["9\r\n12345", "6789\r\n0\r\nx-amz-checksum-crc32:", "y/Q5Jg==\r\n\r\n"] {
//!     let mut input = Bytes::from(packet);
//!     loop {
//!         match decoder.feed(&mut input)? {
//!             Event::NeedInput | Event::End => break,
//!             Event::Data(data) => {
//!                 verifier.update(&data)?;
//!                 body.extend_from_slice(&data);
//!             }
//!             Event::Trailers(trailers) => verifier.trailers(&trailers)?,
//!         }
//!     }
//! }
//! decoder.finish()?;
//! verifier.finish()?;
//! assert_eq!(body, b"123456789");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body_error;
mod decoder;
mod encoder;
mod error;
mod framing;
mod grammar;
mod headers;
mod options;
mod reader;
mod signatures;
mod trailers;
mod verifier;

pub use body_error::{BodyError, ChecksumSource};
pub use decoder::{Decoder, Event};
pub use encoder::{ChunkLayout, DEFAULT_CHUNK_SIZE, Encoder};
pub use error::{ChunkedError, ChunkedErrorKind};
pub use framing::{AnySignature, ChunkAuthenticator, ChunkSigner, Framing};
pub use headers::without_aws_chunked;
pub use options::DecoderOptions;
pub use reader::BodyReader;
pub use trailers::Trailers;
pub use verifier::{BodyChecksums, BodyVerifier};
