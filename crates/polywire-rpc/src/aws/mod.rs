//! Signatures, `aws-chunked` and checksums of AWS, for servers and clients (feature `aws`).
//!
//! | type | does |
//! |---|---|
//! | [`SignatureAuthenticator`] | accepts callers that sign their requests with SigV4 or SigV4a, in the header or as a presigned URL |
//! | [`KeyStore`], [`StaticKeys`] | finds the secret of an access key |
//! | [`BodyDecoder`] | decodes `aws-chunked`, and checks signatures of chunks, checksums and `x-amz-content-sha256` |
//!
//! | [`Signer`] | signs the requests of a client, adds checksums, and checks those of responses |
//! | [`Endpoints`] | finds the URLs of a client by endpoint rules |
//! | [`Retries`] | sends failed calls again |
//! | [`Waiters`], [`Paginations`] | wait for the state of a resource, and read all pages |
//! | [`CredentialsProvider`] | finds the credentials of a client: see [`providers`] |
//!
//! [`polywire_aws`] has the algorithms.
//!
//! ```
//! use polywire_rpc::ServerBuilder;
//! use polywire_rpc::aws::{self, Credentials, SignatureAuthenticator, StaticKeys};
//!
//! /// A server whose callers sign as clients of S3 do.
//! fn with_signatures(builder: ServerBuilder) -> ServerBuilder {
//!     let keys = StaticKeys::new([Credentials::new("AKIDEXAMPLE", "a secret of 40 characters")]);
//!     aws::install(builder, SignatureAuthenticator::s3(keys).with_region("us-east-1"))
//! }
//! ```

mod authenticator;
mod body;
mod decoding;
mod encoding;
mod endpoints;
mod events;
mod json;
mod keys;
mod presign;
pub mod providers;
mod retries;
mod signer;
mod user_agent;
mod waiters;

pub use authenticator::SignatureAuthenticator;
pub use body::{BodyDecoder, ReceivedChecksums};
pub use endpoints::Endpoints;
pub use keys::{KeyFuture, KeyStore, StaticKeys};
pub use polywire_aws::checksum::{Algorithm, Calculation};
pub use polywire_aws::retry::RetrySettings;
pub use polywire_aws::signature;
pub use polywire_aws::signature::{Credentials, VerifiedRequest};

pub use retries::Retries;
pub use signer::{CredentialsFuture, CredentialsProvider, Signer};
pub use waiters::{OperationWaiter, Paginations, WaitError, Waiters};

use crate::ServerBuilder;

/// Adds an authenticator and the [`BodyDecoder`] that it needs to a server.
pub fn install(builder: ServerBuilder, authenticator: SignatureAuthenticator) -> ServerBuilder {
    let decoder = BodyDecoder::new().with_authenticator(authenticator.clone());
    builder.authenticate(authenticator).body_filter(decoder)
}
