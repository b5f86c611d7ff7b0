//! Why a service cannot be exported.

use std::fmt;

use super::Protocol;

/// Why a service cannot be exported.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ExportError {
    /// Operations lack the `@http` that a REST protocol needs.
    NoHttp {
        /// The protocol.
        protocol: Protocol,
        /// The operations by name.
        operations: Vec<String>,
    },
    /// botocore supports none of the protocols of the service.
    NoProtocol {
        /// The absolute id of the service.
        service: String,
        /// The ids of the protocols that the service has.
        found: Vec<String>,
    },
    /// The model has no service.
    NoService,
    /// The model has several services that could be meant.
    SeveralServices {
        /// Their absolute ids.
        known: Vec<String>,
    },
    /// The model has no service of this id or name.
    UnknownService {
        /// The requested name.
        name: String,
        /// The absolute ids of the services.
        known: Vec<String>,
    },
}

impl fmt::Display for ExportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHttp {
                protocol,
                operations,
            } => {
                let lack = if operations.len() == 1 { "has" } else { "have" };
                write!(
                    formatter,
                    "{} {lack} no `@http`, which {protocol} needs",
                    few(operations)
                )
            }
            Self::NoProtocol { service, found } if found.is_empty() => {
                write!(formatter, "`{service}` has no protocol; {ANY}")
            }
            Self::NoProtocol { service, found } => write!(
                formatter,
                "botocore supports none of the protocols of `{service}`, which are {}; {ANY}",
                few(found)
            ),
            Self::NoService => formatter.write_str("the model has no service"),
            Self::SeveralServices { known } => write!(
                formatter,
                "the model has {} services, so name one: {}",
                known.len(),
                few(known)
            ),
            Self::UnknownService { name, known } => {
                write!(formatter, "the model has no service `{name}`")?;
                if known.is_empty() {
                    return Ok(());
                }
                write!(formatter, ", only {}", few(known))
            }
        }
    }
}

const ANY: &str =
    "name the protocol over which the service is available, such as `smithy-rpc-v2-cbor`";

impl std::error::Error for ExportError {}

/// Names for a message: a model may have thousands.
fn few(names: &[String]) -> String {
    const FEW: usize = 5;
    let shown: Vec<String> = names[..names.len().min(FEW)]
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let more = names.len().saturating_sub(FEW);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    shown.join(", ") + &more
}
