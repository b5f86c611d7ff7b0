//! From a model to a service that can be served and called.

use std::fmt;
use std::sync::Arc;

use polywire_model::{Loader, Model, ModelError, ShapeType};
use polywire_rpc::ServiceHandle;

/// Why a service could not be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The model has errors.
    Model(ModelError),
    /// The model has no service, or not the one that was named.
    NoService(String),
    /// The model has several services, and none was named.
    SeveralServices(Vec<String>),
    /// The service has shapes that cannot be schemas.
    Schema(polywire_schema::BuildError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::NoService(name) if name.is_empty() => f.write_str("the model has no service"),
            Self::NoService(name) => write!(f, "the model has no service {name}"),
            Self::SeveralServices(names) => {
                write!(
                    f,
                    "the model has several services, name one: {}",
                    names.join(", ")
                )
            }
            Self::Schema(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<ModelError> for LoadError {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

/// What a model says of its operations, by their names: for what
/// [`Methods::documentation`](polywire_rpc::Methods::documentation) tells callers.
///
/// ```
/// use polywire::model::Loader;
///
/// let text = r#"
///     $version: "2"
///     namespace example
///     /// What time it is.
///     operation Now { output := { time: Timestamp } }
/// "#;
/// let model = Loader::new().add_text("clock.smithy", text).assemble()?.model;
/// let texts: Vec<_> = polywire::documentation(&model).collect();
/// assert_eq!(texts, [("Now", "What time it is.")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn documentation(model: &Model) -> impl Iterator<Item = (&str, &str)> {
    let operations = model.shapes_of(ShapeType::Operation);
    operations.filter_map(|shape| Some((shape.id().name(), shape.traits().documentation()?)))
}

/// The one service of a model that is a text: IDL, or JSON AST if the name
/// ends in `.json`. The name stands in diagnostics.
///
/// # Errors
///
/// The model has errors, or not exactly one service.
pub fn load_text(name: &str, text: &str) -> Result<ServiceHandle, LoadError> {
    let model = Loader::new().add_text(name, text).assemble()?.model;
    service_of(&model, None)
}

/// A service of a model: the one with this name, with or without namespace, or
/// the only one.
///
/// # Errors
///
/// There is no such service, or several.
pub fn service_of(model: &Model, name: Option<&str>) -> Result<ServiceHandle, LoadError> {
    let is_named =
        |id: &str| name.is_none_or(|name| id == name || id.rsplit('#').next() == Some(name));
    let ids: Vec<String> = model
        .services()
        .map(|service| service.id().as_str().to_owned())
        .filter(|id| is_named(id))
        .collect();
    let id = match ids.as_slice() {
        [id] => id,
        [] => return Err(LoadError::NoService(name.unwrap_or_default().to_owned())),
        _ => return Err(LoadError::SeveralServices(ids)),
    };
    match model.schemas(id) {
        Some(Ok(set)) => Ok(ServiceHandle::new(Arc::new(set), 0)),
        Some(Err(error)) => Err(LoadError::Schema(error)),
        None => Err(LoadError::NoService(id.clone())),
    }
}
