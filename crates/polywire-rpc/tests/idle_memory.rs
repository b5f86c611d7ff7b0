//! What an idle connection costs.
//!
//! Measured, and so not part of every run. Each measure needs the process for itself:
//!
//! ```text
//! cargo test -p polywire-rpc --test idle_memory -- --ignored --nocapture --exact idle_connections
//! cargo test -p polywire-rpc --test idle_memory -- --ignored --nocapture --exact tls::idle_connections
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may panic and tell"
)]
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use polywire_model::Loader;
use polywire_protocol::ProtocolKind;
use polywire_rpc::{Server, ServiceHandle, dynamic};
use polywire_schema::Map;

/// More take too many descriptors on most machines: each has two ends here.
const CONNECTIONS: usize = 9_000;

/// The most that one may cost.
const LIMIT: usize = 16 * 1024;

/// The bytes of this process that are in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() * 1024
}

fn greet(stream: &mut (impl Read + Write)) {
    let body = "<?xml version=\"1.0\"?><methodCall><methodName>Greet</methodName>\
        <params><param><value><struct><member><name>name</name>\
        <value><string>Ada</string></value></member></struct></value></param></params></methodCall>";
    let head = format!(
        "POST /RPC2 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: idle/1.0\r\nAccept: */*\r\n\
         Content-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut reply = [0; 4096];
    let mut len = 0;
    while !reply[..len].ends_with(b"</methodResponse>") {
        let count = stream.read(&mut reply[len..]).unwrap();
        assert!(count > 0, "{}", reply[..len].escape_ascii());
        len += count;
    }
}

/// A runtime with one worker, and a server for it.
fn server() -> (tokio::runtime::Runtime, Server) {
    let text = r#"
        $version: "2"
        namespace example
        service Greeter { version: "1", operations: [Greet] }
        operation Greet { input := { name: String }, output := { name: String } }
    "#;
    let model = Loader::new().add_text("greeter.smithy", text).assemble();
    let schemas = model.unwrap().model.schemas("example#Greeter").unwrap();
    let service = ServiceHandle::new(Arc::new(schemas.unwrap()), 0);
    let server = Server::builder(service)
        .protocol(ProtocolKind::XmlRpc)
        .connections(CONNECTIONS + 100)
        .operation("Greet", dynamic(|input: Map, _| async move { Ok(input) }))
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    (runtime, server)
}

#[test]
#[ignore = "a measure"]
fn idle_connections() {
    let (runtime, server) = server();
    let place = "127.0.0.1:0".parse().unwrap();
    let running = runtime.block_on(server.listen(place)).unwrap();
    let open = || {
        let mut stream = TcpStream::connect(running.address()).unwrap();
        greet(&mut stream);
        stream
    };
    // What is made once is not what a connection costs.
    let first: Vec<TcpStream> = (0..100).map(|_| open()).collect();
    let before = resident();
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS - 100).map(|_| open()).collect();
    let tell = |requests: u32| {
        let each = (resident() - before) / (CONNECTIONS - 100);
        eprintln!("{each} bytes for each idle connection after {requests} requests on it");
        assert!(each <= LIMIT, "{each} bytes are more than {LIMIT}");
    };
    tell(1);
    for _ in 1..20 {
        for stream in &mut streams {
            greet(stream);
        }
    }
    tell(20);
    drop((first, streams));
    runtime.block_on(running.shutdown());
}

/// Over TLS each end holds what it knows of the other, so the clients are another
/// process: this one again.
#[cfg(feature = "tls")]
mod tls {
    use std::io::BufRead;
    use std::process::{Command, Stdio};

    use polywire_rpc::server::{Pem, Tls};
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

    use super::*;

    const PLACE: &str = "POLYWIRE_IDLE_PLACE";
    const ROOT: &str = "POLYWIRE_IDLE_ROOT";
    const CLIENTS: usize = 2_000;

    #[test]
    #[ignore = "a measure"]
    fn idle_connections() {
        let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (own, key) = (
            certificate.cert.pem(),
            certificate.signing_key.serialize_pem(),
        );
        let tls = Tls::builder(Pem::text(&own), Pem::text(key))
            .build()
            .unwrap();
        let (runtime, server) = server();
        let place = "127.0.0.1:0".parse().unwrap();
        let running = runtime.block_on(server.listen_tls(place, &tls)).unwrap();
        let mut clients = Command::new(std::env::current_exe().unwrap())
            .args(["tls::clients", "--exact", "--ignored", "--nocapture"])
            .env(PLACE, running.address().to_string())
            .env(ROOT, &own)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = std::io::BufReader::new(clients.stdout.take().unwrap()).lines();
        let mut wait = |word: &str| assert!(said.any(|line| line.unwrap().contains(word)));
        let mut go = clients.stdin.take().unwrap();
        wait("a few");
        let before = resident();
        writeln!(go, "on").unwrap();
        wait("all");
        let each = (resident() - before) / CLIENTS;
        eprintln!("{each} bytes for each idle connection over TLS");
        drop(go);
        clients.wait().unwrap();
        runtime.block_on(running.shutdown());
    }

    #[test]
    #[ignore = "the clients of another test"]
    fn clients() {
        let (Ok(place), Ok(root)) = (std::env::var(PLACE), std::env::var(ROOT)) else {
            return;
        };
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(root.as_bytes()).unwrap();
        roots.add(root).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let config = Arc::new(config);
        let open = |_| {
            let name = ServerName::try_from("localhost").unwrap();
            let connection = ClientConnection::new(Arc::clone(&config), name).unwrap();
            let mut stream = StreamOwned::new(connection, TcpStream::connect(&place).unwrap());
            greet(&mut stream);
            stream
        };
        let few: Vec<_> = (0..50).map(open).collect();
        println!("a few");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        let all: Vec<_> = (0..CLIENTS).map(open).collect();
        println!("all");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        drop((few, all));
    }
}
