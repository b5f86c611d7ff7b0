//! Named methods, without a model.
//!
//! [`Methods`] maps names to functions. A server offers them over XML-RPC, and optionally over CBOR, alone or together
//! with the operations of a model.
//!
//! ```
//! use polywire_protocol::Fault;
//! use polywire_rpc::{Methods, Server};
//!
//! let methods = Methods::new()
//!     .method("sample.add", |(a, b): (i32, i32)| async move { a + b })
//!     .method("sample.div", |(a, b): (i32, i32)| async move {
//!         a.checked_div(b).ok_or_else(|| Fault::coded(7, "division by zero"))
//!     })
//!     .help("sample.add", "Adds two numbers.")
//!     .signature("sample.add", &["int", "int", "int"])
//!     .introspection(true);
//! let server = Server::methods(methods).build()?;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let running = server.listen("127.0.0.1:0".parse()?).await?;
//! println!("http://{}/RPC2", running.address());
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # let mut stream = tokio::net::TcpStream::connect(running.address()).await?;
//! # let call = polywire_codec::xmlrpc::write_call("sample.add", &[2.into(), 3.into()])?;
//! # let head = format!("POST /RPC2 HTTP/1.0\r\ncontent-length: {}\r\n\r\n", call.len());
//! # stream.write_all(&[head.as_bytes(), &call].concat()).await?;
//! # let mut answer = String::new();
//! # stream.read_to_string(&mut answer).await?;
//! # assert!(answer.contains("<value><int>5</int></value>"), "{answer}");
//! running.shutdown().await;
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From Python:
//!
//! ```python
//! import xmlrpc.client
//!
//! sample = xmlrpc.client.ServerProxy("http://127.0.0.1:8080/RPC2").sample
//! print(sample.add(2, 3))
//! ```
//!
//! # Parameters and results
//!
//! Parameters are a tuple of types that implement `Deserialize`, `()` if there are none. They are deserialized directly
//! from the request body. Callers may omit `Option`s at the end. A `Vec` takes any number of parameters of one type,
//! [`Methods::values`] any number of any type. The result is a type that implements `Serialize`, or a `Result` whose
//! error converts into a [`Fault`]. [`Blob`](polywire_schema::Blob), [`Timestamp`](polywire_schema::Timestamp), the big
//! numbers and [`Value`] have their native representation in each format.
//!
//! # Faults
//!
//! [`Fault::coded`] is an error with a code and a message of your own. Other errors that `?` converts, such as
//! `std::io::Error`, become internal faults: their message is logged and not sent. Invalid parameters are rejected
//! before the method runs; the fault contains the number of the parameter and its offset in the message. The codes are
//! those of the [fault code interoperability](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php)
//! specification, for all protocols and within a multicall. If a method panics, only its call fails.
//!
//! # Introspection
//!
//! [`Methods::introspection`] adds `system.listMethods`, `system.methodSignature`,
//! `system.methodHelp`, `system.getCapabilities` and `system.multicall`. They include the operations of a model. A
//! multicall runs its calls one after the other; the result of a failed call is a fault. The number of calls is limited
//! by [`Limits::calls`](polywire_schema::Limits::calls), the handler timeout applies to all of them together, and a
//! [`Firewall`](crate::layers::Firewall) counts each as a request. If the results exceed
//! [`Limits::bytes`](polywire_schema::Limits::bytes), the remaining calls do not run. [`Methods::multicall`] disables
//! multicalls.
//!
//! # CBOR
//!
//! With [`Methods::cbor`], a method is called by a `POST` to `/service/NAME/operation/METHOD`, below any path, with the
//! header `smithy-protocol: rpc-v2-cbor` and an array of the parameters as body. The result is the body of the response.
//! A fault is a map of `__type`, `code` and `message`, with status 400 for errors of the caller and 500 for others.
//! Within the results of `system.multicall`, over CBOR and frames, the fault of an operation of a model also has the
//! members of the modelled error.

