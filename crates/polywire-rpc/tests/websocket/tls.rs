//! WebSocket over TLS.

use polywire_rpc::frames::Client;
use polywire_rpc::tls::{ClientTls, Pem, ServerTls};
use polywire_rpc::websocket::{ConnectError, Message, WebSocket, WebSocketEndpoint};
use polywire_rpc::{Methods, Server};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::support::within;

/// A certificate authority, a certificate for localhost and its key, in PEM.
fn certificates() -> (String, String, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    (authority.pem(), certificate.pem(), key.serialize_pem())
}

#[tokio::test]
async fn messages_and_frames_are_encrypted() {
    let (authority, certificate, key) = certificates();
    let tls = ServerTls::builder(Pem::text(certificate), Pem::text(key))
        .build()
        .unwrap();
    let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    let server = Server::methods(methods)
        .frames(true)
        .websocket("/frames", WebSocketEndpoint::polywire_frames())
        .websocket("/", |mut socket: WebSocket| async move {
            assert!(socket.peer().is_encrypted() && socket.peer().tls().is_some());
            while let Some(Ok(message)) = socket.recv().await {
                socket.send(message).await.unwrap();
            }
        })
        .build()
        .unwrap();
    let listening = server.listen_tls("127.0.0.1:0".parse().unwrap(), &tls);
    let running = listening.await.unwrap();
    let url = format!("wss://localhost:{}/", running.address().port());

    let trusting = ClientTls::new()
        .root_certificates(authority.as_bytes())
        .unwrap();
    let connecting = WebSocket::builder(&url).tls(trusting.clone()).connect();
    let mut socket = connecting.await.unwrap();
    let message = Message::binary(vec![7; 300_000]);
    socket.send(message.clone()).await.unwrap();
    assert_eq!(within(socket.recv()).await, Some(Ok(message)));

    let client = Client::builder()
        .endpoint(&format!("{url}frames"))
        .tls(trusting);
    let client = client.connect().await.unwrap();
    let sum: i32 = within(client.call("Add", (2, 3))).await.unwrap();
    assert_eq!(sum, 5);

    // A client that does not trust the authority gets an error that says so.
    match WebSocket::connect(&url).await.unwrap_err() {
        ConnectError::Transport(error) => assert!(error.is_untrusted(), "{error}"),
        error => panic!("{error}"),
    }
    // Shutdown closes the connection.
    drop(client);
    let stopping = tokio::spawn(running.shutdown());
    assert_eq!(within(socket.recv()).await, None);
    within(stopping).await.unwrap();
}
