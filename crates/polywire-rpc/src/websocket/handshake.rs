//! The handshake over HTTP/1.1 (RFC 6455, section 4).

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Version, request, response};
use tungstenite::handshake::derive_accept_key;

/// The only version that there is.
const VERSION: HeaderValue = HeaderValue::from_static("13");
const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// Why a request is not upgraded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    pub(super) text: &'static str,
    /// What the client is told beside.
    header: Option<(&'static str, &'static str)>,
}

const fn refusal(status: StatusCode, text: &'static str) -> Refusal {
    Refusal {
        status,
        text,
        header: None,
    }
}

const fn bad(text: &'static str) -> Refusal {
    refusal(StatusCode::BAD_REQUEST, text)
}

const METHOD: Refusal = Refusal {
    header: Some(("allow", "GET")),
    ..refusal(
        StatusCode::METHOD_NOT_ALLOWED,
        "A WebSocket is asked for by GET (RFC 6455, section 4.1).\n",
    )
};
const HTTP_1_0: Refusal = bad("A WebSocket needs HTTP/1.1 (RFC 6455, section 4.1).\n");
const BODY: Refusal = bad("A request for a WebSocket has no body.\n");
const NO_UPGRADE_TOKEN: Refusal =
    bad("The header Upgrade has to name websocket (RFC 6455, section 4.2.1).\n");
const NO_CONNECTION_TOKEN: Refusal =
    bad("The header Connection has to name Upgrade (RFC 6455, section 4.2.1).\n");
const OTHER_VERSION: Refusal = Refusal {
    header: Some(("sec-websocket-version", "13")),
    ..refusal(
        StatusCode::UPGRADE_REQUIRED,
        "The only version that this server knows is 13 (RFC 6455, section 4.4).\n",
    )
};
const KEY: Refusal =
    bad("Expected one header Sec-WebSocket-Key: 16 bytes in base64 (RFC 6455, section 4.2.1).\n");
const PROTOCOLS: Refusal =
    bad("Sec-WebSocket-Protocol has to list names without doubles (RFC 6455, section 4.1).\n");
pub(super) const NO_PROTOCOL: Refusal =
    bad("Sec-WebSocket-Protocol names no subprotocol that is spoken here.\n");
pub(super) const FOREIGN: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "A web page of another origin may not connect here.\n",
);
pub(super) const NO_UPGRADE: Refusal = refusal(
    StatusCode::NOT_IMPLEMENTED,
    "This connection cannot be upgraded: a WebSocket needs HTTP/1.1 without a gateway.\n",
);
/// For requests that ask for no upgrade where there is nothing else.
pub(super) const NO_REQUEST: Refusal = Refusal {
    header: Some(("upgrade", "websocket")),
    ..refusal(
        StatusCode::UPGRADE_REQUIRED,
        "There is a WebSocket at this path: ask for an upgrade (RFC 6455).\n",
    )
};

impl Refusal {
    pub(super) fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from_static(self.text.as_bytes()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(CONTENT_TYPE, plain);
        if let Some((name, value)) = self.header {
            let name = HeaderName::from_static(name);
            headers.insert(name, HeaderValue::from_static(value));
        }
        if headers.contains_key(UPGRADE) {
            // RFC 9110, section 7.8: who sends Upgrade sends this, too.
            headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(SEC_WEBSOCKET_VERSION, VERSION);
        }
        response
    }
}

/// Whether a request asks for a WebSocket, well or badly.
pub(super) fn is_upgrade(headers: &HeaderMap) -> bool {
    has_token(headers, &UPGRADE, "websocket") || headers.contains_key(SEC_WEBSOCKET_KEY)
}

