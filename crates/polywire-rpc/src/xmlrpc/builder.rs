//! The builder of clients.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_codec::xmlrpc::{Duplicates, Leniency, Style, XmlRpcProfile};
use polywire_schema::Limits;

use super::client::{Client, Inner};
use super::message::ReadOptions;
use super::{Exchange, exchange};
use crate::connect::{ConnectOptions, Proxy, ServerUrl, Transport, UrlError, UserInfo, guarded};
#[cfg(feature = "tls")]
use crate::tls::ClientTls;

/// Builds a [`Client`].
///
/// | option | default |
/// |---|---|
/// | [`connect_timeout`](Self::connect_timeout) | 5 s |
/// | [`deadline`](Self::deadline) | 60 s for a call with its retries |
/// | [`send_deadline`](Self::send_deadline) | the deadline is not sent |
/// | [`idle_timeout`](Self::idle_timeout) | connections are kept for 25 s |
/// | [`limits`](Self::limits) | [`Limits::DEFAULT`] |
/// | [`retries`](Self::retries) | 2, of calls that are [`idempotent`](super::Method::idempotent) |
/// | [`redirects`](Self::redirects) | 5, by 307 and 308, within the server |
/// | [`proxy`](Self::proxy) | none, even if the environment names one |
/// | [`leniency`](Self::leniency) | [`Leniency::STRICT`] |
#[must_use = "`build` creates the client"]
pub struct ClientBuilder<C = Client> {
    url: ServerUrl,
    connection: ConnectOptions,
    headers: HeaderMap,
    error: Option<BuildError>,
    settings: Settings,
    client: PhantomData<fn() -> C>,
}

/// The type of the client: [`Client`], or the [blocking client](super::blocking::Client). No other type can implement
/// this.
pub trait Built: Sized {
    /// Converts the asynchronous client.
    #[doc(hidden)]
    fn of(client: Client) -> Result<Self, BuildError>;
}

impl Built for Client {
    fn of(client: Client) -> Result<Self, BuildError> {
        Ok(client)
    }
}

/// The settings of all calls.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) deadline: Duration,
    /// Whether to send the time that is left.
    pub(super) send_deadline: bool,
    pub(super) read_options: ReadOptions,
    pub(super) style: Style,
    pub(super) retries: u32,
    pub(super) redirects: u32,
    pub(super) compress_from: Option<usize>,
    pub(super) observer: Option<Observer>,
}

pub(super) type Observer = Arc<dyn Fn(&Exchange) + Send + Sync>;

/// Why a client could not be created.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The URL is invalid or has an unknown scheme, or the settings do not fit it.
    #[error("{0}")]
    Url(UrlError),
    /// A header has a name or value that is not valid in HTTP. The value is not part of the error.
    #[error("{0}")]
    Header(String),
    /// The runtime of the blocking client could not be created.
    #[error("no runtime for the blocking client: {0}")]
    Runtime(String),
}

impl From<UrlError> for BuildError {
    fn from(error: UrlError) -> Self {
        Self::Url(error)
    }
}

impl<C: Built> ClientBuilder<C> {
    pub(super) fn new(url: &str) -> Result<Self, BuildError> {
        let mut url = ServerUrl::for_http(url)?;
        let mut headers = HeaderMap::new();
        let agent = concat!("polywire/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/xml"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        if let Some(credentials) = url.credentials.take() {
            headers.insert(AUTHORIZATION, credentials.basic());
        }
        Ok(Self {
            url,
            connection: ConnectOptions::new(),
            headers,
            error: None,
            client: PhantomData,
            settings: Settings {
                deadline: Duration::from_secs(60),
                send_deadline: false,
                read_options: ReadOptions {
                    profile: XmlRpcProfile::DEFAULT.for_client(),
                    limits: Limits::DEFAULT,
                },
                style: Style::DEFAULT,
                retries: 2,
                redirects: 5,
                compress_from: None,
                observer: None,
            },
        })
    }

    /// Sends a user and a password (RFC 7617), like a user in the URL.
    pub fn basic(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        let user = user.into();
        if user.contains(':') {
            self.error = Some(BuildError::Header(
                "a user with a colon has no form in HTTP".to_owned(),
            ));
            return self;
        }
        let password = password.into();
        let credentials = UserInfo { user, password };
        self.headers.insert(AUTHORIZATION, credentials.basic());
        self
    }

    /// Sends a token (RFC 6750).
    pub fn bearer(mut self, token: impl AsRef<str>) -> Self {
        match HeaderValue::try_from(format!("Bearer {}", token.as_ref())) {
            Ok(mut value) => {
                value.set_sensitive(true);
                self.headers.insert(AUTHORIZATION, value);
            }
            Err(_) => {
                let reason = "the token has characters that a header cannot have";
                self.error = Some(BuildError::Header(reason.to_owned()));
            }
        }
        self
    }

    /// Adds a header to every call, and replaces one with the same name. The values of
    /// `Authorization`, `Proxy-Authorization` and `Cookie` are marked as
    /// [sensitive](HeaderValue::is_sensitive).
    pub fn header<N, V>(mut self, name: N, value: V) -> Self
    where
        N: TryInto<HeaderName>,
        V: TryInto<HeaderValue>,
    {
        let (Ok(name), Ok(value)) = (name.try_into(), value.try_into()) else {
            let reason = "a header has a name or a value with characters that HTTP refuses";
            self.error = Some(BuildError::Header(reason.to_owned()));
            return self;
        };
        let value = guarded(&name, value);
        self.headers.insert(name, value);
        self
    }

    /// Sets the time limit for connecting, from the lookup to TLS. The default is 5 seconds.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connection.timeout = time;
        self
    }

