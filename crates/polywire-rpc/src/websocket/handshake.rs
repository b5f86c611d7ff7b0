//! The handshake over HTTP/1.1 (RFC 6455, section 4).

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Version, request, response};
use tungstenite::handshake::derive_accept_key;

/// The version of RFC 6455.
const VERSION: HeaderValue = HeaderValue::from_static("13");
const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// An error response to an upgrade request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    pub(super) text: &'static str,
    /// An additional header of the response.
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
        "A WebSocket handshake needs the method GET (RFC 6455, section 4.1).\n",
    )
};
const HTTP_1_0: Refusal = bad("A WebSocket handshake needs HTTP/1.1 (RFC 6455, section 4.1).\n");
const BODY: Refusal = bad("A WebSocket handshake request must have no body.\n");
const NO_UPGRADE_TOKEN: Refusal =
    bad("The header Upgrade must contain websocket (RFC 6455, section 4.2.1).\n");
const NO_CONNECTION_TOKEN: Refusal =
    bad("The header Connection must contain Upgrade (RFC 6455, section 4.2.1).\n");
const UNSUPPORTED_VERSION: Refusal = Refusal {
    header: Some(("sec-websocket-version", "13")),
    ..refusal(
        StatusCode::UPGRADE_REQUIRED,
        "This server supports only version 13 (RFC 6455, section 4.4).\n",
    )
};
const KEY: Refusal = bad(
    "Expected one header Sec-WebSocket-Key with 16 bytes in base64 (RFC 6455, section 4.2.1).\n",
);
const PROTOCOLS: Refusal =
    bad("Sec-WebSocket-Protocol must list unique names (RFC 6455, section 4.1).\n");
pub(super) const NO_PROTOCOL: Refusal =
    bad("Sec-WebSocket-Protocol contains no subprotocol that this endpoint supports.\n");
pub(super) const ORIGIN_NOT_ALLOWED: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "Web pages of this origin are not allowed to connect.\n",
);
pub(super) const NO_UPGRADE: Refusal = refusal(
    StatusCode::NOT_IMPLEMENTED,
    "This connection cannot be upgraded: WebSocket needs HTTP/1.1, not HTTP/2 or SCGI.\n",
);
/// For a request that is not an upgrade request and that no protocol accepts.
pub(super) const UPGRADE_REQUIRED: Refusal = Refusal {
    header: Some(("upgrade", "websocket")),
    ..refusal(
        StatusCode::UPGRADE_REQUIRED,
        "This path serves WebSocket: an upgrade request is required (RFC 6455).\n",
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
            // RFC 9110, section 7.8: a sender of Upgrade must also send this option.
            headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(SEC_WEBSOCKET_VERSION, VERSION);
        }
        response
    }
}

/// Returns whether a request is an upgrade request, valid or not.
pub(super) fn is_upgrade(headers: &HeaderMap) -> bool {
    has_token(headers, &UPGRADE, "websocket") || headers.contains_key(SEC_WEBSOCKET_KEY)
}

/// Checks an upgrade request (RFC 6455, section 4.2.1), and returns its key. The server has already checked `Host`.
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
    if single_value(headers, &SEC_WEBSOCKET_VERSION) != Some(&VERSION) {
        return Err(UNSUPPORTED_VERSION);
    }
    let key = single_value(headers, &SEC_WEBSOCKET_KEY)
        .ok_or(KEY)?
        .as_bytes();
    match is_key(key) {
        true => Ok(key),
        false => Err(KEY),
    }
}

/// Returns whether a text is the base64 encoding of 16 bytes.
fn is_key(key: &[u8]) -> bool {
    let Some(digits) = key.strip_suffix(b"==") else {
        return false;
    };
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits.len() == 22 && digits.iter().all(is_digit)
        // The last digit has 2 bits of data, and its other 4 bits must be 0.
        && digits.last().is_some_and(|last| b"AQgw".contains(last))
}

/// Returns the subprotocols that a client offers.
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

/// Returns whether a text is a token (RFC 9110, section 5.6.2). Names of subprotocols are tokens.
pub(super) fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

/// Creates the response with status 101 (RFC 6455, section 4.2.2).
pub(super) fn accept(key: &[u8], protocol: Option<&str>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, WEBSOCKET);
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Ok(accepted) = HeaderValue::try_from(derive_accept_key(key)) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    }
    // The name is equal to a name in a request header, so the conversion does not fail.
    if let Some(Ok(protocol)) = protocol.map(HeaderValue::from_str) {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    response
}

/// Sets the headers of an upgrade request (RFC 6455, section 4.1).
pub(super) fn write_request_headers(
    headers: &mut HeaderMap,
    key: &HeaderValue,
    protocols: &[Box<str>],
) {
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

/// Checks a response with status 101 (RFC 6455, section 4.1), and returns the selected subprotocol.
pub(super) fn validate_response(
    head: &response::Parts,
    key: &HeaderValue,
    protocols: &[Box<str>],
) -> Result<Option<Box<str>>, &'static str> {
    let headers = &head.headers;
    if !has_token(headers, &UPGRADE, "websocket") {
        return Err("the response does not upgrade to websocket");
    }
    if !has_token(headers, &CONNECTION, "upgrade") {
        return Err("the response has no header Connection: upgrade");
    }
    let accepted = derive_accept_key(key.as_bytes());
    if single_value(headers, &SEC_WEBSOCKET_ACCEPT).is_none_or(|value| *value != accepted) {
        return Err("Sec-WebSocket-Accept does not match the key");
    }
    if headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err("the server selected an extension that was not offered");
    }
    let mut selected = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let Some(first) = selected.next() else {
        return Ok(None);
    };
    let offered = protocols.iter().find(|name| *first == ***name);
    match (offered, selected.next()) {
        (Some(protocol), None) => Ok(Some(protocol.clone())),
        _ => Err("the server selected a subprotocol that was not offered"),
    }
}

/// Returns the value of a header that occurs exactly once.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Returns whether a comma-separated header contains a token. The comparison ignores case.
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