/// The key of a request that asks as RFC 6455, section 4.2.1, wants it. That it names one host was seen to before.
pub(super) fn check(head: &request::Parts) -> Result<&[u8], Refusal> {
    let headers = &head.headers;
    if head.method != Method::GET {
        return Err(METHOD);
    }
    if head.version < Version::HTTP_11 {
        return Err(HTTP_1_0);
    }
    let length = headers.get(CONTENT_LENGTH);
    if headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != "0") {
        return Err(BODY);
    }
    if !has_token(headers, &UPGRADE, "websocket") {
        return Err(NO_UPGRADE_TOKEN);
    }
    if !has_token(headers, &CONNECTION, "upgrade") {
        return Err(NO_CONNECTION_TOKEN);
    }
    if only(headers, &SEC_WEBSOCKET_VERSION) != Some(&VERSION) {
        return Err(OTHER_VERSION);
    }
    let key = only(headers, &SEC_WEBSOCKET_KEY).ok_or(KEY)?.as_bytes();
    match is_key(key) {
        true => Ok(key),
        false => Err(KEY),
    }
}

/// Whether a text is the base64 of 16 bytes.
fn is_key(key: &[u8]) -> bool {
    let Some(digits) = key.strip_suffix(b"==") else {
        return false;
    };
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits.len() == 22 && digits.iter().all(is_digit)
        // Of the last digit only two bits are used.
        && digits.last().is_some_and(|last| b"AQgw".contains(last))
}

/// The subprotocols that a client offers.
pub(super) fn offered_protocols(headers: &HeaderMap) -> Result<Vec<&str>, Refusal> {
    let mut names = Vec::new();
    for line in headers.get_all(SEC_WEBSOCKET_PROTOCOL) {
        for name in line.to_str().map_err(|_| PROTOCOLS)?.split(',') {
            let name = name.trim_matches([' ', '\t']);
            if !is_token(name) || names.contains(&name) {
                return Err(PROTOCOLS);
            }
            names.push(name);
        }
    }
    Ok(names)
}

/// Whether a text is a token (RFC 9110, section 5.6.2), as the names of subprotocols are.
pub(super) fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

/// The answer that makes a connection one of WebSocket.
pub(super) fn accept(key: &[u8], protocol: Option<&str>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, WEBSOCKET);
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Ok(accepted) = HeaderValue::try_from(derive_accept_key(key)) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    }
    // The server's own name, which was equal to one in a header.
    if let Some(Ok(protocol)) = protocol.map(HeaderValue::from_str) {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    response
}

/// What a client sends to ask for a WebSocket.
pub(super) fn ask(headers: &mut HeaderMap, key: &HeaderValue, protocols: &[Box<str>]) {
    headers.insert(UPGRADE, WEBSOCKET);
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_KEY, key.clone());
    headers.insert(SEC_WEBSOCKET_VERSION, VERSION);
    if let Ok(list) = HeaderValue::try_from(protocols.join(", "))
        && !protocols.is_empty()
    {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, list);
    }
}

/// Whether an answer of 101 is one to the request (RFC 6455, section 4.1), and the subprotocol of it.
pub(super) fn confirm(
    head: &response::Parts,
    key: &HeaderValue,
    protocols: &[Box<str>],
) -> Result<Option<Box<str>>, &'static str> {
    let headers = &head.headers;
    if !has_token(headers, &UPGRADE, "websocket") {
        return Err("the answer does not upgrade to websocket");
    }
    if !has_token(headers, &CONNECTION, "upgrade") {
        return Err("the answer has no header Connection: upgrade");
    }
    let accepted = derive_accept_key(key.as_bytes());
    if only(headers, &SEC_WEBSOCKET_ACCEPT).is_none_or(|value| *value != accepted) {
        return Err("Sec-WebSocket-Accept does not answer the key");
    }
    if headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err("the server uses an extension that was not offered");
    }
    let mut chosen = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let Some(first) = chosen.next() else {
        return Ok(None);
    };
    let known = protocols.iter().find(|own| *first == ***own);
    match (known, chosen.next()) {
        (Some(protocol), None) => Ok(Some(protocol.clone())),
        _ => Err("the server uses a subprotocol that was not offered"),
    }
}

/// The value of a header that stands once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Whether one of the elements of a header is this, in any case.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter();
    let mut elements = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    elements.any(|element| {
        element
            .trim_matches([' ', '\t'])
            .eq_ignore_ascii_case(token)
    })
}
