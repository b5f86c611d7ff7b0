//! Requests whose URL depends on the call.

use std::error::Error;
use std::fmt;

use http::{Extensions, HeaderMap};
use polywire_codec::Message;
use polywire_schema::Operation;

/// Finds the URL of each call of a [`Client`](crate::Client) over HTTP.
///
/// [`ClientBuilder::connect_with`](crate::ClientBuilder::connect_with) takes one. The feature `aws` has `aws::Endpoints`,
/// which evaluates the endpoint rules of a model.
///
/// ```
/// use polywire_codec::Message;
/// use polywire_rpc::client::{EndpointResolver, RequestEndpoint};
/// use polywire_schema::Operation;
///
/// /// Reads from one server, and writes to another.
/// #[derive(Debug)]
/// struct Replicated;
///
/// impl EndpointResolver for Replicated {
///     fn resolve(
///         &self,
///         operation: Operation<'_>,
///         _: &dyn Message,
///     ) -> Result<RequestEndpoint, Box<dyn std::error::Error + Send + Sync>> {
///         use polywire_schema::OperationFlags;
///         Ok(RequestEndpoint::new(match operation.has(OperationFlags::READONLY) {
///             true => "https://replica.example",
///             false => "https://primary.example",
///         }))
///     }
/// }
/// ```
pub trait EndpointResolver: fmt::Debug + Send + Sync + 'static {
    /// The endpoint of a call.
    ///
    /// # Errors
    ///
    /// There is none for this input. The call fails with [`CallErrorKind::Encode`](crate::CallErrorKind::Encode).
    fn resolve(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<RequestEndpoint, Box<dyn Error + Send + Sync>>;
}

/// Where a request goes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestEndpoint {
    /// The URL: `http` or `https`, a host, and optionally a port and a path, which is the prefix of the path.
    pub url: String,
    /// Headers that the request gets.
    pub headers: HeaderMap,
    /// For interceptors: what the request has in its extensions, such as the region to sign for.
    pub extensions: Extensions,
    /// Whether the URL has what the model binds to the first segment of the path, which is removed: the bucket of S3.
    pub replaces_first_segment: bool,
}

impl RequestEndpoint {
    /// An endpoint that is only a URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            replaces_first_segment: false,
        }
    }
}
