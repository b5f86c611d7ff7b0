//! The server process.

use polywire_rpc::Server;
use polywire_rpc::methods::Methods;
use polywire_schema::Value;

use crate::child::{argument, print_line, questions, resident};

/// A certificate for `localhost`.
#[derive(Debug)]
pub(crate) struct ServerCertificate {
    pub(crate) certificate: String,
    /// The certificate and its private key.
    pub(crate) pem: String,
}

#[cfg(feature = "tls")]
impl ServerCertificate {
    pub(crate) fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = made.cert.pem();
        let pem = format!("{certificate}{}", made.signing_key.serialize_pem());
        Self { certificate, pem }
    }
}

#[test]
#[ignore = "the server of other tests"]
fn serves() {
    let Some(pem) = argument() else { return };
    let methods = Methods::new().values("echo", |parameters, _| async move {
        Ok(Value::List(parameters))
    });
    let server = Server::methods(methods)
        .connections(20_000)
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let place = "127.0.0.1:0".parse().unwrap();
    let running = runtime.block_on(async {
        if pem.is_empty() {
            return server.listen(place).await.unwrap();
        }
        secured(&server, place, &pem).await
    });
    print_line(running.address());
    for question in questions() {
        match question.as_str() {
            "resident" => print_line(resident()),
            "stop" => break,
            other => panic!("{other}"),
        }
    }
    runtime.block_on(running.shutdown());
    print_line("stopped");
}

#[cfg(feature = "tls")]
async fn secured(
    server: &Server,
    place: std::net::SocketAddr,
    pem: &str,
) -> polywire_rpc::RunningServer {
    use polywire_rpc::tls::{Pem, ServerTls};

    let tls = ServerTls::builder(Pem::text(pem), Pem::text(pem)).build();
    server.listen_tls(place, &tls.unwrap()).await.unwrap()
}

#[cfg(not(feature = "tls"))]
async fn secured(_: &Server, _: std::net::SocketAddr, _: &str) -> polywire_rpc::RunningServer {
    panic!("there is no TLS here")
}
