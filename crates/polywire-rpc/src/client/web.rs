//! Requests over HTTP.

use std::sync::Arc;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderValue, Request};
use polywire_protocol::{HostPrefix, s3};
use polywire_schema::Error;

use super::{Interceptor, RetryPolicy};
use crate::CallError;
use crate::connect::Transport;

/// The connection settings of a client over HTTP.
#[derive(Debug)]
pub(super) struct Http {
    pub(super) transport: Transport,
    pub(super) http2: bool,
    pub(super) headers: HeaderMap,
    pub(super) s3_virtual_hosted: bool,
    /// Whether to send the time that is left.
    pub(super) send_deadline: bool,
    pub(super) interceptor: Option<Arc<dyn Interceptor>>,
    pub(super) retry: Option<Arc<dyn RetryPolicy>>,
}

impl Http {
    /// Completes a request of a protocol: the whole URL, and the headers of the client.
    pub(super) fn address(&self, request: &mut Request<Bytes>) -> Result<(), CallError> {
        if self.s3_virtual_hosted {
            s3::virtual_hosted(request);
        }
        let internal = |reason: String| {
            let error = Error::new(polywire_schema::ErrorKind::Internal);
            CallError::encode(error.expected(reason))
        };
        let target = request
            .uri()
            .path_and_query()
            .map_or("/", |target| target.as_str());
        let server = self.transport.url();
        let base = server.target.as_ref().map_or("", |target| target.path());
        let base = base.trim_end_matches('/');
        let authority = server.authority.as_str();
        // The prefix is part of a virtual host. The connection goes to the host of the URL. HTTP/2 has the virtual host in
        // the URL, and HTTP/1 in a header.
        let prefix = request.extensions().get::<HostPrefix>();
        let virtual_host = prefix.map(|HostPrefix(prefix)| format!("{prefix}{authority}"));
        let host = virtual_host.as_deref().filter(|_| self.http2);
        let scheme = server.http_scheme();
        let url = format!("{scheme}://{}{base}{target}", host.unwrap_or(authority));
        *request.uri_mut() = url
            .parse()
            .map_err(|error| internal(format!("a URL, not {url}: {error}")))?;
        for (name, value) in &self.headers {
            request
                .headers_mut()
                .entry(name)
                .or_insert_with(|| value.clone());
        }
        if let Some(host) = virtual_host.filter(|_| !self.http2) {
            let host = HeaderValue::try_from(host);
            let host = host.map_err(|error| internal(format!("a host: {error}")))?;
            request.headers_mut().insert(HOST, host);
        }
        Ok(())
    }
}
