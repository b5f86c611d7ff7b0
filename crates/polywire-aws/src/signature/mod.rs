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
mod payload;
mod presign;
mod scope;
mod sign;
mod time;
mod value;
mod verify;

pub use canonical::PathRule;
pub use chunk::{ChunkSigner, ChunkVerifier, EcdsaChunkSigner};
pub use credentials::Credentials;
pub use error::{ErrorDialect, ErrorKind, Form, SignatureError};
pub use event::{EventSigner, EventVerifier, date_header};
pub use head::RequestHead;
pub use key::{KeyCache, SigningKey};
pub use payload::Payload;
pub use presign::{MAX_EXPIRY, presign, presign_request};
pub use scope::Scope;
pub use sign::{Settings, sign_request};
pub use time::{Date, SigningTime};
pub use value::{Algorithm, Signature};
pub use verify::DEFAULT_MAX_SKEW;
