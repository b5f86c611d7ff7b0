//! The input of all commands: model files, and the options for reading them.

use std::path::PathBuf;

use polywire::model::{Assembly, Loader, ModelError};

use crate::findings::{print_finding, report, summary, warn};
use crate::{Failure, print, progress};

/// Model files and the options for reading them.
#[derive(Debug, clap::Args)]
pub(crate) struct Input {
    /// Model files (.smithy or .json), folders of them, or JARs. Several are
    /// joined into one model.
    #[arg(value_name = "MODEL", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InputOptions {
    /// Reject a model with unknown traits, which are warnings otherwise.
    #[arg(long)]
    deny_unknown_traits: bool,
    /// Print the result, or the findings, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl InputOptions {
    pub(super) fn assemble(&self, files: &[PathBuf]) -> Result<Assembly, ModelError> {
        let mut loader = Loader::new();
        loader.deny_unknown_traits(self.deny_unknown_traits);
        for file in files {
            loader.add_path(file);
        }
        progress::show(&mut loader);
        loader.assemble()
    }
}

impl Input {
    /// Loads the model. Warnings go to standard error, and errors end the command. Only
    /// `check` shows the warnings of a model that has errors.
    pub(crate) fn load(&self) -> Result<Assembly, Failure> {
        match self.options.assemble(&self.files) {
            Ok(assembled) => {
                if !self.options.json {
                    warn(&assembled.warnings);
                }
                Ok(assembled)
            }
            Err(error) if self.options.json => {
                print::out(&report(error.diagnostics()).to_json_pretty())?;
                Err(Failure::silent(1))
            }
            Err(error) => {
                error.errors().for_each(print_finding);
                Err(Failure::new(1, summary(error.diagnostics().iter())))
            }
        }
    }
}
