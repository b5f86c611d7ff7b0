//! A server in this process whose methods have names and no model.

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use polywire::codec::xmlrpc::{Leniency, Style, XmlRpcProfile};
use polywire::protocol::Fault;
use polywire::rpc::tls::ServerTls;
use polywire::rpc::{Methods, Server};
use polywire::schema::Value;
use polywire::text::{Blob, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;

/// A server of the methods of [`Sample::methods`]. It runs until it is dropped.
#[derive(Debug)]
pub struct Sample {
    /// The URL of the server.
    pub url: String,
    // The runtime of the server.
    _runtime: Runtime,
}

/// The result of `sample.person` and the parameter of `sample.greet`.
#[derive(Debug, Deserialize, Serialize)]
struct Person {
    name: String,
    age: i32,
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    nickname: Option<String>,
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// An address with a free port of this machine.
fn anywhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

impl Sample {
    /// The methods, with their documentation.
    pub fn methods() -> Methods {
        Methods::new()
            .values("echo", |mut parameters: Vec<Value>, _| async move {
                match parameters.len() {
                    1 => Ok(parameters.remove(0)),
                    _ => Ok(Value::List(parameters)),
                }
            })
            .method("sample.add", |(a, b): (i64, i64)| async move {
                a.wrapping_add(b)
            })
            .method("sample.divide", |(a, b): (i64, i64)| async move {
                a.checked_div(b)
                    .ok_or_else(|| Fault::coded(7, "division by zero"))
            })
            .method("sample.sum", |(numbers,): (Vec<i64>,)| async move {
                numbers.iter().sum::<i64>()
            })
            .method("sample.person", |(): ()| async {
                Person {
                    name: "Ada Łovelace".to_owned(),
                    age: 36,
                    tags: vec!["<first>".to_owned(), "& only".to_owned()],
                    nickname: None,
                }
            })
            .method("sample.greet", |(person,): (Person,)| async move {
                let Person { name, age, .. } = person;
                format!("{name} is {age}")
            })
            .method("sample.nothing", |(): ()| async { None::<i32> })
            .method("sample.date", |(): ()| async {
                Timestamp::new(1_793_526_245, 0)
            })
            .method("sample.moment", |(): ()| async {
                Timestamp::new(1_793_526_245, 250_000_000)
            })
            .method("sample.bytes", |(): ()| async {
                Blob::from((0..=u8::MAX).cycle().take(1000).collect::<Vec<u8>>())
            })
            .method(
                "sample.size",
                |(bytes,): (Blob,)| async move { bytes.len() },
            )
            .method("sample.text", |(length,): (usize,)| async move {
                "ö & <\r\n".chars().cycle().take(length).collect::<String>()
            })
            .method("sample.length", |(text,): (String,)| async move {
                text.chars().count()
            })
            .method("sample.big", |(): ()| async { 9_007_199_254_740_993_i64 })
            .method("sample.beyond", |(): ()| async { 3_000_000_000_i64 })
            .method("sample.emoji", |(): ()| async { "a🌧z" })
            .method("sample.colours", |(): ()| async { "\u{1b}[31mred" })
            .method("sample.double", |(): ()| async { 0.1 })
            .help("sample.add", "Adds two numbers.")
            .signature("sample.add", &["int", "int", "int"])
            .introspection(true)
    }

    /// Starts a server of the methods on a free port.
    #[must_use]
    pub fn start() -> Self {
        Self::over_http(Self::methods())
    }

    /// As [`Sample::start`], with a server that accepts these deviations.
    #[must_use]
    pub fn lenient(leniency: Leniency) -> Self {
        let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
        Self::over_http(Self::methods().xmlrpc_profile(profile))
    }

    /// As [`Sample::start`], with a server that writes fractions of a second.
    #[must_use]
    pub fn with_fractions() -> Self {
        Self::over_http(Self::methods().xmlrpc_style(Style::DEFAULT.with_fractions(true)))
    }

    /// A server of `methods` on a free port. Responses are compressed for clients that accept gzip.
    #[must_use]
    pub fn over_http(methods: Methods) -> Self {
        let server = Server::methods(methods)
            .http_layer(CompressionLayer::new().compress_when(SizeAbove::new(1_024)))
            .build();
        let server = server.unwrap();
        Self::on(async move {
            let running = server.listen(anywhere()).await.unwrap();
            let url = format!("http://{}/RPC2", running.address());
            (url, running)
        })
    }

    /// Starts a server of the methods over HTTPS.
    #[must_use]
    pub fn over_tls(tls: ServerTls) -> Self {
        let server = Server::methods(Self::methods()).build().unwrap();
        Self::on(async move {
            let running = server.listen_tls(anywhere(), &tls).await.unwrap();
            let url = format!("https://localhost:{}/RPC2", running.address().port());
            (url, running)
        })
    }

    /// Starts a server of the methods over SCGI on a free port.
    #[must_use]
    pub fn over_scgi() -> Self {
        let server = Server::methods(Self::methods()).build().unwrap();
        Self::on(async move {
            let running = server.listen_scgi(anywhere()).await.unwrap();
            let url = format!("scgi://{}/RPC2", running.address());
            (url, running)
        })
    }

    /// Starts a server of the methods over SCGI on a Unix socket that all users may use.
    #[cfg(unix)]
    #[must_use]
    pub fn over_scgi_unix(path: &Path) -> Self {
        use polywire::rpc::server::UnixSocket;
        let socket = UnixSocket::new(PathBuf::from(path)).mode(0o666);
        let server = Server::methods(Self::methods()).build().unwrap();
        let url = format!("scgi+unix://{}", path.display());
        Self::on(async move { (url, server.listen_scgi_unix(socket).await.unwrap()) })
    }

    fn on<R: Send + 'static>(start: impl Future<Output = (String, R)>) -> Self {
        let runtime = runtime();
        let (url, running) = runtime.block_on(start);
        // Dropping `running` would stop the server, so a task keeps it until the runtime is
        // dropped.
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(running);
        });
        Self {
            url,
            _runtime: runtime,
        }
    }
}
