//! The options of the test double.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use polywire::double::{Double, StateFile, add_stubs};
use polywire::model::Model;
use polywire::prelude::*;

use crate::{Failure, print};

/// What the double of a model remembers and answers.
#[derive(Debug, clap::Args)]
pub(super) struct DoubleArguments {
    /// Keep what the double remembers in this file, a database. It is created if it does not exist
    #[arg(long, value_name = "FILE", conflicts_with = "stateless")]
    state: Option<PathBuf>,
    /// Remember nothing: each operation returns the output of its @examples or a sample
    #[arg(long)]
    stateless: bool,
    /// Print which operations remember what, and exit
    #[arg(long)]
    pub(super) explain_state: bool,
    /// Answer calls with stubs from a JSON file
    #[arg(long, value_name = "FILE", num_args = 1..)]
    stubs: Vec<PathBuf>,
    /// Append each call to a file, as a line of JSON
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Answer calls whose input was recorded with the recorded outputs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    replay: Vec<PathBuf>,
}

impl DoubleArguments {
    /// Rejects the options for the bundled service, which is no double.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--state", self.state.is_some()),
            ("--stateless", self.stateless),
            ("--explain-state", self.explain_state),
            ("--stubs", !self.stubs.is_empty()),
            ("--record", self.record.is_some()),
            ("--replay", !self.replay.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::usage(format!("{name} requires --model"))),
            None => Ok(()),
        }
    }

    /// Builds a double for each service.
    pub(super) fn build(
        &self,
        model: &Arc<Model>,
        services: &[ServiceHandle],
        quiet: bool,
    ) -> Result<Vec<Double>, Failure> {
        let state = self.state.as_ref().map(|path| {
            let file = StateFile::open(path).map_err(|error| at(path, error))?;
            Ok::<_, Failure>((path, Arc::new(file)))
        });
        let state = state.transpose()?;
        let texts = |paths: &[PathBuf]| {
            let texts = paths.iter().map(|path| {
                let text = std::fs::read_to_string(path).map_err(|error| at(path, error))?;
                Ok::<_, Failure>((path.clone(), text))
            });
            texts.collect::<Result<Vec<_>, _>>()
        };
        let (stubs, recordings) = (texts(&self.stubs)?, texts(&self.replay)?);
        let recording = self.record.as_ref().map(|path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.map_err(|error| at(path, error))?;
            Ok::<_, Failure>(Arc::new(Mutex::new(file)))
        });
        let recording = recording.transpose()?;
        let mut doubles = Vec::new();
        for service in services {
            let builder = Double::builder(Arc::clone(model), service.clone());
            let mut builder = builder.stateless(self.stateless);
            if let Some((path, file)) = &state {
                let things = file.things(service.service().id());
                let things = things.map_err(|error| at(path, error))?;
                let journal = Arc::clone(file);
                builder = builder
                    .journal(journal, things)
                    .map_err(|error| at(path, error))?;
            }
            for (path, text) in &recordings {
                builder = builder.replay(text).map_err(|error| at(path, error))?;
            }
            if let Some(file) = &recording {
                let file = Arc::clone(file);
                builder = builder.record(Box::new(move |line| {
                    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                    file.write_all(line)
                }));
            }
            let double = builder.build();
            // The model is valid, so other examples can be used.
            for (operation, bad) in double.bad_examples().filter(|_| !quiet) {
                print::err(format_args!(
                    "warning: {operation} is not served with {bad}"
                ));
            }
            doubles.push(double);
        }
        for (path, text) in &stubs {
            add_stubs(&doubles, text).map_err(|error| at(path, error))?;
        }
        Ok(doubles)
    }
}

fn at(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {error}", path.display()))
}
