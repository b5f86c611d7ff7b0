//! The clients of a benchmark, for each kind of target.
//!
//! A wire is a client with its own connections that repeats one call. To add a wire, add a module
//! here that implements both traits, a variant of [`Target`], and its scheme to [`target`]. A
//! transport for frames only needs a scheme in [`crate::call::frames::SCHEMES`].

mod frames;
mod http;
mod xmlrpc;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use polywire::protocol::{Fault, FaultKind};
use polywire::rpc::frames::FaultCode;
use polywire::rpc::{CallError, CallErrorKind};

use super::recording::Outcome;
use super::reply::{Expectation, ReplyChecker};
use crate::Failure;
use crate::call::ServiceArguments;

pub(super) use frames::Frames;
pub(super) use http::Http;
pub(super) use xmlrpc::XmlRpc;

/// A client that repeats one call, many times concurrently.
pub(super) trait Wire: Send + Sync + 'static {
    /// Makes the call and checks the reply.
    fn call(&self) -> impl Future<Output = Outcome> + Send;
}

/// Returns the kind of a failure for the report.
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

/// Creates clients on the runtime of their thread.
pub(super) trait Connect: Clone + Send + Sync + 'static {
    type Wire: Wire;

    /// Creates a client with its own connections. Fails if the server cannot be reached.
    fn connect(&self) -> impl Future<Output = Result<Self::Wire, Failure>> + Send;
}

/// The target of a benchmark.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Frames(Frames),
    Http(Http),
    XmlRpc(XmlRpc),
}

/// The target given in arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetSpec<'a> {
    pub(super) url: &'a str,
    pub(super) operation: Option<&'a str>,
    pub(super) input: Option<&'a str>,
    pub(super) deadline: Duration,
    pub(super) expectation: Expectation<'a>,
}

/// The schemes of HTTP and SCGI, which require a model or `--xmlrpc`.
const OVER_HTTP: [&str; 6] = [
    "http",
    "https",
    "http+unix",
    "scgi",
    "scgi+unix",
    // HTTP if a protocol is given.
    "unix",
];

/// Determines the target.
pub(super) async fn target(
    asked: TargetSpec<'_>,
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

/// The description of a target in reports.
#[derive(Clone, Debug)]
pub(super) struct TargetInfo {
    /// Without secrets.
    pub(super) url: String,
    /// `frames`, or the name of a protocol.
    pub(super) wire: String,
    pub(super) operation: String,
}

impl Target {
    pub(super) fn info(&self) -> TargetInfo {
        match self {
            Self::Frames(frames) => frames.info(),
            Self::Http(http) => http.info(),
            Self::XmlRpc(xmlrpc) => xmlrpc.info(),
        }
    }
}

impl fmt::Display for TargetInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            url,
            wire,
            operation,
        } = self;
        write!(f, "{operation} over {wire} at {url}")
    }
}