    /// Sets the time limit of a call, including redirects and retries. The default is 60 seconds.
    pub const fn deadline(mut self, time: Duration) -> Self {
        self.settings.deadline = time;
        self
    }

    /// Tells the server how much of the deadline is left, at each attempt, by the header `polywire-timeout-ms`. A
    /// [`Server`](crate::Server) of this library stops a call at the deadline of its client: handlers see the time as
    /// [`Context::deadline`](crate::Context::deadline).
    ///
    /// Off, because other servers do not know the header, and a proxy may reject it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_rpc::xmlrpc::Client;
    /// use polywire_rpc::{Context, Methods, Server};
    /// use tokio::time::Instant;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().method("timeLeft", |(): (), context: Context| async move {
    ///     let deadline = context.deadline();
    ///     deadline.map(|deadline| (deadline - Instant::now()).as_secs_f64())
    /// });
    /// let server = Server::methods(methods).build()?;
    /// let running = server.listen("127.0.0.1:0".parse()?).await?;
    ///
    /// let client = Client::builder(&format!("http://{}/RPC2", running.address()))?
    ///     .deadline(Duration::from_secs(2))
    ///     .send_deadline(true)
    ///     .build()?;
    /// let left: f64 = client.call("timeLeft", ()).await?;
    /// assert!(left <= 2.0);
    /// # Ok(()) }
    /// ```
    pub const fn send_deadline(mut self, send_deadline: bool) -> Self {
        self.settings.send_deadline = send_deadline;
        self
    }

    /// Sets how long an unused connection is kept. The default is 25 seconds, because many servers close a connection after
    /// 30 seconds, and a call should not find a closed one. At most 100 connections are kept.
    pub const fn idle_timeout(mut self, time: Duration) -> Self {
        self.connection.idle_timeout = time;
        self
    }

    /// Sets the limits of a response: its length (as received, and decompressed), depth, items and strings.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.settings.read_options.limits = limits;
        self
    }

    /// Sets which invalid forms are accepted, for servers that send them.
    pub const fn leniency(mut self, leniency: Leniency) -> Self {
        self.settings.read_options.profile.leniency = leniency;
        self
    }

    /// Sets how duplicate members of a struct are read. The default is an error.
    pub const fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.settings.read_options.profile.duplicates = duplicates;
        self
    }

    /// Sets how calls are encoded where there is a choice: nil, strings without a tag, characters that XML forbids.
    pub const fn style(mut self, style: Style) -> Self {
        self.settings.style = style;
        self
    }

    /// Sets how often an [`idempotent`](super::Method::idempotent) call is retried: if the connection is refused, if the
    /// server has closed a reused connection without a byte of a response, or responds with 503 or 429 and `Retry-After`.
    /// The default is 2. Other calls are never sent twice.
    pub const fn retries(mut self, retries: u32) -> Self {
        self.settings.retries = retries;
        self
    }

    /// Sets how many redirects a call follows, with 307 or 308 and within the server of the URL. The default is 5. Other
    /// redirects are an error that names the target: 301, 302 and 303 turn a call into a GET, and another server must not
    /// receive the password.
    pub const fn redirects(mut self, redirects: u32) -> Self {
        self.settings.redirects = redirects;
        self
    }

    /// Compresses calls of at least this many bytes with gzip. The default is `None`, because few servers support it.
    pub const fn compress_from(mut self, bytes: Option<usize>) -> Self {
        self.settings.compress_from = bytes;
        self
    }

    /// Sets the proxy. The default is no proxy. [`Proxy::from_environment`] reads the environment.
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

    /// Calls an observer with each request before it is sent, and with its response. Headers with secrets are marked as
    /// [sensitive](HeaderValue::is_sensitive).
    pub fn observer(mut self, observer: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        self.settings.observer = Some(Arc::new(observer));
        self
    }

    /// Creates the client. It connects when a call needs a connection.
    ///
    /// # Errors
    ///
    /// As [`BuildError`] says.
    pub fn build(self) -> Result<C, BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let target = self.url.target_or("/RPC2");
        let transport = Transport::new(self.url, &self.connection)?;
        let uri = exchange::uri(transport.url(), target)?;
        let inner = Inner::new(transport, uri, self.headers, self.settings);
        C::of(Client {
            inner: Arc::new(inner),
        })
    }
}

impl<C> fmt::Debug for ClientBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("url", &self.url)
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}
