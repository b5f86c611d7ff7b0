//! What all commands read: files to a model, and what to say about them.

use std::path::PathBuf;

use polywire::model::{Assembled, Loader, ModelError};

use crate::findings::{report, summary, tell, warn};
use crate::{Failure, print, progress};

/// The files of a model, and how to talk about them.
#[derive(Debug, clap::Args)]
pub(crate) struct Input {
    /// Model files (.smithy or .json), folders of them, or JARs. Several are
    /// joined into one model.
    #[arg(value_name = "MODEL", required = true)]
    files: Vec<PathBuf>,
    /// Refuse a model with traits that nothing defines, rather than warn of them.
    #[arg(long)]
    deny_unknown_traits: bool,
    /// Print JSON for machines: the result, or what is wrong with the model.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Input {
    pub(crate) fn assemble(&self) -> Result<Assembled, ModelError> {
        let mut loader = Loader::new();
        loader.deny_unknown_traits(self.deny_unknown_traits);
        for file in &self.files {
            loader.add_path(file);
        }
        progress::show(&mut loader);
        loader.assemble()
    }

    /// The model, for commands that make something of it: warnings go to
    /// standard error, errors end the command. `check` is there for the warnings
    /// of a model that has errors too.
    pub(crate) fn load(&self) -> Result<Assembled, Failure> {
        match self.assemble() {
            Ok(assembled) => {
                if !self.json {
                    warn(&assembled.warnings);
                }
                Ok(assembled)
            }
            Err(error) if self.json => {
                print::out(&report(error.diagnostics()).to_json_pretty())?;
                Err(Failure::silent(1))
            }
            Err(error) => {
                error.errors().for_each(tell);
                Err(Failure::new(1, summary(error.diagnostics().iter())))
            }
        }
    }
}
