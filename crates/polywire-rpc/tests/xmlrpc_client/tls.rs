//! HTTPS: server certificates and client certificates.

use std::sync::{Arc, Mutex};

use polywire_rpc::CallError;
use polywire_rpc::connect::{Proxy, Step};
use polywire_rpc::tls::ClientTls;
use polywire_rpc::xmlrpc::Client;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::authority::{Authority, Certificate};
use crate::support::{ReceivedRequest, ok, serve};

/// A server with a certificate. It requires client certificates if an authority for them is
/// given.
async fn server(
    certificate: &Certificate,
    callers: Option<&Authority>,
) -> (u16, Arc<Mutex<Vec<ReceivedRequest>>>) {
    server_with_result(certificate, callers, "<int>1</int>").await
}

/// Like `server`, with this value as the result of each call.
async fn server_with_result(
    certificate: &Certificate,
    callers: Option<&Authority>,
    value: &'static str,
) -> (u16, Arc<Mutex<Vec<ReceivedRequest>>>) {
    use rustls::pki_types::pem::PemObject;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = match callers {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(certificate.key.as_bytes()).unwrap();
    let config = builder
        .with_single_cert(vec![certificate.der.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    tokio::spawn(async move {
        for connection in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let (acceptor, list) = (acceptor.clone(), list.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let script = Arc::new(|_: usize, _: &ReceivedRequest| ok(value));
                serve(stream, connection, script, list).await;
            });
        }
    });
    (port, seen)
}

async fn call(url: &str, tls: ClientTls) -> Result<(), CallError> {
    let client = Client::builder(url).unwrap().tls(tls).build().unwrap();
    client.call_values("m", &[]).await?;
    client.call_values("m", &[]).await.map(drop)
}

fn step(error: &CallError) -> Step {
    error.transport().unwrap().step()
}

#[tokio::test]
async fn only_configured_roots_are_trusted() {
    let authority = Authority::new();
    let (port, seen) = server(&authority.sign("localhost"), None).await;
    let url = format!("https://localhost:{port}/RPC2");
    let tls = ClientTls::new()
        .root_certificates(authority.pem().as_bytes())
        .unwrap();
    call(&url, tls.clone()).await.unwrap();
    {
        let seen = seen.lock().unwrap();
        // Over TLS too, the calls use one connection and arrive in one read each.
        assert!(
            seen.iter()
                .all(|seen| seen.connection == 0 && seen.reads == 1)
        );
    }
    let other = ClientTls::new().root_certificates(Authority::new().pem().as_bytes());
    let error = call(&url, other.unwrap()).await.unwrap_err();
    assert_eq!(step(&error), Step::Tls);
    assert!(error.is_unstarted());
    let text = error.to_string();
    assert!(text.contains("no authority that is trusted here"), "{text}");
    assert!(text.contains(&format!("127.0.0.1:{port}")), "{text}");
    // The authority is trusted, but the certificate is for another host.
    let error = call(&format!("https://127.0.0.1:{port}/RPC2"), tls.clone()).await;
    let text = error.unwrap_err().to_string();
    assert!(text.contains("another host's"), "{text}");
    // `server_name` sets the host name to verify.
    let named = tls.server_name("localhost").unwrap();
    call(&format!("https://127.0.0.1:{port}/RPC2"), named)
        .await
        .unwrap();
}

#[tokio::test]
async fn with_pins_only_pinned_certificates_are_accepted() {
    let authority = Authority::new();
    let certificate = authority.sign("somewhere.else");
    let (port, _) = server(&certificate, None).await;
    let url = format!("https://localhost:{port}");
    let digest = ring::digest::digest(&ring::digest::SHA256, &certificate.der);
    let hex: Vec<String> = digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    for fingerprint in [hex.join(":"), hex.concat().to_lowercase()] {
        let tls = ClientTls::new().pin_sha256(&fingerprint).unwrap();
        call(&url, tls).await.unwrap();
    }
    let tls = ClientTls::new().pin_sha256(&"00".repeat(32)).unwrap();
    let tls = tls.pin_sha256(&"ab".repeat(32)).unwrap();
    let text = call(&url, tls).await.unwrap_err().to_string();
    // The error contains the fingerprint of the server, so that a user can compare and pin it.
    let found = format!("has the SHA-256 {}, and pinned is ", hex.join(":"));
    let pinned = ["00", "AB"].map(|byte| [byte; 32].join(":"));
    let expected = format!("{found}{}. If", pinned.join(" or "));
    assert!(text.contains(&expected), "{text}");
    assert!(
        text.ends_with("pin that; if not, somebody is in between"),
        "{text}"
    );
    // With pinned certificates no other certificate is accepted, even if invalid ones are
    // allowed.
    for accept in [false, true] {
        let tls = ClientTls::new().pin_sha256(&"00".repeat(32)).unwrap();
        let tls = tls.danger_accept_invalid_certificates(accept);
        call(&url, tls).await.unwrap_err();
    }
    for wrong in ["", "00", "zz", &"00".repeat(33)] {
        assert!(ClientTls::new().pin_sha256(wrong).is_err(), "{wrong}");
    }
    let tls = ClientTls::new().danger_accept_invalid_certificates(true);
    call(&url, tls).await.unwrap();
}

#[tokio::test]
async fn clients_show_certificates() {
    let authority = Authority::new();
    let (port, _) = server(&authority.sign("localhost"), Some(&authority)).await;
    let url = format!("https://localhost:{port}");
    let tls = ClientTls::new()
        .root_certificates(authority.pem().as_bytes())
        .unwrap();
    call(&url, tls.clone()).await.unwrap_err();
    let own = authority.sign("me");
    let tls = tls.client_certificate(own.pem.as_bytes(), own.key.as_bytes());
    let tls = tls.unwrap();
    assert!(!format!("{tls:?}").contains("PRIVATE"));
    call(&url, tls).await.unwrap();
    let other = authority.sign("other");
    let wrong = ClientTls::new().client_certificate(own.pem.as_bytes(), other.key.as_bytes());
    assert!(wrong.is_err());
    let none = ClientTls::new().client_certificate(&b"x"[..], own.key.as_bytes());
    assert!(none.unwrap_err().to_string().contains("PEM"));
}

#[tokio::test]
async fn a_server_without_tls() {
    let tls = ClientTls::new().danger_accept_invalid_certificates(true);
    // The response of an HTTP server to a TLS handshake.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_buf(&mut Vec::new()).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
    });
    let error = call(&format!("https://127.0.0.1:{port}"), tls).await;
    let text = error.unwrap_err().to_string();
    assert!(text.contains("http instead of https"), "{text}");
}

