//! The protocols of generated clients.

use polywire_schema::{SchemaSet, for_each_protocol};

use crate::GenerateError;
use crate::settings::Settings;

/// A row of the protocol table.
#[derive(Debug)]
pub(crate) struct Protocol {
    /// The name of its trait, without namespace.
    pub(crate) name: &'static str,
    /// Its type, which is also its variant of `ProtocolKind`.
    pub(crate) ty: &'static str,
    /// Its message formats: variants of `Format`.
    pub(crate) formats: &'static [&'static str],
}

macro_rules! rows {
    (() $($kind:ident $namespace:literal $name:literal [$($format:ident)+])+) => {
        &[$(Protocol {
            name: $name,
            ty: stringify!($kind),
            formats: &[$(stringify!($format)),+],
        },)+]
    };
}

pub(crate) const ALL: &[Protocol] = for_each_protocol!(rows!());

/// Returns the selected protocols, or else those of the model, or else all, in the order of
/// [`ALL`].
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
