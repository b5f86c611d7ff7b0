//! Methods by name, without a model.
//!
//! A [`Methods`] is functions by their names. A server offers them over XML-RPC, and
//! if it is told to over CBOR; alone, or beside the operations of a model.
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
//! Parameters are a tuple of types of serde, `()` if there are none; the body of a
//! call is read straight into them. An `Option` at the end may be left out by the
//! caller. A `Vec` takes any number of one type, [`Methods::values`] any number of
//! any. The result is any type that serde can write, or a `Result` whose error turns
//! into a [`Fault`]. [`Blob`](polywire_schema::Blob),
//! [`Timestamp`](polywire_schema::Timestamp) and the big numbers are what they are in
//! each format, and so is a [`Value`].
//!
//! # Faults
//!
//! [`Fault::coded`] is an error with a number and a text of your own. What else can be
//! turned into a fault with `?` (`std::io::Error` and its like) is an internal one:
//! its reason goes to the log, and callers learn nothing of it. Parameters that a
//! method does not take are answered for it, with the position of the one that is
//! wrong and where in the message it stands. The numbers are those of the [fault code
//! interoperability](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php)
//! specification, on every wire and within a multicall too. A method that panics
//! costs its own call and nothing else.
//!
//! # Introspection
//!
//! [`Methods::introspection`] adds `system.listMethods`, `system.methodSignature`,
//! `system.methodHelp`, `system.getCapabilities` and `system.multicall`, which tell of
//! the operations of a model too and can call them. The calls of a multicall are made
//! one after the other; one that fails has a fault for its result. Their number is
//! limited by [`Limits::calls`](polywire_schema::Limits::calls), the time for the
//! handler is that of all together, and a [`Firewall`](crate::layers::Firewall) counts
//! each as a request. [`Methods::multicall`] leaves it out. Once their results are more than
//! [`Limits::bytes`](polywire_schema::Limits::bytes), the rest is not called.
//!
//! # CBOR
//!
//! With [`Methods::cbor`] each method can be called with a post to
//! `/service/NAME/operation/METHOD`, below any path, that has the header
//! `smithy-protocol: rpc-v2-cbor` and an array of the parameters as its body. The
//! result is the body of the answer. A fault is a map of `__type`, `code` and
//! `message`, with status 400 if the caller is to blame and 500 if not.

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
pub(crate) use format::{Form, write_output};
pub(crate) use parameters::Place;
pub(crate) use router::{Entry, Found, Router};
pub(crate) use wire::CborMethods;

use crate::Context;
use crate::blocking::BlockingPool;
use function::{Blocking, Method, Typed, Values};
use router::BytesFunction;
use stream::{StreamMethod, Streaming};
use system::About;

/// The methods of a server by their names.
#[derive(Default)]
pub struct Methods {
    methods: Vec<(String, Box<dyn Method>)>,
    streams: Vec<(String, Box<dyn StreamMethod>)>,
    bytes: Vec<(String, BytesFunction)>,
    /// Where those that block run.
    pool: BlockingPool,
    about: BTreeMap<String, About>,
    paths: Vec<String>,
    cbor: Option<String>,
    introspection: bool,
    no_multicall: bool,
    profile: XmlRpcProfile,
    style: Style,
    /// Help texts by the names of operations, which there may not be.
    documentation: HashMap<String, String>,
    layers: Vec<Box<dyn FnOnce(MethodService) -> MethodService>>,
    /// The first method that returns what nobody wants to send.
    doubtful: Option<(String, &'static str)>,
}

impl Methods {
    /// No methods yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a method: an asynchronous function of its parameters, and if it wants
    /// to of the [`Context`], which returns a value or a `Result` of one.
    ///
    /// The types are those of serde. Parameters are a tuple, `()` if there are
    /// none, a `Vec` or an array if they are all of one type. Those at the end
    /// that are an `Option` may be left out by the caller.
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
    #[must_use]
    pub fn method<M: 'static, K: 'static, F>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: MethodFunction<M, Output: Future<Output: IntoResult<K>>>,
    {
        let name = name.into();
        self.doubt::<K, <F::Output as Future>::Output>(&name);
        self.methods.push((name, Box::new(Typed::new(function))));
        self
    }

