//! Handshakes of clients: the request, the checks of the response, and the errors.

use http::HeaderValue;
use http::header::{AUTHORIZATION, USER_AGENT};
use polywire_rpc::websocket::{ConnectError, WebSocket};

use crate::support::{Raw, TEXT, builder, listen, unmasked, within};

#[tokio::test]
async fn headers_path_and_peer_are_seen_by_the_handler() {
    let running = listen(
        builder().websocket("/feed", |socket: WebSocket| async move {
            let agent = socket.headers()[USER_AGENT].to_str().unwrap();
            let peer = socket.peer().address().unwrap().ip();
            let text = format!("{} {agent} {peer}", socket.uri());
            socket.send(text).await.unwrap();
        }),
    )
    .await;
    let url = format!("ws://{}/feed?since=7", running.address());
    let connecting = WebSocket::builder(&url)
        .header(USER_AGENT, HeaderValue::from_static("kettle/1"))
        .connect();
    let mut socket = connecting.await.unwrap();
    let message = within(socket.recv()).await.unwrap().unwrap();
    assert_eq!(message.as_text(), Some("/feed?since=7 kettle/1 127.0.0.1"));
    assert_eq!(socket.uri(), "/feed?since=7");
    assert_eq!(socket.headers()["upgrade"], "websocket");
}

/// Connects to a server that sends the response from `answer`, which gets the value for Sec-WebSocket-Accept.
async fn connect_to_server_that_sends(
    answer: impl Fn(&str) -> String + Send + 'static,
) -> Result<WebSocket, ConnectError> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut raw = Raw::of(stream);
        let accept = raw.accept_of_request().await;
        raw.send(answer(&accept)).await;
        // Reads until the client closes the connection.
        while raw.stream.readable().await.is_ok()
            && raw.stream.try_read(&mut [0; 64]).is_ok_and(|n| n > 0)
        {}
    });
    within(
        WebSocket::builder(&format!("ws://{address}/"))
            .protocol("one")
            .connect(),
    )
    .await
}

#[tokio::test]
async fn invalid_answers_are_errors() {
    let ok = |accept: &str| {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n"
        )
    };
    assert!(
        connect_to_server_that_sends(move |accept| ok(accept) + "\r\n")
            .await
            .is_ok()
    );
    let more = "Sec-WebSocket-Protocol: one\r\n\r\n";
    let socket = connect_to_server_that_sends(move |accept| ok(accept) + more)
        .await
        .unwrap();
    assert_eq!(socket.protocol(), Some("one"));

    let error =
        connect_to_server_that_sends(move |_| ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") + "\r\n").await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("Sec-WebSocket-Accept")
    );
    let more = "Sec-WebSocket-Protocol: two\r\n\r\n";
    let error = connect_to_server_that_sends(move |accept| ok(accept) + more).await;
    assert!(error.unwrap_err().to_string().contains("subprotocol"));
    let more = "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
    let error = connect_to_server_that_sends(move |accept| ok(accept) + more).await;
    assert!(error.unwrap_err().to_string().contains("extension"));
    let error = connect_to_server_that_sends(|accept| {
        format!("HTTP/1.1 101 Over\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Accept: {accept}\r\n\r\n")
    })
    .await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("upgrade to websocket")
    );

    let error = connect_to_server_that_sends(|_| {
        "HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\nNot here\n".to_owned()
    })
    .await;
    match error.unwrap_err() {
        ConnectError::Refused { status, text } => {
            assert_eq!((status.as_u16(), &*text), (403, "Not here\n"));
        }
        error => panic!("{error}"),
    }
    let error = connect_to_server_that_sends(|_| "220 mail.example ESMTP\r\n".to_owned()).await;
    assert!(
        matches!(error, Err(ConnectError::Transport(_))),
        "{error:?}"
    );
}

#[tokio::test]
async fn messages_sent_with_the_upgrade_response_are_received() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut raw = Raw::of(stream);
        let accept = raw.accept_of_request().await;
        let mut answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        )
        .into_bytes();
        answer.extend(unmasked(TEXT, "early"));
        raw.send(answer).await;
        raw
    });
    let mut socket = WebSocket::connect(&format!("ws://{address}"))
        .await
        .unwrap();
    let message = within(socket.recv()).await.unwrap().unwrap();
    assert_eq!(message.as_text(), Some("early"));
    drop(serving.await.unwrap());
}

#[tokio::test]
async fn invalid_urls_and_unreachable_servers_are_errors() {
    for (url, word) in [
        ("http://localhost/", "ws://HOST"),
        ("localhost", "no scheme"),
        ("ws://user:secret@localhost/", "authorization"),
        ("ws://local host/", "white space"),
    ] {
        let error = WebSocket::connect(url).await.unwrap_err();
        assert!(matches!(error, ConnectError::Url(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(word) && !text.contains("secret"), "{text}");
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = WebSocket::connect(&format!("ws://{address}"))
        .await
        .unwrap_err();
    match error {
        ConnectError::Transport(error) => assert!(error.is_refused(), "{error}"),
        error => panic!("{error}"),
    }
    let name = WebSocket::builder("ws://localhost")
        .protocol("a b")
        .connect();
    assert!(matches!(name.await, Err(ConnectError::Handshake(_))));
    // `Debug` output contains neither the Authorization header nor the query.
    let builder = WebSocket::builder("ws://localhost/?token=secret")
        .header(AUTHORIZATION, HeaderValue::from_static("secret"));
    assert!(!format!("{builder:?}").contains("secret"));
}
