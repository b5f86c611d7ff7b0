//! What calls go over.
//!
//! A wire is a client with connections of its own, and knows the one call that it makes. To add
//! one: a file here with both traits, a variant of [`Target`], and its scheme in [`target`]. A
//! transport of frames is a scheme in [`crate::call::frames::SCHEMES`].

mod frames;
mod http;
mod xmlrpc;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use polywire::protocol::{Fault, FaultKind};
use polywire::rpc::frames::FaultCode;
use polywire::rpc::{CallError, CallErrorKind};

use super::expected::{Expectation, Expected};
use super::recording::Outcome;
use crate::Failure;
use crate::call::ServiceArguments;

pub(super) use frames::Frames;
pub(super) use http::Http;
pub(super) use xmlrpc::XmlRpc;

/// A client that makes its call again and again, many at once.
pub(super) trait Wire: Send + Sync + 'static {
    /// Makes the call, and looks at the reply.
    fn call(&self) -> impl Future<Output = Outcome> + Send;
}

/// The name of a failure in the report.
fn kind(error: &CallError) -> &'static str {
    let fault = error.fault().map(Fault::kind);
    match error.kind() {
        _ if error.is_deadline() || fault == Some(FaultKind::RequestTimeout) => "deadline",
        _ if error.frame_code() == Some(FaultCode::UNAVAILABLE) => "unavailable",
        _ if fault == Some(FaultKind::Overloaded) || error.retry_after().is_some() => "overloaded",
        _ if error.http_status().is_some() => "status",
        CallErrorKind::Connect | CallErrorKind::Disconnected => "disconnected",
        CallErrorKind::Decode | CallErrorKind::Protocol => "unreadable",
        CallErrorKind::Encode | CallErrorKind::UnknownOperation => "invalid",
        CallErrorKind::Fault => "fault",
        CallErrorKind::QueueFull => "full",
        CallErrorKind::Throttled => "throttled",
        _ => "other",
    }
}

/// How clients come to be: each on the runtime of the thread that it belongs to.
pub(super) trait Connect: Clone + Send + Sync + 'static {
    type Wire: Wire;

    /// A client with connections of its own. It fails if nobody is there.
    fn connect(&self) -> impl Future<Output = Result<Self::Wire, Failure>> + Send;
}

/// What is called, over one of the wires.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Frames(Frames),
    Http(Http),
    XmlRpc(XmlRpc),
}

/// What the command line says of the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) url: &'a str,
    pub(super) operation: Option<&'a str>,
    pub(super) input: Option<&'a str>,
    pub(super) deadline: Duration,
    pub(super) expectation: Expectation<'a>,
}

/// The schemes of HTTP and its like, which need a model or are XML-RPC's.
const OVER_HTTP: [&str; 6] = [
    "http",
    "https",
    "http+unix",
    "scgi",
    "scgi+unix",
    // Where a protocol is named.
    "unix",
];

/// Finds out what is called.
pub(super) async fn target(
    asked: Asked<'_>,
    service: &ServiceArguments,
    over_xmlrpc: bool,
) -> Result<Target, Failure> {
    let scheme = asked.url.split_once("://").map(|(scheme, _)| scheme);
    if over_xmlrpc {
        return XmlRpc::new(asked, service).map(Target::XmlRpc);
    }
    if service.is_over_frames(asked.url)? {
        return Ok(Target::Frames(Frames::new(asked, service).await?));
    }
    let is_http = |scheme: &str| OVER_HTTP.iter().any(|own| own.eq_ignore_ascii_case(scheme));
    if !scheme.is_some_and(is_http) {
        return Err(Failure::usage(format!(
            "`{}`: expected tcp://HOST:PORT, tcp+tls://HOST:PORT, unix:///PATH or udp://HOST:PORT for frames, or http://, https://, \
             http+unix://, scgi:// or scgi+unix:// for the protocols over HTTP",
            asked.url.escape_debug()
        )));
    }
    Ok(Target::Http(Http::new(asked, service).await?))
}

/// What a report says of the target.
#[derive(Clone, Debug)]
pub(super) struct About {
    /// Without secrets.
    pub(super) url: String,
    /// `frames`, or the name of a protocol.
    pub(super) wire: String,
    pub(super) operation: String,
}

impl Target {
    pub(super) fn about(&self) -> About {
        match self {
            Self::Frames(frames) => frames.about(),
            Self::Http(http) => http.about(),
            Self::XmlRpc(xmlrpc) => xmlrpc.about(),
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            url,
            wire,
            operation,
        } = self;
        write!(f, "{operation} over {wire} at {url}")
    }
}
