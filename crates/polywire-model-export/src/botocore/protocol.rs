//! The protocols of botocore, and the choice of one for a service.

use std::fmt;

use polywire_model::{Shape, ids};

use super::ExportError;

/// A protocol of botocore.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Protocol {
    /// `aws.protocols#ec2Query`
    Ec2,
    /// `aws.protocols#awsJson1_0`
    Json10,
    /// `aws.protocols#awsJson1_1`
    Json11,
    /// `aws.protocols#awsQuery`
    Query,
    /// `aws.protocols#restJson1`
    RestJson,
    /// `aws.protocols#restXml`
    RestXml,
    /// `smithy.protocols#rpcv2Cbor`
    RpcV2Cbor,
}

impl Protocol {
    /// All protocols. Of those that a service has, botocore uses the first in this list.
    pub const ALL: [Self; 7] = [
        Self::RpcV2Cbor,
        Self::Json10,
        Self::Json11,
        Self::RestJson,
        Self::RestXml,
        Self::Query,
        Self::Ec2,
    ];

    /// The absolute id of the trait.
    #[must_use]
    pub fn trait_id(self) -> &'static str {
        match self {
            Self::Ec2 => ids::EC2_QUERY,
            Self::Json10 => ids::AWS_JSON_1_0,
            Self::Json11 => ids::AWS_JSON_1_1,
            Self::Query => ids::AWS_QUERY,
            Self::RestJson => ids::REST_JSON_1,
            Self::RestXml => ids::REST_XML,
            Self::RpcV2Cbor => ids::RPC_V2_CBOR,
        }
    }

    /// Its name in botocore. `json` is the name of both versions of AWS JSON.
    #[must_use]
    pub fn botocore_name(self) -> &'static str {
        match self {
            Self::Ec2 => "ec2",
            Self::Json10 | Self::Json11 => "json",
            Self::Query => "query",
            Self::RestJson => "rest-json",
            Self::RestXml => "rest-xml",
            Self::RpcV2Cbor => "smithy-rpc-v2-cbor",
        }
    }

    /// The protocol with a name: the id or the name of the trait, or its name in botocore. `json`
    /// is version 1.1.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model_export::botocore::Protocol;
    ///
    /// for name in ["aws.protocols#restJson1", "restJson1", "rest-json"] {
    ///     assert_eq!(Protocol::from_name(name), Some(Protocol::RestJson));
    /// }
    /// assert_eq!(Protocol::from_name("xmlRpc"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "json" {
            return Some(Self::Json11);
        }
        Self::ALL.into_iter().find(|protocol| {
            let id = protocol.trait_id();
            let bare = id.split_once('#').map_or(id, |(_, bare)| bare);
            name == id || name == bare || name == protocol.botocore_name()
        })
    }

    /// Whether the protocol uses HTTP bindings.
    pub(super) fn is_rest(self) -> bool {
        matches!(self, Self::RestJson | Self::RestXml)
    }

    /// Whether requests are forms.
    pub(super) fn is_query(self) -> bool {
        matches!(self, Self::Ec2 | Self::Query)
    }

    /// Whether bodies are XML.
    pub(super) fn is_xml(self) -> bool {
        self.is_query() || self == Self::RestXml
    }

    /// The requested protocol, or the preferred one of the service.
    pub(super) fn choose(
        service: &Shape,
        wanted: Option<Self>,
        notes: &mut Vec<String>,
    ) -> Result<Self, ExportError> {
        let has = |protocol: &Self| service.traits().has(protocol.trait_id());
        let Some(wanted) = wanted else {
            return Self::ALL
                .into_iter()
                .find(has)
                .ok_or_else(|| ExportError::NoProtocol {
                    service: service.id().to_string(),
                    found: others(service),
                });
        };
        // `json` in botocore is both versions. The service decides which.
        if wanted == Self::Json11 && !has(&wanted) && has(&Self::Json10) {
            return Ok(Self::Json10);
        }
        if !has(&wanted) {
            notes.push(format!(
                "`{}` does not have `@{}`: clients work only if it is served over {wanted}",
                service.id(),
                wanted.trait_id()
            ));
        }
        Ok(wanted)
    }
}

/// The protocols of a service that botocore does not support.
fn others(service: &Shape) -> Vec<String> {
    let namespaces = ["polywire", "smithy.protocols", "aws.protocols"];
    let ids = service.traits().iter().map(|applied| applied.id());
    ids.filter(|id| namespaces.contains(&id.namespace()))
        .map(ToString::to_string)
        .collect()
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Json10 => "json 1.0",
            Self::Json11 => "json 1.1",
            other => other.botocore_name(),
        })
    }
}
