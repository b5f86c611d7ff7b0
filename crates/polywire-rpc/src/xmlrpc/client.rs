//! The client and its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use polywire_schema::{Body, Value};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::Batch;
use super::builder::{BuildError, ClientBuilder, Settings};
use super::message;
use crate::CallError;
use crate::call::CallTimeout;
use crate::connect::{Transport, guarded};

/// A client of XML-RPC methods, without a model. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) transport: Transport,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) settings: Settings,
    /// Whether the server has no `system.multicall`, as known from a fault.
    no_multicall: AtomicBool,
}

impl Inner {
    pub(super) fn new(
        transport: Transport,
        uri: Uri,
        headers: HeaderMap,
        settings: Settings,
    ) -> Self {
        Self {
            transport,
            uri,
            headers,
            settings,
            no_multicall: AtomicBool::new(false),
        }
    }

    pub(super) fn has_no_multicall(&self) -> bool {
        self.no_multicall.load(Ordering::Relaxed)
    }

    pub(super) fn set_no_multicall(&self) {
        self.no_multicall.store(true, Ordering::Relaxed);
    }

    /// Sends an encoded call and returns the body of the response.
    async fn call(&self, message: Bytes, own: &CallSettings) -> Result<Body, CallError> {
        let total = own.deadline.unwrap_or(self.settings.deadline);
        let answer = self.send(message, own, CallTimeout::start(total)).await?;
        Ok(Body::new(answer))
    }
}

impl Client {
    /// A client with the settings that [`ClientBuilder`] lists as defaults.
    ///
    /// # Errors
    ///
    /// The URL is invalid or has an unknown scheme.
    pub fn new(url: &str) -> Result<Self, BuildError> {
        Self::builder(url)?.build()
    }

    /// Creates a builder of a client of the server at a URL. The URL may have a user and a password, which are sent, and
    /// are never part of an error or `Debug` output.
    ///
    /// # Errors
    ///
    /// The URL is invalid or has an unknown scheme.
    pub fn builder(url: &str) -> Result<ClientBuilder, BuildError> {
        ClientBuilder::new(url)
    }

    /// The URL of the server, without user, password and query.
    #[must_use]
    pub fn url(&self) -> &str {
        self.inner.transport.url().shown()
    }

    /// Calls a method. The parameters are the elements of a tuple, such as `(1, "web")`, or of a list. `()` is no
    /// parameter, and any other value is the only parameter.
    /// [`XmlRpcEncoder::serialize`](polywire_codec::xmlrpc::XmlRpcEncoder::serialize) documents the types of serde in
    /// XML-RPC. The result can be any type that can be decoded from it, or a [`Value`].
    ///
    /// ```no_run
    /// #[derive(serde::Deserialize)]
    /// struct Process {
    ///     name: String,
    ///     pid: i32,
    /// }
    ///
    /// # async fn example(client: polywire_rpc::xmlrpc::Client) -> Result<(), polywire_rpc::CallError> {
    /// let process: Process = client.call("supervisor.getProcessInfo", ("web",)).await?;
    /// println!("{} is {}", process.name, process.pid);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        parameters: impl Serialize,
    ) -> Result<T, CallError> {
        self.method(method).call(parameters).await
    }

    /// Calls a method with values.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call_values(
        &self,
        method: &str,
        parameters: &[Value],
    ) -> Result<Value, CallError> {
        self.method(method).call_values(parameters).await
    }

    /// Creates a call with settings of its own.
    pub fn method<'a>(&'a self, name: &'a str) -> Method<'a> {
        Method {
            client: self,
            name,
            own: CallSettings::default(),
        }
    }

    /// Creates a batch of calls.
    pub fn batch(&self) -> Batch<'_> {
        Batch::new(self)
    }
}

impl_debug!(|this| Client { url: this.url() });

/// The settings of a single call.
#[derive(Clone, Debug, Default)]
pub(super) struct CallSettings {
    pub(super) idempotent: bool,
    pub(super) deadline: Option<Duration>,
    pub(super) headers: HeaderMap,
}

/// A call with settings of its own: see [`Client::method`].
#[derive(Clone, Debug)]
#[must_use = "nothing is sent before it is called"]
pub struct Method<'a> {
    client: &'a Client,
    name: &'a str,
    own: CallSettings,
}

impl Method<'_> {
    /// Marks the method as idempotent, so that the call may be retried: see [`ClientBuilder::retries`].
    pub const fn idempotent(mut self) -> Self {
        self.own.idempotent = true;
        self
    }

    /// Sets the time limit of the call, including retries.
    pub const fn deadline(mut self, time: Duration) -> Self {
        self.own.deadline = Some(time);
        self
    }

    /// Adds a header, and replaces one of the client with the same name.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        let value = guarded(&name, value);
        self.own.headers.insert(name, value);
        self
    }

    /// Calls the method, like [`Client::call`].
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call<T: DeserializeOwned>(
        self,
        parameters: impl Serialize,
    ) -> Result<T, CallError> {
        let inner = &self.client.inner;
        let message = message::write(self.name, &parameters, inner.settings.style)?;
        let answer = inner.call(message, &self.own).await?;
        inner
            .settings
            .read_options
            .typed(self.client.url(), &answer)
    }

    /// Calls the method with values.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub async fn call_values(self, parameters: &[Value]) -> Result<Value, CallError> {
        let inner = &self.client.inner;
        let message = message::write_values(self.name, parameters, inner.settings.style)?;
        let answer = inner.call(message, &self.own).await?;
        inner
            .settings
            .read_options
            .value(self.client.url(), &answer)
    }
}