    /// Adds a method with streams: an asynchronous function of its parameters and of a
    /// [`StreamCall`], by which items come and go until it returns. What it returns is the
    /// answer.
    ///
    /// Only frames carry streams ([`ServerBuilder::frames`](crate::ServerBuilder::frames)); over
    /// other wires there is no such method. The time for handlers does not hold for it.
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
    #[must_use]
    pub fn stream<K: 'static, P, F, R>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(P, StreamCall) -> R + Send + Sync + 'static,
        P: DeserializeOwned + Send + 'static,
        R: Future<Output: IntoResult<K>> + Send + 'static,
    {
        let method = Box::new(Streaming::new(function));
        self.streams.push((name.into(), method));
        self
    }

    /// Adds a method of bytes: a function that is lent the input as it came, and appends what the
    /// caller is to have as it is.
    ///
    /// Nothing of it is allocated, encoded or looked at. It runs where the call is read, and other calls of
    /// the connection wait for it: what waits or computes for long is for [`method`](Self::method) and
    /// [`blocking`](Self::blocking). Only frames carry such calls
    /// ([`ServerBuilder::frames`](crate::ServerBuilder::frames), `Client::call_bytes` of
    /// [`frames`](crate::frames)); over other wires there is no such method. No layers around methods see
    /// it: where there are some, the server refuses to be built.
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
    #[must_use]
    pub fn bytes<F>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(&[u8], &mut Vec<u8>, &Context) -> Result<(), Fault> + Send + Sync + 'static,
    {
        self.bytes.push((name.into(), Box::new(function)));
        self
    }

    /// Adds a method over values, whatever they are.
    ///
    /// ```
    /// use polywire_rpc::Methods;
    /// use polywire_schema::Value;
    ///
    /// let methods = Methods::new()
    ///     .values("echo", |parameters, _| async move { Ok(Value::List(parameters)) });
    /// # let _ = methods;
    /// ```
    #[must_use]
    pub fn values<F, R>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(Vec<Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Fault>> + Send + 'static,
    {
        let method = Box::new(Values::new(function));
        self.methods.push((name.into(), method));
        self
    }

    /// Adds a method that blocks or computes for long. It runs on a thread of a
    /// [`BlockingPool`], so that other calls go on: one of 64 threads for all methods
    /// that block, in which 1,000 calls wait, unless
    /// [`blocking_pool`](Self::blocking_pool) says other. One more call is answered at once
    /// that the server is overloaded. A call that takes longer than it may is answered so:
    /// if its function has begun it goes on to its end, and if not it is never called.
    ///
    /// ```
    /// use polywire_rpc::Methods;
    ///
    /// let methods = Methods::new().blocking("file.size", |(path,): (String,)| {
    ///     Ok::<_, std::io::Error>(std::fs::metadata(path)?.len())
    /// });
    /// # let _ = methods;
    /// ```
    #[must_use]
    pub fn blocking<M: 'static, K: 'static, F>(
        mut self,
        name: impl Into<String>,
        function: F,
    ) -> Self
    where
        F: MethodFunction<M, Output: IntoResult<K>>,
    {
        let name = name.into();
        self.doubt::<K, F::Output>(&name);
        self.methods
            .push((name, Box::new(Blocking::new(function, self.pool.clone()))));
        self
    }

    /// Sets where all methods that block run, those that were added before too.
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
    #[must_use]
    pub fn blocking_pool(mut self, pool: BlockingPool) -> Self {
        for (_, method) in &mut self.methods {
            method.run_in(&pool);
        }
        self.pool = pool;
        self
    }

    /// A `Result` whose error serde can write and that is no fault is a value to
    /// the compiler, and to nobody else.
    fn doubt<K: 'static, T>(&mut self, name: &str) {
        let plain = std::any::TypeId::of::<K>() == std::any::TypeId::of::<Plain>();
        let kind = std::any::type_name::<T>();
        if plain && kind.starts_with("core::result::Result<") && self.doubtful.is_none() {
            self.doubtful = Some((name.to_owned(), kind));
        }
    }

