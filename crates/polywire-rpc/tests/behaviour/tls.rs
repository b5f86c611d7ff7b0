//! HTTPS: server and client certificates, handshakes, and reloading of settings.

use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use polywire_rpc::server::{Listener, UnixSocket};
use polywire_rpc::tls::{ClientCertificates, Pem, ServerTls, ServerTlsBuilder, TlsPeer};
use polywire_rpc::{Context, RunningServer, dynamic};
use polywire_schema::Map;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::authority::{Authority, Certificate};
use crate::support::{Socket, WIRES, builder, call_of, request, within};

const CREATE: &str = r#"{"name":"kettle"}"#;

fn pems(certificate: &Certificate) -> (Pem, Pem) {
    (Pem::text(&certificate.pem), Pem::text(&certificate.key))
}

/// A client that trusts an authority, with a client certificate if there is one.
fn connector(authority: &Authority, own: Option<&Certificate>, alpn: &[&str]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match own {
        None => config.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
            config
                .with_client_auth_cert(vec![own.der.clone()], key)
                .unwrap()
        }
    };
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

async fn connect(
    running: &RunningServer,
    connector: &TlsConnector,
    name: &'static str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(running.address()).await.unwrap();
    let name = ServerName::try_from(name).unwrap();
    within(connector.connect(name, stream)).await
}

/// The certificate of the server.
fn server_certificate(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone()
}

async fn listen(tls: &ServerTls) -> (RunningServer, mpsc::UnboundedReceiver<Option<TlsPeer>>) {
    let (send, seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |mut input: Map, context: Context| {
        send.send(context.caller().tls().cloned()).unwrap();
        assert!(context.caller().is_encrypted());
        input.insert("id", 7);
        async { Ok(input) }
    });
    let server = builder().operation("Create", handler).build().unwrap();
    let running = server.listen_tls("127.0.0.1:0".parse().unwrap(), tls);
    (running.await.unwrap(), seen)
}

fn settings(own: &Certificate) -> ServerTlsBuilder {
    let (certificate, key) = pems(own);
    ServerTls::builder(certificate, key)
}

#[tokio::test]
async fn every_wire() {
    let authority = Authority::new();
    let own = authority.sign("localhost");
    let (running, mut seen) = listen(&settings(&own).build().unwrap()).await;
    let connector = connector(&authority, None, &["http/1.1"]);
    let stream = connect(&running, &connector, "localhost").await.unwrap();
    let mut socket = Socket::over(stream);
    for kind in WIRES {
        socket
            .write(call_of(kind, "/things", "Create", CREATE))
            .await;
        assert!(socket.reply().await.status < 300, "{kind}");
        let tls = within(seen.recv()).await.unwrap().unwrap();
        assert_eq!(tls.certificates().len(), 0);
        assert_eq!(tls.server_name(), Some("localhost"));
        assert_eq!(tls.alpn(), Some(&b"http/1.1"[..]));
        assert_eq!(tls.version(), "TLSv1.3");
    }
    // Shutdown closes the TLS connection without an error.
    let (ends, ()) = tokio::join!(socket.ends(), running.shutdown());
    assert!(ends);
}

#[tokio::test]
async fn http2_by_alpn() {
    let authority = Authority::new();
    let own = authority.sign("localhost");
    let (running, mut seen) = listen(&settings(&own).build().unwrap()).await;
    let connector = connector(&authority, None, &["h2", "http/1.1"]);
    let stream = connect(&running, &connector, "localhost").await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let io = hyper_util::rt::TokioIo::new(stream);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io)
        .await
        .unwrap();
    tokio::spawn(connection);
    for _ in 0..3 {
        let request = http::Request::post("https://localhost/things")
            .header("content-type", "application/json")
            .body(CREATE.to_owned())
            .unwrap();
        let response = within(sender.send_request(request)).await.unwrap();
        assert_eq!(response.status(), 201);
        let tls = within(seen.recv()).await.unwrap().unwrap();
        assert_eq!(tls.alpn(), Some(&b"h2"[..]));
    }
}

/// TLS wraps any listener. The credentials of the inner Unix socket stay available.
#[cfg(unix)]
#[tokio::test]
async fn over_unix_sockets() {
    let authority = Authority::new();
    let tls = settings(&authority.sign("localhost")).build().unwrap();
    let (send, mut seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |_: Map, context: Context| {
        let caller = context.caller();
        let facts = (
            caller.credentials().is_some(),
            caller.is_local(),
            caller.tls().is_some(),
        );
        send.send(facts).unwrap();
        async { Ok(Map::new()) }
    });
    let server = builder().operation("Deep", handler).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tls.sock");
    let listener = UnixSocket::new(&path).bind().await.unwrap();
    let running = server.serve(listener.tls(&tls)).unwrap();
    let stream = tokio::net::UnixStream::connect(running.path())
        .await
        .unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = connector(&authority, None, &["http/1.1"]);
    let stream = within(connector.connect(name, stream)).await.unwrap();
    let mut socket = Socket::over(stream);
    socket.write(request("POST /deep", &[], "{}")).await;
    assert_eq!(socket.reply().await.status, 200);
    assert_eq!(within(seen.recv()).await, Some((true, true, true)));
    let (ends, ()) = tokio::join!(socket.ends(), running.shutdown());
    assert!(ends && !path.exists());
}

