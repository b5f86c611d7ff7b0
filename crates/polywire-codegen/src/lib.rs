//! Generates Rust from Smithy models: types, a typed client and a typed server trait.
//!
//! See [`Build`] for usage. Mapping from the model to Rust:
//!
//! | model | Rust |
//! |---|---|
//! | structure | a struct with public fields, `#[non_exhaustive]`, and a builder |
//! | member | `T` if it is required or has a default, else `Option<T>` |
//! | union, enum, intEnum | an enum, with `Unknown` for values that are not in the model |
//! | string, blob, timestamp, document | `Text`, `Blob`, `Timestamp`, `Value` |
//! | blob with `@streaming` | `ByteStream` |
//! | union with `@streaming` | `EventStream` of the generated enum |
//! | list, map | `Vec`, `BTreeMap`; items of sparse ones are `Option`s |
//! | error | a struct that implements `std::error::Error`, and a variant of the operation's error |
//! | operation | a method of the client and of the server trait |
//!
//! The output is deterministic: the same model gives the same bytes.
#![forbid(unsafe_code)]

mod defaults;
mod documentation;
mod names;
mod pagination;
mod plan;
mod protocols;
mod recursion;
mod settings;
mod source;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use polywire_model::{Model, ModelError};
use polywire_schema::BuildError;

pub use settings::{Build, Maps, Strings};

use crate::plan::Plan;
use crate::settings::Settings;

/// A generated module.
#[derive(Clone, Debug)]
pub struct GeneratedModule {
    name: String,
    code: String,
    paths: BTreeMap<String, String>,
}

impl GeneratedModule {
    /// Returns the name of the module.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the code of the module, for `include!`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the code as a standalone file, for `mod NAME;`.
    #[must_use]
    pub fn file(&self) -> String {
        let (first, rest) = self.code.split_once('\n').unwrap_or((&self.code, ""));
        format!(
            "{first}\n\n#![allow(dead_code, unreachable_pub, reason = \"programs may use only a part of the generated code\")]\n{rest}"
        )
    }

    /// Returns the name of the generated type of a structure, union or enum.
    #[must_use]
    pub fn path_of(&self, shape_id: &str) -> Option<&str> {
        self.paths.get(shape_id).map(String::as_str)
    }
}

/// Errors of code generation.
#[derive(Debug)]
#[non_exhaustive]
pub enum GenerateError {
    /// The model cannot be read, or has errors.
    Model(ModelError),
    /// The service does not exist (`Some`), or no service was selected and the model does not have
    /// exactly one (`None`). The second field lists the services of the model.
    NoService(Option<String>, Vec<String>),
    /// The service does not have this operation.
    NoOperation(String),
    /// Unknown protocol.
    NoProtocol(String),
    /// The schemas cannot be built from the model.
    Schemas(BuildError),
    /// A file cannot be written.
    Io(PathBuf, std::io::Error),
    /// `OUT_DIR` is not set: the code does not run in a build script.
    NoOutDir,
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::NoService(wanted, known) => {
                match wanted {
                    Some(wanted) => write!(f, "no unique service `{wanted}`")?,
                    None => f.write_str("select a service")?,
                }
                match known.as_slice() {
                    [] => f.write_str(": the model has no services"),
                    known => write!(f, ": the model has the services {}", known.join(", ")),
                }
            }
            Self::NoOperation(name) => write!(f, "the service has no operation `{name}`"),
            Self::NoProtocol(name) => {
                let known: Vec<_> = protocols::ALL.iter().map(|known| known.name).collect();
                write!(
                    f,
                    "unknown protocol `{name}`: expected one of {}",
                    known.join(", ")
                )
            }
            Self::Schemas(error) => error.fmt(f),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::NoOutDir => {
                f.write_str("OUT_DIR is not set: generate() must run in a build script")
            }
        }
    }
}

impl std::error::Error for GenerateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Model(error) => Some(error),
            Self::Schemas(error) => Some(error),
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

fn generate(
    model: &Model,
    service: &str,
    name: String,
    settings: &Settings,
) -> Result<GeneratedModule, GenerateError> {
    let no_service = || GenerateError::NoService(Some(service.to_owned()), Vec::new());
    let mut closure = model.closure(service).ok_or_else(no_service)?;
    if let Some(wanted) = &settings.operations {
        let known = |name: &&String| closure.operation(name).is_none();
        if let Some(unknown) = wanted.iter().find(known) {
            return Err(GenerateError::NoOperation(unknown.clone()));
        }
        let names = closure.clone();
        closure = closure.with_operations(|operation| wanted.contains(names.name(operation.id())));
    }
    let builder = closure.schema_builder();
    let schemas = builder.to_compact();
    let set = builder.finish().map_err(GenerateError::Schemas)?;
    let protocols = protocols::of(settings, &set)?;
    let plan = Plan::new(settings, model, closure, schemas, &set, protocols);
    let code = write::module(&plan);
    let names = plan.names.iter();
    Ok(GeneratedModule {
        name,
        code,
        paths: names
            .map(|(id, name)| (id.to_string(), name.clone()))
            .collect(),
    })
}