    /// Sets what `system.methodHelp` says of a method, or of an operation of the
    /// model under its method name.
    #[must_use]
    pub fn help(mut self, name: &str, text: impl Into<String>) -> Self {
        self.about.entry(name.to_owned()).or_default().help = text.into();
        self
    }

    /// Sets what `system.methodHelp` says of operations of the model, by their names:
    /// `polywire::documentation` gets it out of a model. Names that no operation of
    /// the server has are passed over, and a text of [`help`](Self::help) counts more.
    #[must_use]
    pub fn documentation<N: Into<String>, T: Into<String>>(
        mut self,
        texts: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let texts = texts.into_iter();
        let texts = texts.map(|(name, text)| (name.into(), text.into()));
        self.documentation.extend(texts);
        self
    }

    /// Adds a signature to what `system.methodSignature` says of a method: the
    /// type of its result, and then those of its parameters. A method that can be
    /// called in several ways has several.
    #[must_use]
    pub fn signature(mut self, name: &str, types: &[&str]) -> Self {
        let types = types.iter().map(|&name| name.to_owned()).collect();
        let about = self.about.entry(name.to_owned()).or_default();
        about.signatures.push(types);
        self
    }

    /// Whether callers may ask what methods there are, and call several in one
    /// request: `system.listMethods`, `system.methodSignature`,
    /// `system.methodHelp`, `system.getCapabilities` and `system.multicall`. They
    /// may not, unless this says other.
    #[must_use]
    pub const fn introspection(mut self, introspection: bool) -> Self {
        self.introspection = introspection;
        self
    }

    /// Whether there is `system.multicall` where there is introspection. There is, unless
    /// this says other.
    ///
    /// A [`Firewall`](crate::layers::Firewall) counts each call of a multicall, and layers
    /// around methods see each; layers around HTTP requests and heads, such as a limit of
    /// your own by request, see one.
    #[must_use]
    pub const fn multicall(mut self, multicall: bool) -> Self {
        self.no_multicall = !multicall;
        self
    }

    /// Sets a path at which methods are called over XML-RPC. Called more than
    /// once, each is one. Without any call of this it is `/RPC2`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
        self
    }

    /// Offers the methods over CBOR too, under the name of a service: as posts to
    /// `/service/NAME/operation/METHOD` with the header `smithy-protocol:
    /// rpc-v2-cbor` and an array of the parameters as body. The name may be that of the
    /// model's service: what is no method is then an operation.
    #[must_use]
    pub fn cbor(mut self, service: impl Into<String>) -> Self {
        self.cbor = Some(service.into());
        self
    }

    /// Sets how calls in XML-RPC are read: which leniencies there are for peers that
    /// need them. It holds for operations of a model on the same server too, but for those
    /// of a protocol that was made apart ([`ServerBuilder::custom_protocol`]), which has
    /// settings of its own.
    ///
    /// [`ServerBuilder::custom_protocol`]: crate::ServerBuilder::custom_protocol
    #[must_use]
    pub const fn xmlrpc_profile(mut self, profile: XmlRpcProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets how results and faults in XML-RPC are written where there is a choice, those
    /// of operations too, as with [`xmlrpc_profile`](Self::xmlrpc_profile).
    #[must_use]
    pub const fn xmlrpc_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Puts a layer around calls of methods, those of `system.*` and those within
    /// a multicall included. The layer that is added last is the outermost.
    /// Without layers nothing of tower is in the way of a call.
    #[must_use]
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
