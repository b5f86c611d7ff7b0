//! The client for programs without an asynchronous runtime.
//!
//! ```no_run
//! use polywire_rpc::xmlrpc::blocking::Client;
//!
//! let client = Client::builder("http://localhost:9001")?.basic("user", "secret").build()?;
//! let methods: Vec<String> = client.call("system.listMethods", ())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It can be used from any thread that may wait, and from several at once. In a program with an
//! asynchronous runtime these are the threads of tokio's `spawn_blocking`, what is within its
//! `block_in_place`, and threads of the program's own. An asynchronous task may not wait, since
//! its thread would stand still for all others: there every call is
//! a [`CallErrorKind::Usage`](crate::CallErrorKind::Usage), and nothing is sent. Only a task that is
//! `tokio::task::unconstrained` is not told from a thread that may wait; there tokio panics.
//!
//! ```
//! # async fn example(client: polywire_rpc::xmlrpc::blocking::Client)
//! # -> Result<(), Box<dyn std::error::Error>> {
//! let state = tokio::task::spawn_blocking(move || client.call::<String>("state", ())).await??;
//! # Ok(()) }
//! ```

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use polywire_schema::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Handle, Runtime};
use tokio::task::coop;

use super::batch::{self, BatchCall, Replies};
use super::builder::{BuildError, Built, ClientBuilder};
use super::client;
use crate::CallError;

/// A blocking client of XML-RPC methods, without a model. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    client: client::Client,
    runtime: Arc<ClientRuntime>,
}

/// The runtime that connections live on. They move while somebody calls.
struct ClientRuntime(Option<Runtime>);

impl Drop for ClientRuntime {
    /// Without waiting for anything, which a thread of another runtime may not do.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Built for Client {
    fn of(client: client::Client) -> Result<Self, BuildError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| BuildError::Runtime(error.to_string()))?;
        let runtime = Arc::new(ClientRuntime(Some(runtime)));
        Ok(Self { client, runtime })
    }
}

impl Client {
    /// A client with the settings that [`ClientBuilder`] lists as defaults.
    ///
    /// # Errors
    ///
    /// The URL is none that is known here.
    pub fn new(url: &str) -> Result<Self, BuildError> {
        Self::builder(url)?.build()
    }

    /// Begins to build a client, as [`Client::builder`](super::Client::builder).
    ///
    /// # Errors
    ///
    /// The URL is none that is known here.
    pub fn builder(url: &str) -> Result<ClientBuilder<Self>, BuildError> {
        ClientBuilder::new(url)
    }

    /// The URL of the server, without user, password and query.
    #[must_use]
    pub fn url(&self) -> &str {
        self.client.url()
    }

    /// Calls a method, as [`Client::call`](super::Client::call).
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        parameters: impl Serialize,
    ) -> Result<T, CallError> {
        self.method(method).call(parameters)
    }

    /// Calls a method over values.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub fn call_values(&self, method: &str, parameters: &[Value]) -> Result<Value, CallError> {
        self.method(method).call_values(parameters)
    }

    /// As [`Client::list_methods`](super::Client::list_methods).
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub fn list_methods(&self) -> Result<Vec<String>, CallError> {
        self.wait(self.client.list_methods())
    }

    /// As [`Client::method_signatures`](super::Client::method_signatures).
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub fn method_signatures(&self, method: &str) -> Result<Vec<Vec<String>>, CallError> {
        self.wait(self.client.method_signatures(method))
    }

    /// As [`Client::method_help`](super::Client::method_help).
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub fn method_help(&self, method: &str) -> Result<String, CallError> {
        self.wait(self.client.method_help(method))
    }

    /// Begins a call with settings of its own.
    pub fn method<'a>(&'a self, name: &'a str) -> Method<'a> {
        Method {
            client: self,
            inner: self.client.method(name),
        }
    }

    /// Begins a batch of calls.
    pub fn batch(&self) -> Batch<'_> {
        Batch {
            client: self,
            inner: self.client.batch(),
        }
    }

    fn wait<T>(&self, future: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        match &self.runtime.0 {
            Some(runtime) if Handle::try_current().is_err() || !in_task() => {
                runtime.block_on(async {
                    // The runtime has not run since the last call. It polls its sockets, wakes the tasks of
                    // connections, and these drop connections that the server has closed: one yield each.
                    // Otherwise the call could use a closed connection.
                    for _ in 0..3 {
                        tokio::task::yield_now().await;
                    }
                    future.await
                })
            }
            _ => Err(CallError::usage(
                "the blocking client was called in an asynchronous task, which may not wait: use \
                 xmlrpc::Client there, or tokio::task::spawn_blocking",
            )),
        }
    }
}

