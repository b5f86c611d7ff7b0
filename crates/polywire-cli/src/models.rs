//! Loads the models and services given in arguments.

use std::path::PathBuf;

use polywire::model::{Assembly, Loader, Model};
use polywire::prelude::*;

use crate::findings::{print_finding, summary};
use crate::{Failure, progress, weather};

/// The model, and the service in it.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArguments {
    /// Model files (.smithy or .json), folders of model files, or JARs
    #[arg(long = "model", short = 'm', value_name = "FILE", num_args = 1..)]
    files: Vec<PathBuf>,
    /// The service, with or without namespace. Required if the model has several services, except
    /// for `serve`, which then serves all of them
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
}

impl ModelArguments {
    /// Whether a model was given.
    pub(crate) fn is_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// Loads the model. The result includes its warnings.
    pub(crate) fn load(&self) -> Result<Assembly, Failure> {
        let mut loader = Loader::new();
        for file in &self.files {
            loader.add_path(file);
        }
        assemble(&mut loader)
    }

    /// Returns the selected service, or all of the model, in the order of the model.
    pub(crate) fn services(&self, model: &Model) -> Result<Vec<ServiceHandle>, Failure> {
        if self.service.is_some() {
            return Ok(vec![self.service(model)?]);
        }
        let ids = model.services().map(|service| service.id().as_str());
        let services = ids.map(|id| polywire::service_of(model, Some(id)));
        let services: Vec<_> = services.collect::<Result<_, _>>().map_err(Failure::usage)?;
        match services.is_empty() {
            true => self.service(model).map(|service| vec![service]),
            false => Ok(services),
        }
    }

    /// Returns the selected service, or the only one.
    pub(crate) fn service(&self, model: &Model) -> Result<ServiceHandle, Failure> {
        polywire::service_of(model, self.service.as_deref()).map_err(Failure::usage)
    }
}

/// The bundled model.
pub(crate) fn bundled() -> Result<Model, Failure> {
    let assembled = assemble(Loader::new().add_text("weather.smithy", weather::MODEL))?;
    Ok(assembled.model)
}

/// Loads a model in JSON AST format that was received from a server.
pub(crate) fn from_json(name: &str, json: &str) -> Result<Model, Failure> {
    Ok(assemble(Loader::new().add_text(name, json))?.model)
}

/// Assembles the model, and prints its errors.
fn assemble(loader: &mut Loader) -> Result<Assembly, Failure> {
    progress::show(loader);
    let assembled = loader.assemble();
    // Clears the progress bar before messages are printed.
    loader.on_progress(|_| ());
    assembled.map_err(|error| {
        error.errors().for_each(print_finding);
        Failure::new(2, format!("{} in the model", summary(error.errors())))
    })
}

/// Parses the name of a protocol.
pub(crate) fn protocol(name: &str) -> Result<ProtocolKind, String> {
    let expected = || format!("expected one of {}", names(ProtocolKind::ALL));
    ProtocolKind::from_name(name).ok_or_else(expected)
}

/// The names of protocols, for messages and help.
pub(crate) fn names(kinds: impl IntoIterator<Item = ProtocolKind>) -> String {
    let names: Vec<&str> = kinds.into_iter().map(ProtocolKind::name).collect();
    names.join(", ")
}
