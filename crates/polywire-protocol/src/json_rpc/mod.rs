//! `polywire#jsonRpc`.
//!
//! <https://www.jsonrpc.org/specification>
//!
//! `envelope.rs` finds the calls of a message, and `responses.rs` its responses. `server.rs` and
//! `client.rs` are the two sides, and `positional.rs` reads parameters by position.

mod client;
mod envelope;
mod positional;
mod responses;
mod server;

use std::collections::HashMap;

use http::{HeaderValue, Method, request};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{Encoder, Error, Member, Service, TokenReader};

pub use responses::ResponseId;

use crate::Fault;
use crate::endpoint_path::EndpointPath;
use crate::protocol::{Claim, FromService, HeadSummary, MountError, ProtocolInfo, ProtocolKind};
use crate::size_hint::SizeHint;

/// JSON-RPC 2.0 over HTTP: one path, and the operation is in the body.
///
/// The sections are those of [the specification](https://www.jsonrpc.org/specification).
///
/// - The method is the name of the operation, or the name of the service, a dot and the name of
///   the operation: section 4.
/// - `params` by name is the input structure. `params` by position has the members of the input
///   in the order of the model; a null is a member without a value. A call without `params` has
///   an empty input: section 4.2.
/// - A call without an `id` is a notification. It runs like any other call, and has no
///   response: section 4.1.
/// - `result` is the output structure. A client also accepts a value that is not an object, as
///   the value of the only member of the output: section 5.
/// - A modelled error has the code -32000, or the code of the fault, and as `data` the members of
///   the error and `__type`, its id. Other faults have the codes of section 5.1, and as `data`
///   the same structure as in the RPC protocols of Smithy.
/// - The server runs the calls of a batch one after the other and answers in their order. A
///   client accepts any order: section 6.
/// - Members have their own names, and timestamps are seconds unless `@timestampFormat` says
///   otherwise: the specification leaves this open.
/// - Calls are posted to `/jsonrpc`, or to [another path](Self::with_path), as
///   `application/json`, `application/json-rpc` or `application/jsonrequest`. Other media types
///   get the status 415: a browser sends these three to another origin only if that origin
///   permits it. All other responses have the status 200, also an empty one to notifications.
#[derive(Debug)]
pub struct JsonRpc {
    path: EndpointPath,
    service: String,
    /// The indices of the operations by name.
    operations: HashMap<String, u32>,
    request_size: SizeHint,
    response_size: SizeHint,
}

const NAME: &str = "JSON-RPC";
const PROFILE: JsonProfile = JsonProfile::DEFAULT;
const CLIENT: JsonProfile = PROFILE.for_client();

/// The media types of calls. The first is that of requests of a client, and of responses.
const MEDIA_TYPES: [&str; 3] = [
    "application/json",
    "application/json-rpc",
    "application/jsonrequest",
];
const JSON: HeaderValue = HeaderValue::from_static(MEDIA_TYPES[0]);

/// The codes of section 5.1.
mod code {
    pub(super) const PARSE_ERROR: i64 = -32700;
    pub(super) const INVALID_REQUEST: i64 = -32600;
    pub(super) const METHOD_NOT_FOUND: i64 = -32601;
    pub(super) const INVALID_PARAMS: i64 = -32602;
    pub(super) const INTERNAL_ERROR: i64 = -32603;
    /// The first of those that are left to servers: -32000 to -32099.
    pub(super) const SERVER_ERROR: i64 = -32000;
}

impl JsonRpc {
    /// The protocol for a service, at `/jsonrpc`.
    #[must_use]
    pub fn new(service: Service<'_>) -> Self {
        let operations = service.operations();
        let operations =
            operations.map(|operation| (operation.name().to_owned(), operation.index()));
        Self {
            path: EndpointPath::new("/jsonrpc", NAME),
            service: service.name().to_owned(),
            operations: operations.collect(),
            request_size: SizeHint::default(),
            response_size: SizeHint::default(),
        }
    }

    /// The same protocol at another path, which starts with a slash.
    ///
    /// ```
    /// use polywire_protocol::{JsonRpc, ServerProtocol as _};
    /// use polywire_schema::Service;
    ///
    /// fn protocol(service: Service<'_>) -> JsonRpc {
    ///     let protocol = JsonRpc::new(service).with_path("/");
    ///     assert_eq!(protocol.endpoint(), Some("/"));
    ///     protocol
    /// }
    /// # let _ = protocol;
    /// ```
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = EndpointPath::new(path, NAME);
        self
    }

    /// The operation that a method names.
    fn find(&self, method: &str) -> Option<u32> {
        let qualified = method
            .strip_prefix(&*self.service)
            .and_then(|rest| rest.strip_prefix('.'));
        self.operations.get(qualified.unwrap_or(method)).copied()
    }

    fn claim_on(&self, summary: &HeadSummary<'_>) -> Claim {
        let is_post = summary.head.method == Method::POST;
        if summary.head.uri.path() == self.path.as_str() {
            // This protocol rejects all other requests at its path, if no other protocol
            // claims them.
            return match is_post && is_json(summary) {
                true => Claim::Strong,
                false => Claim::Misdirected,
            };
        }
        match is_post && summary.has_media_type("application/json-rpc") {
            true => Claim::Misdirected,
            false => Claim::No,
        }
    }

    /// Whether a head is that of a call.
    fn check_head(&self, head: &request::Parts) -> Result<(), Fault> {
        self.path.check(head)?;
        let fits = |sent: &str| {
            let mut types = MEDIA_TYPES.iter();
            types.any(|own| own.eq_ignore_ascii_case(sent))
        };
        HeadSummary::new(head).check_type(MEDIA_TYPES[0], fits)
    }
}

fn is_json(summary: &HeadSummary<'_>) -> bool {
    MEDIA_TYPES.iter().any(|own| summary.has_media_type(own))
}

impl ProtocolInfo for JsonRpc {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::JsonRpc
    }
}

impl FromService for JsonRpc {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Ok(Self::new(service))
    }
}

/// Writes an object with the member `jsonrpc` and those that `members` writes.
fn write(
    profile: JsonProfile,
    room: &SizeHint,
    members: impl FnOnce(&mut JsonEncoder, Member<'_>),
) -> Result<Vec<u8>, Error> {
    let at = Member::DOCUMENT;
    let mut encoder = JsonEncoder::new(profile, room.new_buffer());
    encoder.begin_map(at, 4);
    encoder.key(at, "jsonrpc");
    encoder.string(at, "2.0");
    members(&mut encoder, at);
    encoder.end_map(at);
    let message = encoder.finish()?;
    room.record(message.len());
    Ok(message)
}

/// Skips a value, which must be well-formed.
fn skip(decoder: &mut JsonDecoder<'_>) -> Result<(), Error> {
    TokenReader::skip_value(decoder)
}
