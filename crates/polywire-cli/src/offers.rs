//! The protocols that a server offers, and their paths: `/_polywire/protocols.json`.

use polywire::prelude::*;
use polywire::rpc::server::Mount;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// A protocol that a server offers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Offer {
    /// The name of the protocol.
    pub(crate) protocol: String,
    /// Its mount: `/` for the whole server, `/path`, `//host` or `//host/path`.
    pub(crate) mount: String,
}

impl Offer {
    pub(crate) fn new(mount: &Mount, kind: ProtocolKind) -> Self {
        Self {
            protocol: kind.to_string(),
            mount: mount.to_string(),
        }
    }

    /// Returns the protocol and its mount. `None` if this program does not know them.
    fn parse(&self) -> Option<(ProtocolKind, Mount)> {
        let kind = ProtocolKind::from_name(&self.protocol)?;
        let mount = match self.mount.as_str() {
            "/" => Mount::default(),
            mount => mount.parse().ok()?,
        };
        // Only protocols over HTTP are selected here.
        (kind != ProtocolKind::Frame).then_some((kind, mount))
    }
}

/// The parts of a URL that select a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UrlParts<'a> {
    /// The host of the URL, without port.
    pub(crate) host: &'a str,
    /// The path of the URL without that of the server: the path of a mount, or an XML-RPC endpoint.
    pub(crate) path: &'a str,
}

/// Selects the protocol of a call, and the path to insert before the paths of the protocol.
///
/// The protocol is the one in `requested`, or else the first in `names` that the server offers, or else
/// the first that it offers. A path that is already in the URL is not added again.
pub(crate) fn choose(
    offers: &[Offer],
    url: UrlParts<'_>,
    requested: Option<ProtocolKind>,
    names: &[ProtocolKind],
) -> Result<(ProtocolKind, String), Failure> {
    let known: Vec<(ProtocolKind, Mount)> = offers.iter().filter_map(Offer::parse).collect();
    let is_here = |mount: &Mount| mount.host_name().is_none_or(|name| is_host(name, url.host));
    let mut usable: Vec<_> = known.iter().filter(|(_, mount)| is_here(mount)).collect();
    let at_path = |(_, mount): &&(ProtocolKind, Mount)| mount.path_prefix() == url.path;
    if !url.path.is_empty() && usable.iter().any(at_path) {
        usable.retain(at_path);
    }
    let candidates: Vec<ProtocolKind> = match requested {
        Some(kind) => vec![kind],
        None => {
            let all = usable.iter().map(|(kind, _)| *kind);
            names.iter().copied().chain(all).collect()
        }
    };
    let mut found = candidates.iter().filter_map(|candidate| {
        let mut usable = usable.iter();
        usable.find(|(kind, _)| kind == candidate)
    });
    if let Some((kind, mount)) = found.next() {
        let path = match url.path {
            "" => mount.path_prefix(),
            _ => "",
        };
        return Ok((*kind, path.to_owned()));
    }
    match (requested, url.path) {
        // Another application may serve this path, which the server at the root does not know.
        (Some(kind), path) if !path.is_empty() => Ok((kind, String::new())),
        _ => Err(not_offered(&known, url.host, requested)),
    }
}

/// Error for a host without a suitable protocol.
fn not_offered(
    known: &[(ProtocolKind, Mount)],
    host: &str,
    requested: Option<ProtocolKind>,
) -> Failure {
    let of_kind = known.iter().filter(|(kind, _)| requested == Some(*kind));
    let hosts: Vec<&str> = of_kind.filter_map(|(_, mount)| mount.host_name()).collect();
    if let Some(kind) = requested
        && !hosts.is_empty()
    {
        let hosts = hosts.join(", ");
        return Failure::usage(format!(
            "{kind} is offered only at host {hosts}; the URL names {host}"
        ));
    }
    let what = requested.map_or("a protocol at this URL".to_owned(), |kind| kind.to_string());
    let list = known
        .iter()
        .map(|(kind, mount)| match *mount == Mount::default() {
            true => kind.to_string(),
            false => format!("{kind} at {mount}"),
        });
    let list: Vec<_> = list.collect();
    Failure::usage(match list.is_empty() {
        true => format!("the server does not offer {what}"),
        false => format!(
            "the server does not offer {what}; it offers {}",
            list.join(", ")
        ),
    })
}

/// Whether a host matches the host of a mount, which may start with `*.`.
fn is_host(name: &str, host: &str) -> bool {
    match name.strip_prefix('*') {
        Some(end) => host.len() > end.len() && host.ends_with(end),
        None => host == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ProtocolKind::{Ec2Query, RestJson1, RestXml, RpcV2Cbor, XmlRpc};

    fn offers() -> Vec<Offer> {
        [
            ("/", "restJson1"),
            ("/restXml", "restXml"),
            ("//ec2.localhost/q", "ec2Query"),
            ("/", "frame"),
            ("/", "another"),
        ]
        .into_iter()
        .map(|(mount, protocol)| Offer {
            protocol: protocol.to_owned(),
            mount: mount.to_owned(),
        })
        .collect()
    }

    const NAMES: [ProtocolKind; 2] = [RpcV2Cbor, RestXml];

    fn choose_at(
        host: &str,
        path: &str,
        requested: Option<ProtocolKind>,
    ) -> Result<(ProtocolKind, String), String> {
        let url = UrlParts { host, path };
        let chosen = choose(&offers(), url, requested, &NAMES);
        chosen.map_err(|failure| failure.message)
    }

    #[test]
    fn selects_offered_protocols() {
        let at = |kind, path: &str| Ok((kind, path.to_owned()));
        assert_eq!(choose_at("h", "", Some(RestJson1)), at(RestJson1, ""));
        assert_eq!(choose_at("h", "", Some(RestXml)), at(RestXml, "/restXml"));
        // The first protocol in `NAMES` is not offered.
        assert_eq!(choose_at("h", "", None), at(RestXml, "/restXml"));
        // The path selects the protocol.
        assert_eq!(choose_at("h", "/restXml", None), at(RestXml, ""));
        assert_eq!(choose_at("h", "/restXml", Some(RestXml)), at(RestXml, ""));
        assert_eq!(choose_at("h", "/other", Some(XmlRpc)), at(XmlRpc, ""));
        assert_eq!(
            choose_at("ec2.localhost", "", Some(Ec2Query)),
            at(Ec2Query, "/q")
        );
        let none = choose(
            &offers()[..1],
            UrlParts {
                host: "h",
                path: "",
            },
            None,
            &NAMES,
        );
        assert_eq!(none.ok(), Some((RestJson1, String::new())));
    }

    #[test]
    fn rejects_protocols_that_are_not_offered() {
        for (kind, expected) in [
            (
                RpcV2Cbor,
                "the server does not offer rpcv2Cbor; it offers restJson1, restXml at /restXml",
            ),
            (
                Ec2Query,
                "ec2Query is offered only at host ec2.localhost; the URL names h",
            ),
        ] {
            let message = choose_at("h", "", Some(kind)).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
