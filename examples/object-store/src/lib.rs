//! An object store on disk that S3's clients talk to: the operations that most programs use, over restXml, typed from
//! S3's own model.
//!
//! | module | subject |
//! |---|---|
//! | `storage` | the data on disk, without S3's messages |
//! | `object`, `multipart`, `listing`, `bucket`, `tagging`, `access` | the operations |
//! | `form` | uploads by HTML forms |
//! | `condition`, `range` | conditional requests and ranges of HTTP |
//! | `error`, `document` | S3's errors |
//! | `layer`, `refusal` | what S3 does with HTTP that its model does not say |
//! | `service` | which function implements which operation |
//!
//! A caller with a valid signature may do everything. Without access keys, signatures are not checked.
#![cfg(s3_model)]
#![forbid(unsafe_code)]
#![allow(
    clippy::field_reassign_with_default,
    reason = "outputs have dozens of members, most of which are absent"
)]
#![allow(
    clippy::unused_async,
    reason = "all operations have the same signature"
)]

polywire::include_service!(
    /// S3, generated from its model.
    pub mod s3
);

mod access;
mod bucket;
mod clock;
mod condition;
mod convert;
mod document;
mod error;
mod form;
pub mod keys;
mod layer;
mod listing;
mod multipart;
mod object;
mod range;
mod refusal;
mod service;
mod storage;
mod tagging;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use polywire::rpc::aws::{self, BodyDecoder, Credentials, SignatureAuthenticator, StaticKeys};
use polywire::rpc::server::HeadService;
use polywire::rpc::server::Timeouts;
use polywire::rpc::{RoutedCall, Server};
use polywire::schema::Limits;
use tower::ServiceExt;

pub use service::ObjectStore;
pub use storage::OpenError;

/// The most bytes of a request that is not the body of an object: lists of 10,000 parts or of 1,000 keys.
const DOCUMENT: usize = 8 << 20;
/// The most time for an upload or a download.
const TRANSFER: Duration = Duration::from_secs(24 * 60 * 60);

/// Where the store is, and its limits.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory of the data.
    pub data: PathBuf,
    /// Whether a change is on disk when it is acknowledged. Otherwise it is in the cache of the kernel: it survives the
    /// end of the process, but not a loss of power.
    pub fsync: bool,
    /// The most bytes of one request: of an object that is not uploaded in parts, or of a part.
    pub put: u64,
    /// The most bytes of an object.
    pub object: u64,
    /// The fewest bytes of a part that is not the last.
    pub part: u64,
    /// The domains that follow a bucket in a host.
    pub domains: Vec<String>,
    /// The access keys of callers. If there are none, signatures are not checked.
    pub keys: Vec<Credentials>,
}

impl Settings {
    /// The limits of S3, for a store in a directory.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            fsync: false,
            put: 5 << 30,
            object: 5 << 40,
            part: 5 << 20,
            domains: vec!["localhost".to_owned(), "s3.localhost".to_owned()],
            keys: Vec::new(),
        }
    }
}

/// Opens the store, and builds its server.
///
/// # Errors
///
/// The store cannot be opened: see [`ObjectStore::open`].
pub fn server(settings: Settings) -> Result<Server, Box<dyn std::error::Error + Send + Sync>> {
    let own = Arc::new(ObjectStore::open(settings)?);
    let limits = Limits::DEFAULT.with_bytes(DOCUMENT).with_string(DOCUMENT);
    let http = layer::Http::new(own.settings.domains.clone(), Arc::clone(&own));
    let most = own.settings.put;
    let check = tower::layer::layer_fn(move |inner: HeadService| {
        tower::service_fn(move |routed: RoutedCall| {
            let inner = inner.clone();
            async move {
                refusal::check(&routed, most)?;
                inner.oneshot(routed).await
            }
        })
    });
    let keys = own.settings.keys.clone();
    let builder = s3::server::builder(own);
    let builder = match keys.is_empty() {
        true => builder.body_filter(BodyDecoder::new()),
        false => aws::install(builder, SignatureAuthenticator::s3(StaticKeys::new(keys))),
    };
    Ok(builder
        .body_filter(layer::WithoutEmptyAcl)
        .limits(limits)
        .stream_bytes(most)
        .timeouts(Timeouts::DEFAULT.with_stream(TRANSFER))
        .http_layer(http)
        .head_layer(check)
        .build()?)
}
