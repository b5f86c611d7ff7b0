//! AWS Signature Version 4 (SigV4) and 4A (SigV4a): signing and verification.
//!
//! A signature covers the method, path, query, some headers and the body of a request, one day, region
//! and service. It is in the header `Authorization`, or in the query of a presigned URL.
//!
//! ```text
//! secret ── SigningKey::derive ──► SigningKey ──────────────┐
//! head ──► canonical request ── SHA-256 ──► string to sign ─┴─► Signature ──► chunks, events
//! ```
//!
//! | client | server | for |
//! |---|---|---|
//! | [`sign_request`] | [`SignedRequest::parse`], [`Verifier::verify`] | requests |
//! | [`presign`], [`presign_request`] | the same | presigned URLs |
//! | [`ChunkSigner`], [`EcdsaChunkSigner`] | [`ChunkVerifier`] | chunks and trailers of `aws-chunked` |
//! | [`EventSigner`] | [`EventVerifier`] | messages of event streams |
//! | [`SigningKey::sign`] | [`FormPolicy::parse`], [`SignedForm::verify`] | form uploads to S3 |
//!
//! Between `parse` and `verify`, the server looks up the credentials of the access key id. Errors know
//! the code and the status of each family of services: [`SignatureError::code`].
//!
//! # Example
//!
//! ```
//! use polywire_aws::signature::{
//!     Credentials, ErrorDialect, KeyCache, Payload, Settings, SignedRequest, SigningTime, Verifier,
//!     sign_request,
//! };
//! use polywire_text::Timestamp;
//!
//! let credentials = Credentials::new("AKIDEXAMPLE", "secret");
//! let now = Timestamp::new(1_440_938_160, 0);
//! let body = b"{}";
//!
//! // The client.
//! let mut keys = KeyCache::default();
//! let time = SigningTime::new(now).unwrap();
//! let key = keys.key(&credentials, time, "us-east-1", "dynamodb");
//! let request = http::Request::post("https://dynamodb.us-east-1.amazonaws.com/").body(()).unwrap();
//! let (mut parts, ()) = request.into_parts();
//! sign_request(&mut parts, Payload::of(body), &key, &Settings::STANDARD, time)?;
//!
//! // The server, which has read the body.
//! let verifier = Verifier::new("dynamodb");
//! let Payload::Sha256(hash) = Payload::of(body) else { unreachable!() };
//! let signed = SignedRequest::parse(&parts)?;
//! let key = signed.signing_key(&credentials);
//! let verified = verifier.verify(&signed, &key, now, Some(&hash))?;
//! assert_eq!(verified.access_key_id(), "AKIDEXAMPLE");
//!
//! // Another body.
//! let error = verifier.verify(&signed, &key, now, Some(&[0; 32])).unwrap_err();
//! assert_eq!(error.code(ErrorDialect::AwsJson), "InvalidSignatureException");
//! # Ok::<(), polywire_aws::signature::SignatureError>(())
//! ```
//!
//! # Canonical form
//!
//! - Path: Amazon S3 takes it as it is sent, so keys may contain `//` and `..`; characters that need an
//!   escape and do not have one get one. Other services normalise it and encode it again
//!   ([`PathRule`]).
//! - Query: names and values are decoded, with `+` as a space, encoded in one way, and sorted.
//! - Headers: lower-case names in ascending order; values without white space at the ends, and with
//!   single spaces inside; values of the same name are joined by commas.
//! - Body: its SHA-256, or a keyword ([`Payload`]).
//!
//! # What verification requires
//!
//! - one signature, and none of its headers and parameters twice;
//! - the scope that the server expects ([`Verifier::with_region`], [`Verifier::with_services`]);
//! - a time that differs by at most 15 minutes, or a presigned URL that is not expired;
//! - `host` and all headers `x-amz-*` signed; S3 also requires `x-amz-content-sha256` in header form;
//! - the session token of the credentials, which must not be expired.
//!
//! Signatures of Version 4 and session tokens are compared in constant time. Secrets are zeroized when
//! they are dropped, and neither errors nor `Debug` contain them. Sizes are bounded:
//! see [`SignedRequest::parse`]. Time and memory are proportional to the head, apart from the sorting
//! of headers and parameters.
//!
//! A captured request can be sent again while it is valid. Version 4 has no nonce.
//!
//! # Specifications
//!
//! - "AWS Signature Version 4 for API requests", AWS Identity and Access Management user guide;
//! - "Authenticating Requests (AWS Signature Version 4)", Amazon S3 API reference;
//! - "Setting up a streaming request", Amazon Transcribe developer guide, for events.
//!
//! # Features
//!
//! `sigv4a` adds SigV4a, ECDSA over P-256, with the crate `p256`. Without it, such requests are
//! rejected with [`ErrorKind::UnsupportedAlgorithm`].

mod canonical;
mod chunk;
mod credentials;
#[cfg(feature = "sigv4a")]
mod ecdsa;
mod error;
mod event;
mod hash;
mod head;
mod key;
mod parse;
mod payload;
mod policy;
mod presign;
mod scope;
mod sign;
mod time;
mod value;
mod verified;
mod verify;

pub use canonical::PathRule;
pub use chunk::{ChunkSigner, ChunkVerifier, EcdsaChunkSigner};
pub use credentials::Credentials;
pub use error::{ErrorDialect, ErrorKind, Form, SignatureError};
pub use event::{EventSigner, EventVerifier, date_header};
pub use head::RequestHead;
pub use key::{KeyCache, SigningKey};
pub use parse::SignedRequest;
pub use payload::Payload;
pub use policy::{FormPolicy, MAX_POLICY, SignedForm};
pub use presign::{MAX_EXPIRY, presign, presign_request};
pub use scope::Scope;
pub use sign::{Settings, authorization, insert_headers, sign_request};
pub use time::{Date, SigningTime};
pub use value::{Algorithm, Signature};
pub use verified::VerifiedRequest;
pub use verify::{DEFAULT_MAX_SKEW, Verifier};
