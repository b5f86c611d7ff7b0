//! An object store in memory that S3's clients talk to: the operations that
//! most programs use, over restXml, typed from S3's own model.
//!
//! Each file has one subject: `store.rs` the objects in memory, `bucket.rs`,
//! `object.rs`, `multipart.rs` and `listing.rs` the operations, `layer.rs` what
//! S3 does with HTTP that no model says. There are no versions, no access
//! control (signatures are not looked at) and no checksums but MD5.
#![cfg(s3_model)]
#![forbid(unsafe_code)]
#![allow(
    clippy::field_reassign_with_default,
    reason = "outputs have dozens of members, of which some are there"
)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "operations get their input as the generated server gives it"
)]

polywire::include_service!(
    /// S3, generated from its model.
    pub mod s3
);

mod bucket;
mod clock;
mod condition;
mod error;
mod layer;
mod listing;
mod multipart;
mod object;
mod range;
mod service;
mod store;

use polywire::rpc::server::HeadService;
use polywire::rpc::{BuildError, RoutedCall, Server};
use polywire::schema::Limits;
use tower::ServiceExt;

pub use service::ObjectStore;

/// What the store may cost, and where it is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The bytes that all objects may have together. Requests that are being
    /// read may take as much again.
    pub memory: u64,
    /// The most bytes of one request, so of an object that is not uploaded in
    /// parts.
    pub body: usize,
    /// The most bytes of an object.
    pub object: usize,
    /// The fewest bytes of a part that is not the last.
    pub part: usize,
    /// The domains before which buckets may stand in a host.
    pub domains: Vec<String>,
}

impl Default for Settings {
    /// What S3 has, but for the sizes.
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            body: 64 << 20,
            object: 512 << 20,
            part: 5 << 20,
            domains: vec!["localhost".to_owned(), "s3.localhost".to_owned()],
        }
    }
}

/// The server of an empty store.
///
/// # Errors
///
/// The settings do not fit each other.
pub fn server(settings: Settings) -> Result<Server, BuildError> {
    let limits = Limits::DEFAULT
        .with_bytes(settings.body)
        .with_string(settings.body);
    let http = layer::Http::new(settings.domains.clone());
    let most = settings.body;
    let check = tower::layer::layer_fn(move |inner: HeadService| {
        tower::service_fn(move |routed: RoutedCall| {
            let inner = inner.clone();
            async move {
                layer::check(&routed, most)?;
                inner.oneshot(routed).await
            }
        })
    });
    let memory = usize::try_from(settings.memory).unwrap_or(usize::MAX);
    s3::server::builder(ObjectStore::new(settings))
        .limits(limits)
        .body_memory(memory)
        .http_layer(http)
        .head_layer(check)
        .build()
}