mod build;
mod call;
mod error;
mod format;
mod function;
mod multicall;
mod operation;
mod parameters;
mod router;
mod stream;
mod system;
mod wire;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;

use polywire_codec::xmlrpc::{Style, XmlRpcProfile};
use polywire_protocol::Fault;
use polywire_schema::Value;
use serde::de::DeserializeOwned;
use tower::{Layer, Service as TowerService};

pub use call::{MethodCall, MethodReply, MethodService};
pub use error::MethodsError;
pub use function::{Fallible, IntoResult, MethodFunction, Plain, WithContext, WithoutContext};
pub use parameters::Parameters;
pub use stream::{ItemReceiver, ItemSender, StreamCall};

pub(crate) use call::MethodFuture;
pub(crate) use format::{ReplyFormat, write_output};
pub(crate) use parameters::Location;
pub(crate) use router::{Entry, RouteMatch, Router};
pub(crate) use wire::CborMethods;

use crate::Context;
use crate::blocking::BlockingPool;
use function::{BlockingMethod, Method, TypedMethod, ValueMethod};
use router::BytesFunction;
use stream::{StreamFunction, StreamMethod};
use system::MethodInfo;

/// Functions by name, to be offered by a server.
#[must_use]
#[derive(Default)]
pub struct Methods {
    methods: Vec<(String, Box<dyn Method>)>,
    streams: Vec<(String, Box<dyn StreamMethod>)>,
    bytes: Vec<(String, BytesFunction)>,
    /// Runs the blocking methods.
    pool: BlockingPool,
    info: BTreeMap<String, MethodInfo>,
    paths: Vec<String>,
    cbor: Option<String>,
    introspection: bool,
    no_multicall: bool,
    profile: XmlRpcProfile,
    style: Style,
    /// Help texts by operation name. Names of unknown operations are ignored.
    documentation: HashMap<String, String>,
    layers: Vec<Box<dyn FnOnce(MethodService) -> MethodService>>,
    /// The first method whose result type is a `Result` with an error that is not a fault, and that type.
    invalid_result: Option<(String, &'static str)>,
}

impl Methods {
    /// Creates an empty set of methods.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a method: an async function of the parameters, and optionally the [`Context`], that returns a value or a
    /// `Result`.
    ///
    /// Parameters are a tuple, `()` if there are none, or a `Vec` or an array if they all have one type. Callers may
    /// omit `Option`s at the end.
    ///
    /// ```
    /// use polywire_protocol::Fault;
    /// use polywire_rpc::{Context, Methods};
    ///
    /// let methods = Methods::new()
    ///     .method("sample.add", |(a, b): (i32, i32)| async move { a + b })
    ///     .method("sample.div", |(a, b): (i32, i32)| async move {
    ///         a.checked_div(b).ok_or_else(|| Fault::coded(7, "division by zero"))
    ///     })
    ///     .method("who", |(): (), context: Context| async move {
    ///         context.peer().map(|peer| peer.to_string())
    ///     });
    /// # let _ = methods;
    /// ```
    pub fn method<M: 'static, K: 'static, F>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: MethodFunction<M, Output: Future<Output: IntoResult<K>>>,
    {
        let name = name.into();
        self.check_result::<K, <F::Output as Future>::Output>(&name);
        self.methods
            .push((name, Box::new(TypedMethod::new(function))));
        self
    }

    /// Adds a method with streams: an async function of the parameters and a [`StreamCall`], through which it receives
    /// and sends items. Its return value ends the call.
    ///
    /// Streams require frames ([`ServerBuilder::frames`](crate::ServerBuilder::frames)); over other protocols the method
    /// does not exist. The handler timeout does not apply.
    ///
    /// ```
    /// use polywire_protocol::Fault;
    /// use polywire_rpc::{Methods, StreamCall};
    ///
    /// let methods = Methods::new()
    ///     .stream("count", |(to,): (u32,), mut call: StreamCall| async move {
    ///         for number in 0..to {
    ///             call.send(number).await?;
    ///         }
    ///         Ok::<_, Fault>(())
    ///     })
    ///     .stream("sum", |(): (), mut call: StreamCall| async move {
    ///         let mut sum = 0;
    ///         while let Some(number) = call.next::<i64>().await? {
    ///             sum += number;
    ///         }
    ///         Ok::<_, Fault>(sum)
    ///     });
    /// # let _ = methods;
    /// ```
    pub fn stream<K: 'static, P, F, R>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(P, StreamCall) -> R + Send + Sync + 'static,
        P: DeserializeOwned + Send + 'static,
        R: Future<Output: IntoResult<K>> + Send + 'static,
    {
        let method = Box::new(StreamFunction::new(function));
        self.streams.push((name.into(), method));
        self
    }

