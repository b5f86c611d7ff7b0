//! Frames over TLS: trust in servers, and client certificates.

use std::time::Duration;

use polywire_rpc::auth::{BearerAuth, ClientCertificateAuth};
use polywire_rpc::frames::{Client, ConnectError};
use polywire_rpc::tls::{ClientCertificates, ClientTls, Pem, ServerTls};
use polywire_rpc::{Context, Methods, RunningServer, Server};

use crate::authority::{Authority, Certificate};

/// A server whose method `Who` returns whether the connection is encrypted, and the number of client certificates.
/// `callers` signs client certificates, which are required if it is given.
async fn server(authority: &Authority, callers: Option<&Authority>) -> RunningServer {
    let methods = Methods::new().method("Who", |(), context: Context| async move {
        let shown = context.caller().tls().map(|tls| tls.certificates().len());
        (context.caller().is_encrypted(), shown)
    });
    let Certificate {
        pem: certificate,
        key,
        ..
    } = authority.sign("localhost");
    let mut tls = ServerTls::builder(Pem::text(certificate), Pem::text(key));
    if let Some(callers) = callers {
        tls = tls.clients(ClientCertificates::Required, Pem::text(callers.pem()));
    }
    let server = Server::methods(methods).frames(true).build().unwrap();
    let tls = tls.build().unwrap();
    let listening = server.listen_tls("127.0.0.1:0".parse().unwrap(), &tls);
    listening.await.unwrap()
}

async fn client(running: &RunningServer, tls: ClientTls) -> Result<Client, ConnectError> {
    let url = format!("tcp+tls://localhost:{}", running.address().port());
    // The TLS settings may be set after the endpoint.
    Client::builder().endpoint(&url).tls(tls).connect().await
}

/// One time limit applies to all steps of connecting, and the error names the step that exceeded it.
#[tokio::test]
async fn connect_timeouts_name_the_step() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    for (scheme, expected) in [
        (
            "tcp+tls",
            format!("TLS with {address}: not done within 0.1 s"),
        ),
        ("tcp", "the handshake: not done within 0.1 s".to_owned()),
    ] {
        let url = format!("{scheme}://{address}");
        for _ in 0..10 {
            let client = Client::builder().endpoint(&url);
            let client = client.connect_timeout(Duration::from_millis(100));
            let words = client.connect().await.unwrap_err().to_string();
            assert!(words.ends_with(&expected), "{words}");
        }
    }
}

#[tokio::test]
async fn calls_are_encrypted() {
    let authority = Authority::new();
    let running = server(&authority, None).await;
    let tls = ClientTls::new().root_certificates(authority.pem().as_bytes());
    let client = client(&running, tls.unwrap()).await.unwrap();
    let who: (bool, Option<usize>) = client.call("Who", ()).await.unwrap();
    assert_eq!(who, (true, Some(0)));
}

#[tokio::test]
async fn both_sides_may_send_certificates() {
    let (servers, callers) = (Authority::new(), Authority::new());
    let running = server(&servers, Some(&callers)).await;
    let trusting = ClientTls::new().root_certificates(servers.pem().as_bytes());
    let trusting = trusting.unwrap();
    let Certificate {
        pem: certificate,
        key,
        ..
    } = callers.sign("caller");
    let known = trusting
        .clone()
        .client_certificate(certificate.as_bytes(), key.as_bytes());
    let known = client(&running, known.unwrap()).await.unwrap();
    let who: (bool, Option<usize>) = known.call("Who", ()).await.unwrap();
    assert_eq!(who, (true, Some(1)));
    // A client without a certificate is rejected.
    client(&running, trusting).await.unwrap_err();
}

#[tokio::test]
async fn untrusted_servers_are_not_called() {
    let (authority, other) = (Authority::new(), Authority::new());
    let running = server(&authority, None).await;
    let tls = ClientTls::new().root_certificates(other.pem().as_bytes());
    let error = client(&running, tls.unwrap()).await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("no authority that is trusted here"),
        "{words}"
    );
}

/// Connecting fails if only the client or only the server uses TLS.
#[tokio::test]
async fn connecting_fails_unless_both_sides_use_tls() {
    let authority = Authority::new();
    let tls = ClientTls::new().root_certificates(authority.pem().as_bytes());
    let plain = crate::support::server().await;
    client(&plain, tls.unwrap()).await.unwrap_err();
    let secured = server(&authority, None).await;
    let url = format!("tcp://localhost:{}", secured.address().port());
    Client::connect(&url).await.unwrap_err();
}

/// A client certificate that was verified in the handshake authenticates calls. A client without one needs another
/// method, here a bearer token.
#[tokio::test]
async fn client_certificates_authenticate_calls() {
    let (servers, callers) = (Authority::new(), Authority::new());
    let Certificate {
        pem: certificate,
        key,
        ..
    } = servers.sign("localhost");
    let tls = ServerTls::builder(Pem::text(certificate), Pem::text(key))
        .clients(ClientCertificates::Optional, Pem::text(callers.pem()))
        .build()
        .unwrap();
    let methods = Methods::new().method("Name", |(): (), context: Context| async move {
        context.user().map(str::to_owned)
    });
    let server = Server::methods(methods)
        .frames(true)
        .authenticate(ClientCertificateAuth::any())
        .authenticate(BearerAuth::tokens([("job", "token")]))
        .build()
        .unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let running = server.listen_tls(address, &tls).await.unwrap();
    let trusting = ClientTls::new().root_certificates(servers.pem().as_bytes());
    let trusting = trusting.unwrap();
    let Certificate {
        pem: certificate,
        key,
        ..
    } = callers.sign("caller");
    let known = trusting
        .clone()
        .client_certificate(certificate.as_bytes(), key.as_bytes());
    let known = client(&running, known.unwrap()).await.unwrap();
    let name: String = known.call("Name", ()).await.unwrap();
    let digits = name.strip_prefix("sha256:").unwrap();
    assert!(digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let other = client(&running, trusting).await.unwrap();
    let error = other.call::<String>("Name", ()).await.unwrap_err();
    let code = error.frame_code().unwrap();
    assert_eq!(code, polywire_frame::FaultCode::UNAUTHENTICATED);
    let job = other.with_authorization("Bearer token");
    assert_eq!(job.call::<String>("Name", ()).await.unwrap(), "job");
}
