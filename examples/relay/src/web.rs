//! The HTTP server: WebSocket upgrades, the information document (NIP-11) and metrics.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, header, request};
use polywire_nostr::message::SubscriptionId;
use polywire_nostr::{Limitation, RelayInfo};
use polywire_rpc::layers::Firewall;
use polywire_rpc::websocket::{WebSocket, WebSocketEndpoint, WebSocketLimits};
use polywire_rpc::{BuildError, Methods, Server};

use crate::connection;
use crate::options::Options;
use crate::relay::Relay;

/// The NIPs that the relay implements.
const NIPS: [u16; 7] = [1, 9, 11, 40, 42, 45, 77];

/// The maximum number of messages in the send queue of a connection.
const QUEUE: usize = 50_000;

pub(crate) fn server(relay: &Arc<Relay>) -> Result<Server, BuildError> {
    let options = &relay.options;
    let limits = WebSocketLimits::DEFAULT
        .with_max_message_bytes(options.max_message)
        .with_max_queued(QUEUE, options.max_queue)
        .with_write_timeout(Duration::from_secs(options.slow_reader));
    let document = Bytes::from(information(options).to_json());
    let weak = Arc::downgrade(relay);
    let handler = move |socket: WebSocket| {
        let relay = weak.upgrade();
        async move {
            if let Some(relay) = relay {
                connection::serve(relay, socket).await;
            }
        }
    };
    let endpoint = WebSocketEndpoint::new(handler)
        .limits(limits)
        // Nostr clients are web pages of any origin. The relay uses neither cookies nor HTTP authentication.
        .any_origin()
        .http_fallback(move |head| Some(page(head, &document)));
    // No client can offer a supported subprotocol, so only plain HTTP requests are answered.
    let weak = Arc::downgrade(relay);
    let metrics = WebSocketEndpoint::new(|_| async {})
        .require_protocol()
        .http_fallback(move |_| weak.upgrade().map(|relay| metrics(&relay)));
    let firewall = Firewall::new().connections_per_address(options.max_connections);
    Server::methods(Methods::new())
        .firewall(firewall)
        .websocket("/", endpoint)
        .websocket("/metrics", metrics)
        .build()
}

/// The information document (NIP-11).
fn information(options: &Options) -> RelayInfo {
    RelayInfo {
        name: Some(options.name.clone()),
        supported_nips: NIPS.to_vec(),
        software: Some("https://github.com/polywire/polywire".into()),
        version: Some(env!("CARGO_PKG_VERSION").into()),
        limitation: Limitation {
            max_message_length: Some(options.max_message as u64),
            max_subscriptions: Some(options.max_subscriptions as u64),
            max_filters: Some(options.max_filters as u64),
            max_limit: Some(options.max_limit),
            default_limit: Some(options.max_limit),
            max_subid_length: Some(SubscriptionId::MAX_CHARACTERS as u64),
            max_event_tags: Some(options.max_tags as u64),
            auth_required: Some(options.require_auth),
            created_at_upper_limit: Some(options.max_future),
            ..Limitation::default()
        },
        ..RelayInfo::default()
    }
}

/// Returns the information document if the client accepts it, else a line of text.
fn page(head: &request::Parts, document: &Bytes) -> Response<Bytes> {
    let accept = head.headers.get(header::ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    let accepted = accept.is_some_and(|accept| accept.contains(RelayInfo::MEDIA_TYPE));
    let (kind, body) = match accepted || head.method == Method::OPTIONS {
        true => (RelayInfo::MEDIA_TYPE, document.clone()),
        false => ("text/plain", Bytes::from_static(b"A Nostr relay\n")),
    };
    let mut response = respond(kind, body);
    let headers = response.headers_mut();
    // NIP-11 requires CORS headers for any web page.
    for name in [
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        header::ACCESS_CONTROL_ALLOW_METHODS,
    ] {
        headers.insert(name, HeaderValue::from_static("*"));
    }
    response
}

fn metrics(relay: &Relay) -> Response<Bytes> {
    let mut text = relay.metrics.to_prometheus(relay.store.queued());
    if let Some(server) = relay.server.get() {
        text += &server.websocket_stats().to_prometheus();
    }
    respond("text/plain; version=0.0.4", text.into())
}

fn respond(kind: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
