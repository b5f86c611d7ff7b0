//! The builder of clients of a model.

use std::sync::Arc;
use std::time::Duration;

use http::header::USER_AGENT;
use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_protocol::{ClientProtocol, MountError, ProtocolKind, RequestOptions};
use polywire_schema::Limits;

use super::framed::{FramesClient, OpenFrames};
use super::web::{Http, Servers};
use super::{Carrier, Client, ConnectError, EndpointResolver, Inner, Interceptor, RetryPolicy};
use crate::ServiceHandle;
use crate::connect::{ConnectOptions, Hosts, NO_USER, Proxy, ServerUrl, Transport};
#[cfg(feature = "tls")]
use crate::tls::ClientTls;

/// The user agent of clients that set none.
pub(crate) const DEFAULT_USER_AGENT: &str = concat!("polywire/", env!("CARGO_PKG_VERSION"));

/// Builds a [`Client`].
#[must_use]
#[derive(Debug)]
pub struct ClientBuilder {
    pub(super) service: ServiceHandle,
    /// An error is returned by [`Self::connect`].
    pub(super) protocol: Result<Box<dyn ClientProtocol>, MountError>,
    pub(super) headers: HeaderMap,
    pub(super) connection: ConnectOptions,
    pub(super) deadline: Duration,
    pub(super) limits: Limits,
    options: RequestOptions,
    s3_virtual_hosted: bool,
    send_deadline: bool,
    interceptor: Option<Arc<dyn Interceptor>>,
    retry: Option<Arc<dyn RetryPolicy>>,
    /// Opens connections for frames, if frames are the chosen protocol.
    frames: Option<OpenFrames>,
}

impl ClientBuilder {
    /// A builder with default settings.
    pub(crate) fn new(
        service: ServiceHandle,
        protocol: Result<Box<dyn ClientProtocol>, MountError>,
    ) -> Self {
        Self {
            service,
            protocol,
            headers: HeaderMap::new(),
            connection: ConnectOptions::new(),
            deadline: Duration::from_secs(60),
            limits: Limits::DEFAULT,
            options: RequestOptions::DEFAULT,
            s3_virtual_hosted: false,
            send_deadline: false,
            interceptor: None,
            retry: None,
            frames: None,
        }
    }

    /// Uses frames.
    pub(crate) fn over_frames(mut self) -> Self {
        self.frames = Some(FramesClient::open);
        self
    }

    /// Replaces the protocol by one with settings: see [`Client::builder_over`].
    pub fn custom_protocol(mut self, protocol: Box<dyn ClientProtocol>) -> Self {
        if protocol.kind() != ProtocolKind::Frame {
            self.frames = None;
        }
        self.protocol = Ok(protocol);
        self
    }