    /// Adds a bytes method: a function that borrows the raw input and appends the raw output.
    ///
    /// Input and output are neither decoded nor encoded. The function runs on the task of the connection and blocks
    /// its other calls: use [`method`](Self::method) or [`blocking`](Self::blocking) for work that waits or takes long.
    /// Such calls require frames ([`ServerBuilder::frames`](crate::ServerBuilder::frames), `Client::call_bytes` of
    /// [`frames`](crate::frames)); over other protocols the method does not exist. Layers around methods do not apply,
    /// so a server with both cannot be built.
    ///
    /// ```
    /// use polywire_rpc::Methods;
    ///
    /// let methods = Methods::new().bytes("reverse", |input, output, _| {
    ///     output.extend(input.iter().rev());
    ///     Ok(())
    /// });
    /// # let _ = methods;
    /// ```
    pub fn bytes<F>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(&[u8], &mut Vec<u8>, &Context) -> Result<(), Fault> + Send + Sync + 'static,
    {
        self.bytes.push((name.into(), Box::new(function)));
        self
    }

    /// Adds a method whose parameters are any number of [`Value`]s.
    ///
    /// ```
    /// use polywire_rpc::Methods;
    /// use polywire_schema::Value;
    ///
    /// let methods = Methods::new()
    ///     .values("echo", |parameters, _| async move { Ok(Value::List(parameters)) });
    /// # let _ = methods;
    /// ```
    pub fn values<F, R>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(Vec<Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Fault>> + Send + 'static,
    {
        let method = Box::new(ValueMethod::new(function));
        self.methods.push((name.into(), method));
        self
    }

    /// Adds a method that blocks or computes for a long time. It runs on a thread of a [`BlockingPool`].
    ///
    /// By default all blocking methods share a pool of 64 threads and a queue of 1,000 calls; see
    /// [`blocking_pool`](Self::blocking_pool). If the queue is full, the call is rejected as overloaded. When a call
    /// exceeds its deadline, its caller gets a fault. A function that has started runs to its end, one that has not is
    /// not called.
    ///
    /// ```
    /// use polywire_rpc::Methods;
    ///
    /// let methods = Methods::new().blocking("file.size", |(path,): (String,)| {
    ///     Ok::<_, std::io::Error>(std::fs::metadata(path)?.len())
    /// });
    /// # let _ = methods;
    /// ```
    pub fn blocking<M: 'static, K: 'static, F>(
        mut self,
        name: impl Into<String>,
        function: F,
    ) -> Self
    where
        F: MethodFunction<M, Output: IntoResult<K>>,
    {
        let name = name.into();
        self.check_result::<K, F::Output>(&name);
        self.methods.push((
            name,
            Box::new(BlockingMethod::new(function, self.pool.clone())),
        ));
        self
    }

    /// Sets the pool of all blocking methods, including those added before.
    ///
    /// ```
    /// use polywire_rpc::Methods;
    /// use polywire_rpc::blocking::BlockingPool;
    ///
    /// let methods = Methods::new()
    ///     .blocking("count", |(path,): (String,)| {
    ///         std::fs::read(path).map(|bytes| bytes.len())
    ///     })
    ///     .blocking_pool(BlockingPool::new(8, 100));
    /// # let _ = methods;
    /// ```
    pub fn blocking_pool(mut self, pool: BlockingPool) -> Self {
        for (_, method) in &mut self.methods {
            method.run_in(&pool);
        }
        self.pool = pool;
        self
    }

    /// Detects a `Result` whose error is not a fault but implements `Serialize`: the compiler accepts it as a plain
    /// value, which is never intended.
    fn check_result<K: 'static, T>(&mut self, name: &str) {
        let plain = std::any::TypeId::of::<K>() == std::any::TypeId::of::<Plain>();
        let kind = std::any::type_name::<T>();
        if plain && kind.starts_with("core::result::Result<") && self.invalid_result.is_none() {
            self.invalid_result = Some((name.to_owned(), kind));
        }
    }

