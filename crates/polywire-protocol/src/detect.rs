//! Detection of the protocol of a request, and conflicts between protocols.
//!
//! A server calls each of its protocols for a [`Claim`] on the head of a request. The protocol with
//! the strongest claim handles the request. Protocols can share a server if their claims differ:
//!
//! | protocol | strong | weak | weaker |
//! |---|---|---|---|
//! | awsJson1_0, awsJson1_1 | `X-Amz-Target` and the content type of the protocol | one of the two | |
//! | awsQuery, ec2Query | | a form in a `POST`, or `Action` in the query | |
//! | jsonRpc | its path, `/jsonrpc`, in a `POST` of JSON | | other requests at its path, and content type `application/json-rpc` in a `POST` elsewhere, if no claim is weak |
//! | restJson1 | | content type `application/json` | requests that no other protocol claims |
//! | restXml | | content type `application/xml` or `text/xml` | requests that no other protocol claims |
//! | rpcv2Cbor | `smithy-protocol: rpc-v2-cbor` | content type `application/cbor` | |
//! | rpcv2Json | `smithy-protocol: rpc-v2-json` | | |
//! | XML-RPC | its path, `/RPC2`, except for a `POST` that any web page can send | | these, and content type `text/xml` in a `POST` elsewhere, if no claim is weak |
//!
//! Two pairs cannot be distinguished: awsQuery and ec2Query, because they use the same forms, and
//! restJson1 and restXml, because their requests without a body are identical. [`conflict`] reports
//! them. A server must mount them separately.

use std::fmt;

use http::{HeaderValue, request};

use crate::media::essence;
use crate::protocol::{ProtocolKind, ServerProtocol};

/// How likely a request belongs to a protocol, from impossible to certain.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Claim {
    /// The request does not belong to the protocol.
    No,
    /// The protocol handles requests that no other protocol claims.
    Fallback,
    /// The client uses the protocol, but the request is wrong, for example its path. The protocol
    /// can only answer with an error in its format.
    Misdirected,
    /// The request probably belongs to the protocol.
    Weak,
    /// The request names the protocol.
    Strong,
}

/// The headers that determine the protocol, from one pass over a request.
#[derive(Clone, Copy, Debug)]
pub struct HeadSummary<'h> {
    pub(crate) head: &'h request::Parts,
    /// The first header `content-type`.
    pub(crate) content_type: Option<&'h HeaderValue>,
    /// Whether there is a header `accept`.
    pub(crate) has_accept: bool,
    /// Whether there is a header `content-encoding`.
    pub(crate) has_coding: bool,
    /// Whether there is a header `origin`.
    pub(crate) has_origin: bool,
    /// Whether there is a header `x-amz-target`.
    pub(crate) has_target: bool,
    /// The first header `smithy-protocol`.
    pub(crate) smithy_protocol: Option<&'h HeaderValue>,
}

impl<'h> HeadSummary<'h> {
    /// Reads the headers of a request.
    #[must_use]
    pub fn new(head: &'h request::Parts) -> Self {
        let mut summary = Self {
            head,
            content_type: None,
            has_accept: false,
            has_coding: false,
            has_origin: false,
            has_target: false,
            smithy_protocol: None,
        };
        for (name, value) in &head.headers {
            match name.as_str() {
                "content-type" => summary.content_type = summary.content_type.or(Some(value)),
                "accept" => summary.has_accept = true,
                "content-encoding" => summary.has_coding = true,
                "origin" => summary.has_origin = true,
                "smithy-protocol" => {
                    summary.smithy_protocol = summary.smithy_protocol.or(Some(value));
                }
                "x-amz-target" => summary.has_target = true,
                _ => {}
            }
        }
        summary
    }

    /// Returns the head of the request.
    #[must_use]
    pub const fn head(&self) -> &'h request::Parts {
        self.head
    }

    /// Returns the first header `smithy-protocol`.
    #[must_use]
    pub const fn smithy_protocol(&self) -> Option<&'h HeaderValue> {
        self.smithy_protocol
    }

    /// Returns the media type of the body, without parameters.
    pub(crate) fn media_type(&self) -> Option<&'h str> {
        self.content_type?.to_str().ok().map(essence)
    }

    /// Returns whether the media type of the body, without parameters, is this one.
    pub(crate) fn has_media_type(&self, media_type: &str) -> bool {
        let value = self
            .content_type
            .map(|value| value.as_bytes().trim_ascii_start());
        let Some((start, rest)) = value.and_then(|value| value.split_at_checked(media_type.len()))
        else {
            return false;
        };
        start.eq_ignore_ascii_case(media_type.as_bytes())
            && matches!(rest.trim_ascii_start().first(), None | Some(b';'))
    }
}

/// Returns the index of the protocol with the strongest claim on a request. If claims are equal,
/// the first one wins.
#[must_use]
pub fn detect<P: ServerProtocol + ?Sized>(
    protocols: &[Box<P>],
    head: &request::Parts,
) -> Option<usize> {
    let summary = HeadSummary::new(head);
    let mut best = (Claim::No, None);
    for (position, protocol) in protocols.iter().enumerate() {
        let claim = protocol.claim(&summary);
        if claim > best.0 {
            best = (claim, Some(position));
        }
        if claim == Claim::Strong {
            break;
        }
    }
    best.1
}

/// The error for two protocols whose requests cannot be distinguished.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Conflict {
    /// The two protocols.
    pub kinds: (ProtocolKind, ProtocolKind),
    reason: &'static str,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, other) = self.kinds;
        let reason = self.reason;
        write!(
            f,
            "requests of {one} and {other} cannot be distinguished: {reason}; serve one of them \
             under a different path, host or port"
        )
    }
}

impl std::error::Error for Conflict {}

/// Returns a conflict if requests of two protocols cannot be distinguished, so that a server must
/// not mount both at the same path, host and port.
///
/// ```
/// # use polywire_model::Loader;
/// use polywire_protocol::{ProtocolKind, conflict};
///
/// # let text = "$version: \"2\"\nnamespace a\nservice S { operations: [O] }\n\
/// #     @http(method: \"POST\", uri: \"/\") operation O {}";
/// # let model = Loader::new().add_text("a.smithy", text).assemble().unwrap().model;
/// # let set = model.schemas("a#S").unwrap().unwrap();
/// # let service = set.service(0);
/// let build = |kind: ProtocolKind| kind.build(service).unwrap();
/// let (query, ec2) = (build(ProtocolKind::AwsQuery), build(ProtocolKind::Ec2Query));
/// let message = conflict(&*query, &*ec2).unwrap().to_string();
/// assert!(message.starts_with("requests of awsQuery and ec2Query cannot be distinguished"));
/// assert_eq!(conflict(&*query, &*build(ProtocolKind::AwsJson1_0)), None);
/// ```
#[must_use]
pub fn conflict(one: &dyn ServerProtocol, other: &dyn ServerProtocol) -> Option<Conflict> {
    let kinds = (one.kind(), other.kind());
    let reason = match kinds.0 == kinds.1 {
        true if one.endpoint() != other.endpoint() => return None,
        true => "they are the same protocol",
        false => one.conflicts_with(kinds.1)?,
    };
    Some(Conflict { kinds, reason })
}
