//! `polywire model ast`.

use std::path::PathBuf;

use clap::ValueEnum;
use polywire::model::ast;

use super::input::Input;
use crate::findings::{Stream, painted};
use crate::output::{OutputFile, Overwrite};
use crate::{Failure, print};

/// Write a model as JSON AST: one document for all files, with absolute names. The same model
/// always gives the same text.
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_STATUS)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Write the document on one line.
    #[arg(long)]
    compact: bool,
    /// The version of Smithy to write: 2.0, or 1.0 for old tools. What 1.0 cannot express is
    /// reported on standard error.
    #[arg(long, value_name = "VERSION", default_value = "2.0")]
    smithy: Version,
    /// Also write the bundled definitions that the model uses, such as traits of AWS, for tools
    /// that do not have them.
    #[arg(long)]
    with_definitions: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Version {
    #[value(name = "1.0", alias = "1")]
    V1,
    #[value(name = "2.0", alias = "2")]
    V2,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = arguments.input.load()?.model;
    let mut options = ast::Options::new();
    if let Version::V1 = arguments.smithy {
        options = options.version_1();
    }
    if arguments.with_definitions {
        options = options.with_definitions();
    }
    let written = ast::write_with(&model, &options);
    for loss in &written.losses {
        print::err(format!("{}\n", painted(loss, Stream::Err)));
    }
    let text = match arguments.compact {
        true => written.document.to_json() + "\n",
        false => written.document.to_json_pretty(),
    };
    match &arguments.output {
        Some(file) => {
            let files = [OutputFile::new(file, text)];
            arguments.overwrite.write(&files).map(|_| ())
        }
        None => print::out(&text),
    }
}
