//! AWS Signature Version 4 and 4A.

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
