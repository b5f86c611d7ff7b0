//! Requests of protocols that the server does not offer.
//!
//! Such a request names its protocol, in a header or by its content type. Its client can read an
//! error of that protocol and no other, so the answer is one.

use std::sync::OnceLock;

use bytes::Bytes;
use http::{Response, request};
use polywire_protocol::{Claim, Fault, FaultKind, ProtocolKind, ServerProtocol, detect};

use super::app::App;
use super::mount::Mount;

/// The protocols that a server does not offer on all hosts and paths. They are built when the
/// first such request comes, and once: a request must not cost as much as a model is large.
#[derive(Debug, Default)]
pub(super) struct Unoffered(OnceLock<Vec<Box<dyn ServerProtocol>>>);

impl App {
    /// The answer to a request that one of these protocols claims, at least this surely.
    #[cold]
    pub(super) fn unoffered(&self, head: &request::Parts, least: Claim) -> Option<Response<Bytes>> {
        let protocols = self.unoffered.0.get_or_init(|| self.others());
        let protocol = &protocols[detect(protocols, head)?];
        if protocol.claim(head) < least {
            return None;
        }
        let kind = protocol.kind();
        let mut offered: Vec<String> = Vec::new();
        let mut is_mounted = false;
        for (mount, protocol) in self.mounts.all() {
            is_mounted |= protocol.kind() == kind;
            offered.push(match *mount == Mount::default() {
                true => protocol.kind().to_string(),
                false => format!("{} at {mount}", protocol.kind()),
            });
        }
        if self.frames.is_some() {
            offered.push(ProtocolKind::Frame.to_string());
        }
        let offered = offered.join(", ");
        let mut message = format!("this server does not offer {kind} here, it offers {offered}");
        if !is_mounted {
            message.push_str(&format!("; `polywire serve -p {kind}` would offer it"));
        }
        Some(protocol.encode_other(&Fault::new(FaultKind::UnknownOperation, message)))
    }

    /// The protocols over HTTP that can carry the service and are not offered everywhere.
    fn others(&self) -> Vec<Box<dyn ServerProtocol>> {
        let service = self.service.service();
        if service.operations().len() == 0 {
            return Vec::new();
        }
        let is_everywhere = |kind: ProtocolKind| {
            let mut own = self.mounts.all();
            own.any(|(mount, own)| own.kind() == kind && *mount == Mount::default())
        };
        let kinds = ProtocolKind::HTTP.into_iter();
        let others = kinds.filter(|kind| !is_everywhere(*kind));
        others
            .filter_map(|kind| kind.server(service).ok())
            .collect()
    }
}
