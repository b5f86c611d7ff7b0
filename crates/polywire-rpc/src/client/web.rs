//! Requests over HTTP.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderValue, Request, Uri};
use polywire_protocol::{HostPrefix, s3};
use polywire_schema::Error;

use super::{EndpointResolver, Interceptor, RequestEndpoint, RetryPolicy};
use crate::CallError;
use crate::connect::{Hosts, Transport, UrlError};

/// The connection settings of a client over HTTP.
#[derive(Debug)]
pub(super) struct Http {
    pub(super) servers: Servers,
    pub(super) http2: bool,
    pub(super) headers: HeaderMap,
    pub(super) s3_virtual_hosted: bool,
    /// Whether to send the time that is left.
    pub(super) send_deadline: bool,
    pub(super) interceptor: Option<Arc<dyn Interceptor>>,
    pub(super) retry: Option<Arc<dyn RetryPolicy>>,
}

/// The servers of a client.
#[derive(Debug)]
pub(super) enum Servers {
    /// The one of the URL of the client.
    One(Transport),
    /// Those that a resolver finds.
    Resolved {
        resolver: Arc<dyn EndpointResolver>,
        hosts: Hosts,
    },
}

impl Servers {
    pub(super) fn resolver(&self) -> Option<&dyn EndpointResolver> {
        match self {
            Self::One(_) => None,
            Self::Resolved { resolver, .. } => Some(&**resolver),
        }
    }

    /// The transport of a request.
    pub(super) fn transport(&self, uri: &Uri) -> Result<Cow<'_, Transport>, UrlError> {
        match self {
            Self::One(transport) => Ok(Cow::Borrowed(transport)),
            Self::Resolved { hosts, .. } => Ok(Cow::Owned(hosts.transport(uri)?)),
        }
    }
}

fn internal(reason: String) -> CallError {
    let error = Error::new(polywire_schema::ErrorKind::Internal);
    CallError::encode(error.expected(reason))
}

fn target(request: &Request<Bytes>) -> &str {
    let target = request.uri().path_and_query();
    target.map_or("/", |target| target.as_str())
}

impl Http {
    /// Completes a request of a protocol: the whole URL, and the headers of the client. `endpoint` is that of the
    /// resolver.
    pub(super) fn address(
        &self,
        request: &mut Request<Bytes>,
        endpoint: Option<RequestEndpoint>,
    ) -> Result<(), CallError> {
        match (&self.servers, endpoint) {
            (_, Some(endpoint)) => resolve(request, endpoint)?,
            (Servers::One(transport), None) => self.address_one(request, transport)?,
            (Servers::Resolved { .. }, None) => {
                let reason =
                    "a client whose calls have different URLs sends no messages with several calls";
                return Err(CallError::usage(reason));
            }
        }
        for (name, value) in &self.headers {
            request
                .headers_mut()
                .entry(name)
                .or_insert_with(|| value.clone());
        }
        Ok(())
    }

    /// Completes the URL of a request to the server of the client.
    fn address_one(
        &self,
        request: &mut Request<Bytes>,
        transport: &Transport,
    ) -> Result<(), CallError> {
        if self.s3_virtual_hosted {
            s3::virtual_hosted(request);
        }
        let target = target(request);
        let server = transport.url();
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
        if let Some(host) = virtual_host.filter(|_| !self.http2) {
            let host = HeaderValue::try_from(host);
            let host = host.map_err(|error| internal(format!("a host: {error}")))?;
            request.headers_mut().insert(HOST, host);
        }
        Ok(())
    }
}

/// Sends a request to an endpoint of a resolver.
fn resolve(request: &mut Request<Bytes>, endpoint: RequestEndpoint) -> Result<(), CallError> {
    let invalid =
        |reason: &str| CallError::encode_text(format!("the endpoint {} {reason}", endpoint.url));
    let base: Uri = endpoint.url.parse().map_err(|_| invalid("is not a URL"))?;
    let (Some(scheme @ ("http" | "https")), Some(authority)) =
        (base.scheme_str(), base.authority())
    else {
        return Err(invalid("is not a URL of http or https"));
    };
    if base.query().is_some() || authority.as_str().contains('@') {
        return Err(invalid("has a query or a user"));
    }
    let path = base.path().trim_end_matches('/');
    let mut target = target(request);
    if endpoint.replaces_first_segment {
        let rest = target.strip_prefix('/').unwrap_or(target);
        target = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
    }
    // `/` if there is nothing before the query.
    let slash = match path.is_empty() && !target.starts_with('/') {
        true => "/",
        false => "",
    };
    // The rules of some services have the prefix already.
    let prefix = request.extensions().get::<HostPrefix>();
    let prefix = prefix.map_or("", |HostPrefix(prefix)| prefix);
    let prefix = match authority.as_str().starts_with(prefix) {
        true => "",
        false => prefix,
    };
    let url = format!("{scheme}://{prefix}{authority}{path}{slash}{target}");
    *request.uri_mut() = url
        .parse()
        .map_err(|error| internal(format!("a URL, not {url}: {error}")))?;
    request.headers_mut().extend(endpoint.headers);
    request.extensions_mut().extend(endpoint.extensions);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(target: &str, endpoint: &str, replaces: bool, prefix: Option<&str>) -> String {
        let mut request = Request::get(target).body(Bytes::new()).unwrap();
        if let Some(prefix) = prefix {
            request
                .extensions_mut()
                .insert(HostPrefix(prefix.to_owned()));
        }
        let mut endpoint = RequestEndpoint::new(endpoint);
        endpoint.replaces_first_segment = replaces;
        match resolve(&mut request, endpoint) {
            Ok(()) => request.uri().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn urls_of_endpoints() {
        for (target, endpoint, replaces, expected) in [
            ("/a/b?c", "https://h", false, "https://h/a/b?c"),
            ("/", "http://h:1/p/", false, "http://h:1/p/"),
            ("/b/k/l?q", "https://b.h", true, "https://b.h/k/l?q"),
            ("/b//k", "https://h/b", true, "https://h/b//k"),
            ("/b?q", "https://b.h", true, "https://b.h/?q"),
            ("/b?q", "https://h/b", true, "https://h/b?q"),
            ("/b", "https://b.h", true, "https://b.h/"),
        ] {
            assert_eq!(url(target, endpoint, replaces, None), expected);
        }
        assert_eq!(url("/a", "https://h", false, Some("x.")), "https://x.h/a");
        assert_eq!(url("/a", "https://x.h", false, Some("x.")), "https://x.h/a");
        for endpoint in ["h", "ftp://h", "https://h/?a", "https://u@h", "https:///a"] {
            let text = url("/a", endpoint, false, None);
            assert!(text.contains("the endpoint"), "{text}");
        }
    }
}
