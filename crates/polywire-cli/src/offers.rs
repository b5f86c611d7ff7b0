//! Which protocols a server offers, and where: `/_polywire/protocols.json`.

use polywire::prelude::*;
use polywire::rpc::server::Mount;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// A protocol that a server offers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Offer {
    /// The name of the protocol.
    pub(crate) protocol: String,
    /// Where it is: `/` for the whole server, `/path`, `//host` or `//host/path`.
    pub(crate) mount: String,
}

impl Offer {
    pub(crate) fn new(mount: &Mount, kind: ProtocolKind) -> Self {
        Self {
            protocol: kind.to_string(),
            mount: mount.to_string(),
        }
    }

    /// The protocol and its mount, if this program knows both.
    fn known(&self) -> Option<(ProtocolKind, Mount)> {
        let kind = ProtocolKind::from_name(&self.protocol)?;
        let mount = match self.mount.as_str() {
            "/" => Mount::default(),
            mount => mount.parse().ok()?,
        };
        // What is called over HTTP is chosen here.
        (kind != ProtocolKind::Frame).then_some((kind, mount))
    }
}

/// What a URL says of where the call goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The host of the URL, without port.
    pub(crate) host: &'a str,
    /// The path of the URL, if the server itself is not below it: that of a mount, or an endpoint of XML-RPC.
    pub(crate) path: &'a str,
}

/// Chooses the protocol of a call, and the path that goes before the paths of the protocol.
///
/// That is the protocol which was `asked` for, or else the first of those that the model `names` which the server offers,
/// or else the first that it offers. A path that the URL has already is not added again.
pub(crate) fn choose(
    offers: &[Offer],
    place: Place<'_>,
    asked: Option<ProtocolKind>,
    names: &[ProtocolKind],
) -> Result<(ProtocolKind, String), Failure> {
    let known: Vec<(ProtocolKind, Mount)> = offers.iter().filter_map(Offer::known).collect();
    let is_here = |mount: &Mount| {
        mount
            .host_name()
            .is_none_or(|name| is_host(name, place.host))
    };
    let mut usable: Vec<_> = known.iter().filter(|(_, mount)| is_here(mount)).collect();
    let at_path = |(_, mount): &&(ProtocolKind, Mount)| mount.path_prefix() == place.path;
    if !place.path.is_empty() && usable.iter().any(at_path) {
        usable.retain(at_path);
    }
    let candidates: Vec<ProtocolKind> = match asked {
        Some(kind) => vec![kind],
        None => {
            let all = usable.iter().map(|(kind, _)| *kind);
            names.iter().copied().chain(all).collect()
        }
    };
    let mut found = candidates.iter().filter_map(|wanted| {
        let mut usable = usable.iter();
        usable.find(|(kind, _)| kind == wanted)
    });
    if let Some((kind, mount)) = found.next() {
        let path = match place.path {
            "" => mount.path_prefix(),
            _ => "",
        };
        return Ok((*kind, path.to_owned()));
    }
    match (asked, place.path) {
        // Something else may be there, of which the server at the root says nothing.
        (Some(kind), path) if !path.is_empty() => Ok((kind, String::new())),
        _ => Err(not_offered(&known, place.host, asked)),
    }
}

/// `known` has nothing to call at the host.
fn not_offered(
    known: &[(ProtocolKind, Mount)],
    host: &str,
    asked: Option<ProtocolKind>,
) -> Failure {
    let of_kind = known.iter().filter(|(kind, _)| asked == Some(*kind));
    let hosts: Vec<&str> = of_kind.filter_map(|(_, mount)| mount.host_name()).collect();
    if let Some(kind) = asked
        && !hosts.is_empty()
    {
        let hosts = hosts.join(", ");
        return Failure::usage(format!(
            "{kind} is offered only at host {hosts}; the URL names {host}"
        ));
    }
    let what = asked.map_or("a protocol that can be called there".to_owned(), |kind| {
        kind.to_string()
    });
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

/// Whether a host is that of a mount, which may begin with `*.`.
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

    fn chosen(
        host: &str,
        path: &str,
        asked: Option<ProtocolKind>,
    ) -> Result<(ProtocolKind, String), String> {
        let place = Place { host, path };
        let chosen = choose(&offers(), place, asked, &NAMES);
        chosen.map_err(|failure| failure.message)
    }

    #[test]
    fn a_protocol_is_called_where_it_is() {
        let at = |kind, path: &str| Ok((kind, path.to_owned()));
        assert_eq!(chosen("h", "", Some(RestJson1)), at(RestJson1, ""));
        assert_eq!(chosen("h", "", Some(RestXml)), at(RestXml, "/restXml"));
        // The first that the model names is not offered.
        assert_eq!(chosen("h", "", None), at(RestXml, "/restXml"));
        // The URL says where.
        assert_eq!(chosen("h", "/restXml", None), at(RestXml, ""));
        assert_eq!(chosen("h", "/restXml", Some(RestXml)), at(RestXml, ""));
        assert_eq!(chosen("h", "/other", Some(XmlRpc)), at(XmlRpc, ""));
        assert_eq!(
            chosen("ec2.localhost", "", Some(Ec2Query)),
            at(Ec2Query, "/q")
        );
        let none = choose(
            &offers()[..1],
            Place {
                host: "h",
                path: "",
            },
            None,
            &NAMES,
        );
        assert_eq!(none.ok(), Some((RestJson1, String::new())));
    }

    #[test]
    fn a_protocol_that_is_not_there_is_not_called() {
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
            let message = chosen("h", "", Some(kind)).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
