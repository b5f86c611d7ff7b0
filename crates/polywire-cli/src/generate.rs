//! `polywire generate`: code of a model.

use std::path::PathBuf;

use polywire_codegen::{Build, Maps, Strings};

use crate::model::{EXIT_STATUS, Input};
use crate::{Failure, print};

/// Write code that a model becomes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    language: Language,
}

#[derive(Debug, clap::Subcommand)]
enum Language {
    Rust(Rust),
}

/// Write the Rust types, client and server of a service: a module as one file.
///
/// Build scripts do the same with the crate polywire-codegen, and then nothing
/// generated needs to be kept.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
struct Rust {
    #[command(flatten)]
    input: Input,
    /// The service, where the model has several: its name, with or without
    /// namespace.
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// The folder to write to.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// What the module is called. Without it, as the service.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Only these operations, and what they need.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    operations: Vec<String>,
    /// Without client and server.
    #[arg(long)]
    types_only: bool,
    /// Strings that point into the message; without client and server.
    #[arg(long, conflicts_with = "strings")]
    borrowed: bool,
    /// `String` for strings instead of `Text`.
    #[arg(long)]
    strings: bool,
    /// `HashMap` for maps instead of `BTreeMap`.
    #[arg(long)]
    hash_maps: bool,
    /// Under which path the code finds Polywire.
    #[arg(long, value_name = "PATH", default_value = "::polywire")]
    root: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Language::Rust(arguments) = &arguments.language;
    let model = arguments.input.load()?.model;
    let mut build = Build::new().root(&arguments.root);
    if let Some(service) = &arguments.service {
        build = build.service(service);
    }
    if let Some(name) = &arguments.name {
        build = build.name(name);
    }
    if !arguments.operations.is_empty() {
        build = build.operations(&arguments.operations);
    }
    if arguments.strings {
        build = build.strings(Strings::String);
    }
    if arguments.hash_maps {
        build = build.maps(Maps::Hash);
    }
    if arguments.types_only {
        build = build.types_only();
    }
    if arguments.borrowed {
        build = build.borrowed(true);
    }
    let generated = build.run_on(&model).map_err(Failure::usage)?;
    let name = format!("{}.rs", generated.name());
    print::file_below(&arguments.output, &name, &generated.file())?;
    let path = arguments.output.join(&name);
    if arguments.input.json {
        let path = path.display().to_string();
        let path = polywire::model::Node::from(path).to_json();
        return print::out(&format!("{{\"files\":[{path}]}}"));
    }
    print::out(&format!("wrote {}", path.display()))
}
