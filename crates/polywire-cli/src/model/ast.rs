//! `polywire model ast`.

use std::path::PathBuf;

use polywire::model::ast;

use super::input::Input;
use crate::{Failure, print};

/// Write a model as JSON AST: all files as one, names resolved, always the same
/// text for the same model.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write all on one line.
    #[arg(long)]
    compact: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = arguments.input.load()?.model;
    let node = ast::write(&model);
    let text = match arguments.compact {
        true => node.to_json() + "\n",
        false => node.to_json_pretty(),
    };
    match &arguments.output {
        Some(file) => print::file(file, &text),
        None => print::out(&text),
    }
}