/// Whether this thread polls an asynchronous task at the moment, and so may not wait.
///
/// A runtime's handle tells nothing: threads that are there to block have one too. What they do
/// not have is a budget, which tokio gives a task for each turn, and which is there to be
/// looked at in one way only: by spending it. The first to have been taken gives all back.
fn in_task() -> bool {
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(before) = coop::poll_proceed(&mut context) else {
        return true;
    };
    // A budget is a byte.
    let ends = (0..=u8::MAX).any(|_| match coop::poll_proceed(&mut context) {
        Poll::Ready(spent) => {
            spent.made_progress();
            false
        }
        Poll::Pending => true,
    });
    drop(before);
    ends
}

impl_debug!(|this| Client { url: this.url() });

/// A call with settings of its own: see [`Client::method`].
#[derive(Clone, Debug)]
#[must_use = "nothing is sent before it is called"]
pub struct Method<'a> {
    client: &'a Client,
    inner: client::Method<'a>,
}

impl Method<'_> {
    /// As [`Method::idempotent`](super::Method::idempotent).
    pub fn idempotent(mut self) -> Self {
        self.inner = self.inner.idempotent();
        self
    }

    /// Sets how long the call may take in all.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.inner = self.inner.deadline(time);
        self
    }

    /// Adds a header, in the place of one of the same name that the client has.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.inner = self.inner.header(name, value);
        self
    }

    /// Calls the method.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub fn call<T: DeserializeOwned>(self, parameters: impl Serialize) -> Result<T, CallError> {
        self.client.wait(self.inner.call(parameters))
    }

    /// Calls the method over values.
    ///
    /// # Errors
    ///
    /// As [`CallError`] says.
    pub fn call_values(self, parameters: &[Value]) -> Result<Value, CallError> {
        self.client.wait(self.inner.call_values(parameters))
    }
}

/// Calls that are sent together: see [`Batch`](super::Batch).
#[derive(Clone, Debug)]
#[must_use = "nothing is called before it is sent"]
pub struct Batch<'a> {
    client: &'a Client,
    inner: batch::Batch<'a>,
}

impl Batch<'_> {
    /// As [`Batch::add`](super::Batch::add).
    ///
    /// # Errors
    ///
    /// A parameter has no form in XML-RPC.
    pub fn add<T: DeserializeOwned>(
        &mut self,
        method: &str,
        parameters: impl Serialize,
    ) -> Result<BatchCall<T>, CallError> {
        self.inner.add(method, parameters)
    }

    /// As [`Batch::add_values`](super::Batch::add_values).
    ///
    /// # Errors
    ///
    /// A parameter has no form in XML-RPC.
    pub fn add_values(
        &mut self,
        method: &str,
        parameters: &[Value],
    ) -> Result<BatchCall<Value>, CallError> {
        self.inner.add_values(method, parameters)
    }

    /// As [`Batch::calls_a_message`](super::Batch::calls_a_message).
    pub fn calls_a_message(mut self, calls: usize) -> Self {
        self.inner = self.inner.calls_a_message(calls);
        self
    }

    /// As [`Batch::idempotent`](super::Batch::idempotent).
    pub fn idempotent(mut self) -> Self {
        self.inner = self.inner.idempotent();
        self
    }

    /// Sets how long all of it may take.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.inner = self.inner.deadline(time);
        self
    }

    /// Sends the calls, as [`Batch::send`](super::Batch::send).
    ///
    /// # Errors
    ///
    /// There was no answer to the first message.
    pub fn send(self) -> Result<Replies, CallError> {
        self.client.wait(self.inner.send())
    }
}