    /// Adds a header to every call. The values of `Authorization`,
    /// `Proxy-Authorization` and `Cookie` are marked as
    /// [sensitive](HeaderValue::is_sensitive).
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        let value = crate::connect::guarded(&name, value);
        self.headers.insert(name, value);
        self
    }

    /// Sets the length from which the bodies of operations with `@requestCompression` are compressed, in bytes. The default
    /// is 10,240; `None` turns compression off.
    pub const fn compress_from(mut self, bytes: Option<usize>) -> Self {
        self.options = self.options.with_compress_from(bytes);
        self
    }

    /// Sets the time limit for connecting, from the lookup to TLS. The default is 5 seconds.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connection.timeout = time;
        self
    }

    /// Sets the time limit of a call. The default is 60 seconds.
    pub const fn deadline(mut self, time: Duration) -> Self {
        self.deadline = time;
        self
    }

    /// Tells the server how much of [`deadline`](Self::deadline) is left, by the header `polywire-timeout-ms`. A
    /// [`Server`](crate::Server) stops a call at the deadline of its client: handlers see the time as
    /// [`Context::deadline`](crate::Context::deadline).
    ///
    /// Off, because other servers do not know the header, and a proxy may reject it. Calls over frames always carry
    /// their deadline.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_rpc::{Client, ClientBuilder, ServiceHandle};
    /// use polywire_protocol::ProtocolKind;
    ///
    /// fn builder(service: ServiceHandle) -> ClientBuilder {
    ///     Client::builder(service, ProtocolKind::RestJson1)
    ///         .deadline(Duration::from_secs(2))
    ///         .send_deadline(true)
    /// }
    /// ```
    pub const fn send_deadline(mut self, send_deadline: bool) -> Self {
        self.send_deadline = send_deadline;
        self
    }

    /// Sets what changes requests over HTTP before they are sent, such as by a signature.
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptor = Some(Arc::new(interceptor));
        self
    }

    /// Sets which failed calls over HTTP are sent again. Default: none. The [`deadline`](Self::deadline) is that of the
    /// call with all its attempts. The interceptor changes each attempt.
    ///
    /// Messages with several calls are sent once, and so are streams, unless their bytes are in memory. A stream in a
    /// response that has begun is not requested again.
    ///
    /// The feature `aws` has a policy, `aws::Retries`.
    pub fn retry(mut self, policy: impl RetryPolicy) -> Self {
        self.retry = Some(Arc::new(policy));
        self
    }

    /// Sets how long an unused connection is kept. The default is 25 seconds.
    pub const fn idle_timeout(mut self, time: Duration) -> Self {
        self.connection.idle_timeout = time;
        self
    }

    /// Sets the limits of a response.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Names the bucket of a call to S3 in the host, `bucket.s3.example.com`,
    /// instead of in the path, where it can be a label of a host
    /// ([`s3::virtual_hosted`](polywire_protocol::s3::virtual_hosted)). Off; not for services other than S3, whose
    /// paths do not begin with a bucket.
    pub const fn s3_virtual_hosted(mut self, virtual_hosted: bool) -> Self {
        self.s3_virtual_hosted = virtual_hosted;
        self
    }

    /// Sets the length in bytes from which a stream waits for the consent of the server, by `Expect: 100-continue` over
    /// HTTP/1.1: a server that rejects the head does not get the body. It waits for at most one second, as servers may not
    /// know this. The default is 1 MiB; `None` turns it off. Streams of unknown length never wait.
    pub const fn expect_continue_from(mut self, bytes: Option<u64>) -> Self {
        self.connection.expect_continue_from = bytes;
        self
    }

    /// Uses HTTP/2 with prior knowledge. The default is HTTP/1.1.
    pub const fn http2(mut self, http2: bool) -> Self {
        self.connection.http2 = http2;
        self
    }

    /// Sets the proxy. The default is no proxy, whatever the environment says.
    pub fn proxy(mut self, proxy: impl Into<Option<Proxy>>) -> Self {
        self.connection.proxy = proxy.into();
        self
    }

    /// Sets the trusted certificates and the own certificate for `https://`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.connection.tls = tls;
        self
    }

    /// Creates a client of the server at a URL that [`connect`](crate::connect) lists, such as `http://host:port`. A path in
    /// the URL is the prefix of all paths. The client connects when a call needs a connection.
    ///
    /// Over [`ProtocolKind::Frame`] the URL is one of [`frames::Client`](crate::frames::Client::connect), such as
    /// `tcp://host:port`, and this must be called within the runtime of tokio. Headers become metadata, which handlers see
    /// as headers. The deadline, the limits, the time limit for connecting, the proxy and TLS apply; other settings have
    /// the defaults of frames. [`Client::over_frames`] takes a client with other settings.
    ///
    /// # Errors
    ///
    /// The URL is invalid or has a user, or the protocol cannot carry the service.
    pub fn connect(self, url: &str) -> Result<Client, ConnectError> {
        let carrier = match self.frames {
            Some(open) => Carrier::Messages(open(&self, url)?),
            None => Carrier::Http(Box::new(self.http(url)?)),
        };
        self.with_carrier(carrier)
    }

    /// Creates a client of the servers that `resolver` finds for each call. It keeps connections to the 64 hosts of the
    /// latest calls.
    ///
    /// [`s3_virtual_hosted`](Self::s3_virtual_hosted) has no effect, as the resolver names the whole host.
    ///
    /// # Errors
    ///
    /// The protocol cannot carry the service, or is not over HTTP.
    pub fn connect_with(self, resolver: impl EndpointResolver) -> Result<Client, ConnectError> {
        if self.frames.is_some() {
            let reason = "frames have no endpoints for each call";
            return Err(ConnectError::Url(reason.to_owned()));
        }
        let servers = Servers::Resolved {
            resolver: Arc::new(resolver),
            hosts: Hosts::new(self.connection.clone()),
        };
        let carrier = Carrier::Http(Box::new(self.http_over(servers)?));
        self.with_carrier(carrier)
    }

    /// Creates a client over a carrier.
    pub(super) fn with_carrier(self, carrier: Carrier) -> Result<Client, ConnectError> {
        let inner = Inner {
            service: self.service,
            protocol: self.protocol.map_err(ConnectError::Mount)?,
            carrier,
            deadline: self.deadline,
            limits: self.limits,
            options: self.options,
        };
        Ok(Client {
            inner: Arc::new(inner),
        })
    }

    fn http(&self, url: &str) -> Result<Http, ConnectError> {
        let url = ServerUrl::for_http(url).map_err(|error| ConnectError::Url(error.to_string()))?;
        if url.credentials.is_some() {
            return Err(ConnectError::Url(NO_USER.to_owned()));
        }
        let transport = Transport::new(url, &self.connection)
            .map_err(|error| ConnectError::Url(error.to_string()))?;
        self.http_over(Servers::One(transport))
    }

    fn http_over(&self, servers: Servers) -> Result<Http, ConnectError> {
        if let Err(error) = &self.protocol {
            return Err(ConnectError::Mount(error.clone()));
        }
        let mut headers = self.headers.clone();
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(DEFAULT_USER_AGENT));
        Ok(Http {
            servers,
            http2: self.connection.http2,
            headers,
            s3_virtual_hosted: self.s3_virtual_hosted,
            send_deadline: self.send_deadline,
            interceptor: self.interceptor.clone(),
            retry: self.retry.clone(),
        })
    }
}