#[tokio::test]
async fn certificates_of_clients() {
    let authority = Authority::new();
    let stranger = Authority::new();
    let own = authority.sign("localhost");
    let ada = authority.sign("ada");
    let mallory = stranger.sign("ada");
    for clients in [ClientCertificates::Required, ClientCertificates::Optional] {
        let tls = settings(&own).clients(clients, Pem::text(authority.pem()));
        let (running, mut seen) = listen(&tls.build().unwrap()).await;
        for (identity, good) in [
            (Some(&ada), true),
            (Some(&mallory), false),
            (None, clients == ClientCertificates::Optional),
        ] {
            let connector = connector(&authority, identity, &[]);
            let stream = connect(&running, &connector, "localhost").await;
            // In TLS 1.3 a client learns of a rejected certificate only after its handshake.
            let reply = match stream {
                Ok(stream) => {
                    let mut socket = Socket::over(stream);
                    socket.write(request("POST /things", &[], CREATE)).await;
                    socket.try_reply().await
                }
                Err(_) => None,
            };
            assert_eq!(reply.map(|reply| reply.status), good.then_some(201));
            if good {
                let tls = within(seen.recv()).await.unwrap().unwrap();
                let certificates: Vec<Vec<u8>> = tls.certificates().map(<[u8]>::to_vec).collect();
                let own = identity.map(|identity| identity.der.to_vec());
                assert_eq!(certificates, Vec::from_iter(own));
            }
            assert!(seen.try_recv().is_err());
        }
    }
}

#[tokio::test]
async fn certificates_are_selected_by_sni_and_a_failed_reload_changes_nothing() {
    let authority = Authority::new();
    let folder = std::env::temp_dir().join(format!("polywire-tls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (certificate, key) = (folder.join("own.pem"), folder.join("own.key"));
    let put = |identity: &Certificate| {
        std::fs::write(&certificate, &identity.pem).unwrap();
        std::fs::write(&key, &identity.key).unwrap();
    };
    let first = authority.sign("localhost");
    let second = authority.sign("localhost");
    let (api, any) = (
        authority.sign("api.example.org"),
        authority.sign("*.example.org"),
    );
    put(&first);
    let tls = ServerTls::builder(Pem::file(&certificate), Pem::file(&key))
        .certificate_for("API.example.org", pems(&api).0, pems(&api).1)
        .certificate_for("*.example.org", pems(&any).0, pems(&any).1)
        .build()
        .unwrap();
    let (running, _seen) = listen(&tls).await;
    let connector = connector(&authority, None, &[]);
    let show = async |name| server_certificate(&connect(&running, &connector, name).await.unwrap());
    let open = connect(&running, &connector, "localhost").await.unwrap();
    assert_eq!(server_certificate(&open), first.der);
    assert_eq!(show("api.example.org").await, api.der);
    assert_eq!(show("other.example.org").await, any.der);

    // A reload with a certificate that does not match the key fails and changes nothing.
    std::fs::write(&certificate, &second.pem).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(
        error.contains("own.pem") && error.contains("own.key"),
        "{error}"
    );
    assert_eq!(show("localhost").await, first.der);
    put(&second);
    tls.reload().unwrap();
    assert_eq!(show("localhost").await, second.der);
    assert_eq!(show("api.example.org").await, api.der);
    // Open connections stay usable.
    let mut socket = Socket::over(open);
    socket.write(request("GET /status/201", &[], "")).await;
    assert_eq!(socket.reply().await.status, 201);
    tls.replace(settings(&first)).unwrap();
    assert_eq!(show("localhost").await, first.der);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn invalid_settings() {
    let authority = Authority::new();
    let (one, other) = (authority.sign("localhost"), authority.sign("localhost"));
    let (certificate, key) = pems(&one);
    let error = |builder: ServerTlsBuilder| builder.build().unwrap_err().to_string();
    let missing = error(ServerTls::builder(Pem::file("/none/own.pem"), key.clone()));
    assert!(missing.contains("/none/own.pem: No such file"), "{missing}");
    let mixed = error(ServerTls::builder(key.clone(), certificate.clone()));
    assert!(mixed.contains("holds no certificate"), "{mixed}");
    let no_key = error(ServerTls::builder(certificate.clone(), certificate.clone()));
    assert!(no_key.contains("holds no private key"), "{no_key}");
    let another = error(ServerTls::builder(certificate, pems(&other).1));
    assert!(another.to_lowercase().contains("key"), "{another}");
    let noise = error(ServerTls::builder(Pem::text("noise"), key));
    assert!(noise.contains("holds no certificate"), "{noise}");
    let roots = settings(&one).clients(ClientCertificates::Required, Pem::text(""));
    assert!(error(roots).contains("holds no certificate"));
    // `Debug` does not show keys.
    let debug = format!("{:?}", settings(&one).build().unwrap());
    assert!(!debug.contains("BEGIN"), "{debug}");
}

/// A connection without a complete handshake is closed after the timeout. A plain HTTP request gets
/// status 400 with an explanation.
#[tokio::test]
async fn invalid_handshakes() {
    let own = Authority::new().sign("localhost");
    let tls = settings(&own).handshake_timeout(Duration::from_millis(200));
    let (running, _seen) = listen(&tls.build().unwrap()).await;
    let open = async || Socket::over(TcpStream::connect(running.address()).await.unwrap());
    assert!(open().await.ends().await);
    // An incomplete handshake.
    let mut slow = open().await;
    slow.write(b"\x16\x03\x01").await;
    assert!(slow.ends().await);
    let mut plain = open().await;
    plain.write(request("GET /", &[], "")).await;
    let reply = plain.reply().await;
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("HTTPS"), "{}", reply.text());
    let mut noise = TcpStream::connect(running.address()).await.unwrap();
    noise.write_all(&[0x80; 64]).await.unwrap();
    let mut socket = Socket::over(noise);
    // The server sends at most a TLS alert and closes the connection.
    assert!(socket.drain().await < 16);
    // A silent peer does not delay shutdown.
    let _silent = open().await;
    within(running.shutdown()).await;
}
