//! Requests of protocols that the server does not offer.
//!
//! Such a request names its protocol in a header or its content type. Its client can parse only errors of that protocol,
//! so the response is one.

use std::cmp::Reverse;
use std::sync::{LazyLock, OnceLock};

use bytes::Bytes;
use http::{Response, request};
use polywire_protocol::{Claim, Fault, FaultKind, HeadSummary, ProtocolKind, ServerProtocol};

use super::app::App;
use super::mount::{Mount, host};
use crate::ServiceHandle;
use crate::context::RequestId;

/// Returns a text that describes how to enable a protocol on the server.
pub(super) type Hint = Box<dyn Fn(ProtocolKind) -> String + Send + Sync>;

/// The protocols that a server does not offer on all hosts and paths. Each is built once, for the first request that
/// claims it, because building takes time in proportion to the model.
pub(super) struct UnofferedProtocols {
    /// In the order of [`ProtocolKind::ALL`]. `None` if the protocol does not support the service.
    protocols: [OnceLock<Option<Box<dyn ServerProtocol>>>; ProtocolKind::ALL.len()],
    hint: Option<Hint>,
}

/// The protocols for a service without operations, in the order of [`ProtocolKind::ALL`]. They detect the protocol of a
/// request, which does not depend on the model.
static CLAIMS: LazyLock<Vec<Option<Box<dyn ServerProtocol>>>> = LazyLock::new(|| {
    let service = ServiceHandle::empty();
    let kinds = ProtocolKind::ALL.into_iter();
    kinds
        .map(|kind| kind.server(service.service()).ok())
        .collect()
});

impl UnofferedProtocols {
    pub(super) fn new(hint: Option<Hint>) -> Self {
        Self {
            protocols: Default::default(),
            hint,
        }
    }
}

impl_debug!(UnofferedProtocols { protocols });

impl App {
    /// The response to a request that one of these protocols claims with at least the strength `min`.
    #[cold]
    pub(super) fn unoffered(&self, head: &request::Parts, min: Claim) -> Option<Response<Bytes>> {
        let protocol = self.claimed(head, min)?;
        let kind = protocol.kind();
        let fault = Fault::new(
            FaultKind::UnknownOperation,
            self.unoffered_message(head, kind),
        );
        let mut response = protocol.encode_other(&fault);
        if let Some(RequestId(id)) = self.new_id(protocol) {
            protocol.add_request_id(&mut response, &id);
        }
        Some(response)
    }

    /// The protocol with the strongest claim on a request, of those over HTTP that support the service and are not
    /// offered on all hosts and paths. Of equal claims the first wins.
    fn claimed(&self, head: &request::Parts, min: Claim) -> Option<&dyn ServerProtocol> {
        let service = self.engine.service.service();
        if service.operations().len() == 0 {
            return None;
        }
        let is_everywhere = |kind: ProtocolKind| {
            let mut own = self.mounts.all();
            own.any(|(mount, own)| own.kind() == kind && *mount == Mount::default())
        };
        let summary = HeadSummary::new(head);
        let claims = CLAIMS.iter().enumerate();
        let mut claims: Vec<(Claim, usize)> = claims
            .filter_map(|(index, protocol)| Some((protocol.as_ref()?.claim(&summary), index)))
            .filter(|(claim, index)| {
                *claim > Claim::No && *claim >= min && !is_everywhere(ProtocolKind::ALL[*index])
            })
            .collect();
        claims.sort_by_key(|(claim, _)| Reverse(*claim));
        claims.into_iter().find_map(|(_, index)| {
            let build = || ProtocolKind::ALL[index].server(service).ok();
            self.unoffered.protocols[index]
                .get_or_init(build)
                .as_deref()
        })
    }

    /// The error message. It names the protocols of the request's host only.
    fn unoffered_message(&self, head: &request::Parts, kind: ProtocolKind) -> String {
        let host = host(head);
        let mut offered: Vec<String> = Vec::new();
        let mut is_mounted = false;
        for (mount, protocol) in self.mounts.all() {
            is_mounted |= protocol.kind() == kind;
            if mount.matches_host(host) {
                offered.push(match mount.path_prefix() {
                    "" => protocol.kind().to_string(),
                    path => format!("{} at {path}", protocol.kind()),
                });
            }
        }
        if self.frames.is_some() {
            offered.push(ProtocolKind::Frame.to_string());
        }
        let mut message = format!("this server does not offer {kind} here");
        if !offered.is_empty() {
            message.push_str(", it offers ");
            message.push_str(&offered.join(", "));
        }
        if let Some(hint) = &self.unoffered.hint
            && !is_mounted
        {
            message.push_str("; ");
            message.push_str(&hint(kind));
        }
        message
    }
}
