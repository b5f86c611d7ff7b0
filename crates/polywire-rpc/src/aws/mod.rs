//! What clients and servers of AWS need beside a protocol (feature `aws`).
//!
//! | servers | does |
//! |---|---|
//! | [`SignatureAuthenticator`] | accepts callers that sign their requests with SigV4 or SigV4a, in the header or as a presigned URL |
//! | [`KeyStore`], [`StaticKeys`] | finds the secret of an access key |
//! | [`BodyDecoder`] | decodes `aws-chunked`, and checks signatures of chunks, checksums and `x-amz-content-sha256` |
//! | [`install`] | adds an authenticator and its decoder to a server |
//!
//! | clients | does |
//! |---|---|
//! | [`Signer`] | signs requests, adds checksums, checks those of responses, and presigns URLs |
//! | [`CredentialsProvider`], [`providers`] | finds the credentials |
//! | [`Endpoints`] | finds the URLs of calls by endpoint rules |
//! | [`Retries`] | sends failed calls again |
//! | [`Waiters`], [`Paginations`] | waits for the state of a resource, and reads all pages |
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
