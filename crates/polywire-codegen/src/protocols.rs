//! The protocols that a client can be told to speak.

use polywire_schema::SchemaSet;

use crate::GenerateError;
use crate::settings::{Format, Settings};

/// A protocol as generated code knows it.
#[derive(Debug)]
pub(crate) struct Protocol {
    /// Its short name.
    pub(crate) name: &'static str,
    /// Its type, and its variant of `ProtocolKind`.
    pub(crate) ty: &'static str,
    /// Whether it may not be able to carry a service.
    pub(crate) is_picky: bool,
    /// What its messages are written in.
    pub(crate) formats: &'static [Format],
}

impl Protocol {
    const fn new(
        name: &'static str,
        ty: &'static str,
        is_picky: bool,
        formats: &'static [Format],
    ) -> Self {
        Self {
            name,
            ty,
            is_picky,
            formats,
        }
    }
}

pub(crate) const ALL: &[Protocol] = &[
    Protocol::new("awsJson1_0", "AwsJson1_0", false, &[Format::Json]),
    Protocol::new("awsJson1_1", "AwsJson1_1", false, &[Format::Json]),
    Protocol::new("awsQuery", "AwsQuery", true, &[Format::Form, Format::Xml]),
    Protocol::new("ec2Query", "Ec2Query", true, &[Format::Form, Format::Xml]),
    Protocol::new("frame", "Frame", false, &[Format::Cbor]),
    Protocol::new("restJson1", "RestJson1", true, &[Format::Json]),
    Protocol::new("restXml", "RestXml", true, &[Format::Xml]),
    Protocol::new("rpcv2Cbor", "RpcV2Cbor", false, &[Format::Cbor]),
    Protocol::new("rpcv2Json", "RpcV2Json", false, &[Format::Json]),
    Protocol::new("xmlRpc", "XmlRpc", true, &[Format::XmlRpc]),
];

/// The protocols that are set, else those that the model names, else all: in the
/// order of [`ALL`].
pub(crate) fn of(
    settings: &Settings,
    set: &SchemaSet<'_>,
) -> Result<Vec<&'static Protocol>, GenerateError> {
    let mut names: Vec<String> = Vec::new();
    match &settings.protocols {
        Some(own) => {
            let known = |name: &&String| ALL.iter().any(|known| known.name == name.as_str());
            if let Some(unknown) = own.iter().find(|name| !known(name)) {
                return Err(GenerateError::NoProtocol(unknown.clone()));
            }
            names.extend(own.iter().cloned());
        }
        None => {
            let ids = set.services().flat_map(|service| service.protocols());
            names.extend(ids.filter_map(|id| Some(id.rsplit('#').next()?.to_owned())));
        }
    }
    let named = |protocol: &&Protocol| names.iter().any(|name| name == protocol.name);
    let named: Vec<_> = ALL.iter().filter(named).collect();
    match named.is_empty() {
        true => Ok(ALL.iter().collect()),
        false => Ok(named),
    }
}
