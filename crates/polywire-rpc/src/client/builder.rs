//! The builder of clients of a model.

use std::sync::Arc;
use std::time::Duration;

use http::header::USER_AGENT;
use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_protocol::{ClientProtocol, MountError, ProtocolKind, RequestOptions};
use polywire_schema::Limits;

use super::framed::{Framed, OpenFrames};
use super::web::Http;
use super::{Client, ConnectError, Inner, Way};
use crate::ServiceHandle;
use crate::connect::{ConnectOptions, NO_USER, Proxy, ServerUrl, Transport};
#[cfg(feature = "tls")]
use crate::tls::ClientTls;

/// Builds a [`Client`].
#[derive(Debug)]
pub struct ClientBuilder {
    pub(super) service: ServiceHandle,
    /// Or why it cannot be, which is said when it connects.
    protocol: Result<Box<dyn ClientProtocol>, MountError>,
    pub(super) headers: HeaderMap,
    pub(super) connection: ConnectOptions,
    pub(super) deadline: Duration,
    pub(super) limits: Limits,
    options: RequestOptions,
    s3_virtual_hosted: bool,
    send_deadline: bool,
    /// Opens connections for frames, if frames are the chosen protocol.
    frames: Option<OpenFrames>,
}

impl ClientBuilder {
    /// A client over a protocol, or with why there is none.
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
            frames: None,
        }
    }

    /// Speaks frames.
    pub(crate) fn over_frames(mut self) -> Self {
        self.frames = Some(Framed::open);
        self
    }

    /// Calls over a protocol that was made apart, instead of the one that was
    /// named: see [`Client::builder_over`].
    #[must_use]
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
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        let value = crate::connect::guarded(&name, value);
        self.headers.insert(name, value);
        self
    }

    /// Sets from how many bytes on the bodies of operations with
    /// `@requestCompression` are compressed; `None` for never. 10,240.
    #[must_use]
    pub const fn compress_from(mut self, bytes: Option<usize>) -> Self {
        self.options = self.options.with_compress_from(bytes);
        self
    }

    /// Sets how long a connection may take to be made: looked up, connected, through a
    /// proxy, and with TLS. 5 seconds.
    #[must_use]
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connection.timeout = time;
        self
    }

    /// Sets how long a call may take in all. 60 seconds.
    #[must_use]
    pub const fn deadline(mut self, time: Duration) -> Self {
        self.deadline = time;
        self
    }

    /// Tells the server how much of [`deadline`](Self::deadline) is left, by the header `polywire-timeout-ms`. A
    /// [`Server`](crate::Server) stops a call that its client has given up: handlers see the time as
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
    #[must_use]
    pub const fn send_deadline(mut self, send_deadline: bool) -> Self {
        self.send_deadline = send_deadline;
        self
    }

    /// Sets how long a connection that is not used is kept. 25 seconds.
    #[must_use]
    pub const fn idle_timeout(mut self, time: Duration) -> Self {
        self.connection.idle_timeout = time;
        self
    }

    /// Sets what one answer may cost.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Names the bucket of a call to S3 in the host, `bucket.s3.example.com`,
    /// instead of in the path, where it can be a label of a host
    /// ([`s3::virtual_hosted`](polywire_protocol::s3::virtual_hosted)). Off; not for services other than S3, whose
    /// paths do not begin with a bucket.
    #[must_use]
    pub const fn s3_virtual_hosted(mut self, virtual_hosted: bool) -> Self {
        self.s3_virtual_hosted = virtual_hosted;
        self
    }

    /// Speaks HTTP/2 without asking. HTTP/1.1 otherwise.
    #[must_use]
    pub const fn http2(mut self, http2: bool) -> Self {
        self.connection.http2 = http2;
        self
    }

    /// Connects by a proxy. None, whatever the environment says.
    #[must_use]
    pub fn proxy(mut self, proxy: impl Into<Option<Proxy>>) -> Self {
        self.connection.proxy = proxy.into();
        self
    }

    /// Sets how TLS is spoken with a server at `https://`.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.connection.tls = tls;
        self
    }

    /// The client of a server at `http://host:port`, or at another URL that
    /// [`connect`](crate::connect) lists, with or without a path before all paths.
    /// Connections are made when calls need them.
    ///
    /// Over [`ProtocolKind::Frame`] the URL is one that
    /// [`frames::Client`](crate::frames::Client::connect) knows, such as `tcp://host:port`, and this is
    /// called within tokio's runtime, whose tasks drive the connections. Headers become metadata, which
    /// handlers see as headers; timeouts for connecting are heeded, and all else is as frames have it:
    /// [`Client::over_frames`] takes a client with settings of its own.
    ///
    /// # Errors
    ///
    /// The URL is not one, or has a user in it, or the protocol cannot carry the
    /// service.
    pub fn connect(self, url: &str) -> Result<Client, ConnectError> {
        let way = match self.frames {
            Some(open) => Way::Frames(open(&self, url)?),
            None => Way::Http(Box::new(self.http(url)?)),
        };
        let inner = Inner {
            service: self.service,
            protocol: self.protocol.map_err(ConnectError::Mount)?,
            way,
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
        if let Err(error) = &self.protocol {
            return Err(ConnectError::Mount(error.clone()));
        }
        let transport = Transport::new(url, &self.connection)
            .map_err(|error| ConnectError::Url(error.to_string()))?;
        let mut headers = self.headers.clone();
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(concat!(
                "polywire/",
                env!("CARGO_PKG_VERSION")
            )));
        Ok(Http {
            transport,
            http2: self.connection.http2,
            headers,
            s3_virtual_hosted: self.s3_virtual_hosted,
            send_deadline: self.send_deadline,
        })
    }
}
