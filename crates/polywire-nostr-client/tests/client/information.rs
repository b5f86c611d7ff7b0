//! The relay information document (NIP-11), and headers of the handshake request.

use http::header::{ACCEPT, USER_AGENT};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use polywire_nostr::{RelayInfo, RelayUrl};
use polywire_nostr_client::{InfoError, Relay};
use polywire_rpc::websocket::{WebSocket, WebSocketEndpoint};
use polywire_rpc::{Methods, RunningServer, Server};
use tokio::sync::mpsc;

use crate::support::{options, within};

async fn serve(endpoint: WebSocketEndpoint) -> (RunningServer, RelayUrl) {
    let server = Server::methods(Methods::new()).websocket("/", endpoint);
    let address = "127.0.0.1:0".parse().unwrap();
    let running = server.build().unwrap().listen(address).await.unwrap();
    let url = RelayUrl::parse(&format!("ws://{}", running.address())).unwrap();
    (running, url)
}

async fn ignore(_: WebSocket) {}

#[tokio::test]
async fn fetches_the_document() {
    let info = RelayInfo {
        name: Some("Harbour".into()),
        supported_nips: vec![1, 11],
        ..RelayInfo::default()
    };
    let json = info.to_json();
    let endpoint = WebSocketEndpoint::new(ignore).http_fallback(move |head| {
        let accept = head.headers.get(ACCEPT)?;
        assert_eq!(head.headers[USER_AGENT], "test");
        (accept == RelayInfo::MEDIA_TYPE).then(|| Response::new(json.clone().into()))
    });
    let (_running, url) = serve(endpoint).await;
    let options = options().header(USER_AGENT, HeaderValue::from_static("test"));
    let relay = Relay::connect_with(&url, options);
    assert_eq!(within(relay.fetch_info()).await.unwrap(), info);
}

#[tokio::test]
async fn missing_or_invalid_document() {
    let (_running, url) = serve(WebSocketEndpoint::new(ignore)).await;
    let answer = within(Relay::connect_with(&url, options()).fetch_info()).await;
    let Err(InfoError::Status(status)) = answer else {
        panic!("{answer:?}");
    };
    assert_ne!(status, StatusCode::OK);

    let page =
        WebSocketEndpoint::new(ignore).http_fallback(|_| Some(Response::new("<html>".into())));
    let (running, url) = serve(page).await;
    let relay = Relay::connect_with(&url, options());
    let answer = within(relay.fetch_info()).await;
    assert!(matches!(answer, Err(InfoError::Invalid(_))), "{answer:?}");
    within(running.shutdown()).await;
    let answer = within(relay.fetch_info()).await;
    assert!(matches!(answer, Err(InfoError::Transport(_))), "{answer:?}");
}

#[tokio::test]
async fn headers_are_sent_in_the_handshake() {
    let (sender, mut headers) = mpsc::unbounded_channel();
    let endpoint = WebSocketEndpoint::new(move |socket: WebSocket| {
        let _ = sender.send(socket.headers().clone());
        async move { drop(socket) }
    });
    let (_running, url) = serve(endpoint).await;
    let name = HeaderName::from_static("x-relay-key");
    let options = options().header(name.clone(), HeaderValue::from_static("7"));
    let _relay = Relay::connect_with(&url, options);
    assert_eq!(within(headers.recv()).await.unwrap()[name], "7");
}