    /// Sets the help text that `system.methodHelp` returns for a method, or for the method name of an operation.
    pub fn help(mut self, name: &str, text: impl Into<String>) -> Self {
        self.info.entry(name.to_owned()).or_default().help = text.into();
        self
    }

    /// Sets the help texts of operations by operation name; `polywire::documentation` extracts them from a model.
    /// Unknown names are ignored. Texts set by [`help`](Self::help) take precedence.
    pub fn documentation<N: Into<String>, T: Into<String>>(
        mut self,
        texts: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let texts = texts.into_iter();
        let texts = texts.map(|(name, text)| (name.into(), text.into()));
        self.documentation.extend(texts);
        self
    }

    /// Adds a signature that `system.methodSignature` returns for a method: the type of the result, then those of the
    /// parameters. A method can have several signatures.
    pub fn signature(mut self, name: &str, types: &[&str]) -> Self {
        let types = types.iter().map(|&name| name.to_owned()).collect();
        let info = self.info.entry(name.to_owned()).or_default();
        info.signatures.push(types);
        self
    }

    /// Sets whether the server offers `system.listMethods`, `system.methodSignature`, `system.methodHelp`,
    /// `system.getCapabilities` and `system.multicall`. Default: false.
    pub const fn introspection(mut self, introspection: bool) -> Self {
        self.introspection = introspection;
        self
    }

    /// Sets whether introspection includes `system.multicall`. Default: true.
    ///
    /// A [`Firewall`](crate::layers::Firewall) and layers around methods see each call of a multicall. Layers around
    /// HTTP requests and heads see one request.
    pub const fn multicall(mut self, multicall: bool) -> Self {
        self.no_multicall = !multicall;
        self
    }

    /// Adds a path at which methods are called over XML-RPC. Without any: `/RPC2`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
        self
    }

    /// Also offers the methods over CBOR, under the name of a service: as `POST` to `/service/NAME/operation/METHOD`
    /// with the header `smithy-protocol: rpc-v2-cbor` and an array of the parameters as body. The name may be that of
    /// the model's service: names that are not methods are then operations.
    pub fn cbor(mut self, service: impl Into<String>) -> Self {
        self.cbor = Some(service.into());
        self
    }

    /// Sets which deviations from the specification are accepted in XML-RPC calls. Applies to operations on the same
    /// server too, except those of a [`ServerBuilder::custom_protocol`], which has its own settings.
    ///
    /// [`ServerBuilder::custom_protocol`]: crate::ServerBuilder::custom_protocol
    pub const fn xmlrpc_profile(mut self, profile: XmlRpcProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets how results and faults are written in XML-RPC where there is a choice. Applies to the same calls as
    /// [`xmlrpc_profile`](Self::xmlrpc_profile).
    pub const fn xmlrpc_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Adds a layer around calls of methods, including `system.*` and the calls of a multicall. The layer added last is
    /// the outermost.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<MethodService> + 'static,
        L::Service: TowerService<MethodCall, Response = MethodReply, Error = Fault>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as TowerService<MethodCall>>::Future: Send,
    {
        self.layers.push(Box::new(move |inner| {
            MethodService::new(layer.layer(inner))
        }));
        self
    }
}

impl fmt::Debug for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.methods.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Methods")
            .field("names", &names)
            .field("introspection", &self.introspection)
            .finish_non_exhaustive()
    }
}