/// An HTTP proxy that accepts one CONNECT request. Returns the head of that request.
async fn tunnel(listener: TcpListener) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_buf(&mut head).await.unwrap();
    }
    let head = String::from_utf8(head).unwrap();
    let target = head.split(' ').nth(1).unwrap();
    let mut server = TcpStream::connect(target).await.unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    tokio::spawn(async move { tokio::io::copy_bidirectional(&mut stream, &mut server).await });
    head
}

#[tokio::test]
async fn tls_through_a_proxy_tunnel() {
    let authority = Authority::new();
    let (port, seen) = server(&authority.sign("localhost"), None).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://me:pw@{}", listener.local_addr().unwrap());
    let passed = tokio::spawn(tunnel(listener));
    let client = Client::builder(&format!("https://localhost:{port}/RPC2")).unwrap();
    let tls = ClientTls::new()
        .root_certificates(authority.pem().as_bytes())
        .unwrap();
    let client = client.tls(tls).proxy(Proxy::new(&proxy).unwrap());
    let client = client.basic("a", "b").build().unwrap();
    client.call_values("m", &[]).await.unwrap();
    let head = passed.await.unwrap();
    assert!(
        head.starts_with(&format!("CONNECT localhost:{port} HTTP/1.1")),
        "{head}"
    );
    assert!(
        head.contains("Proxy-Authorization: Basic bWU6cHc="),
        "{head}"
    );
    // The proxy does not get the credentials of the server, nor the server those of the proxy.
    assert!(!head.contains("\r\nAuthorization"), "{head}");
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].line(), "POST /RPC2 HTTP/1.1");
    assert_eq!(seen[0].header("proxy-authorization"), None);
}

#[tokio::test]
async fn a_handshake_that_never_ends_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = Client::builder(&format!("https://{address}")).unwrap();
    let client = client.connect_timeout(std::time::Duration::from_millis(50));
    let client = client.build().unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    assert_eq!(step(&error), Step::Tls);
    assert!(error.is_timeout() && error.is_unstarted());
    let text = error.to_string();
    let expected = format!("TLS with {address}: not done within 0.05 s");
    assert!(text.ends_with(&expected), "{text}");
}

#[tokio::test]
async fn modelled_clients_support_tls() {
    let text = r#"
        $version: "2"
        namespace example
        service Greeter { version: "1", operations: [Greet] }
        operation Greet { output := { text: String } }
    "#;
    let mut loader = polywire_model::Loader::new();
    let loaded = loader.add_text("greeter.smithy", text).assemble();
    let schemas = loaded.unwrap().model.schemas("example#Greeter");
    let schemas = Arc::new(schemas.unwrap().unwrap());
    let service = polywire_rpc::ServiceHandle::new(schemas, 0);
    let authority = Authority::new();
    let answer = "<struct><member><name>text</name><value>hi</value></member></struct>";
    let (port, seen) = server_with_result(&authority.sign("localhost"), None, answer).await;
    let tls = ClientTls::new()
        .root_certificates(authority.pem().as_bytes())
        .unwrap();
    let kind = polywire_protocol::ProtocolKind::XmlRpc;
    let builder = || polywire_rpc::Client::builder(service.clone(), kind);
    let url = format!("https://localhost:{port}");
    let client = builder().tls(tls).connect(&url).unwrap();
    let output = client
        .call("Greet", polywire_schema::Map::new())
        .await
        .unwrap();
    assert_eq!(output["text"].as_str(), Some("hi"));
    assert_eq!(seen.lock().unwrap()[0].line(), "POST /RPC2 HTTP/1.1");
    let client = builder().connect(&url).unwrap();
    let error = client.call("Greet", polywire_schema::Map::new()).await;
    let text = error.unwrap_err().to_string();
    assert!(text.contains("no authority that is trusted"), "{text}");
}
