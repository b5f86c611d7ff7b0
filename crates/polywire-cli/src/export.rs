//! `polywire export`: writes models in the formats of other tools.

use std::path::{Path, PathBuf};

use polywire::model::{Node, Object};
use polywire_model_export::botocore::{self, Export, Options, Protocol};

use crate::model::{EXIT_STATUS, Input};
use crate::output::{OutputFile, Overwrite};
use crate::{Failure, print};

/// Write a model in the format of another tool.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    form: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Format {
    Botocore(Botocore),
}

/// Write the data files with which boto3 and the AWS CLI call a service.
///
/// What botocore cannot express is reported on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
struct Botocore {
    #[command(flatten)]
    input: Input,
    /// The service, if the model has several: its name, with or without namespace.
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// The protocol of the client, by the name of its trait or its name in botocore, such as
    /// restJson1 or rest-json. By default, the protocol of the service that botocore prefers.
    #[arg(long, short, value_name = "NAME", value_parser = protocol)]
    protocol: Option<Protocol>,
    /// The name of the service in boto3. By default, the service id in lower case.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The output folder, to which AWS_DATA_PATH must be set later.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
}

fn protocol(name: &str) -> Result<Protocol, String> {
    Protocol::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Protocol::ALL.iter().map(|p| short(*p)).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// The name of the protocol's trait without its namespace.
fn short(protocol: Protocol) -> &'static str {
    let id = protocol.trait_id();
    id.split_once('#').map_or(id, |(_, name)| name)
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Format::Botocore(arguments) = &arguments.form;
    let model = arguments.input.load()?.model;
    let mut options = Options::default();
    if let Some(protocol) = arguments.protocol {
        options = options.protocol(protocol);
    }
    if let Some(name) = &arguments.name {
        options = options.name(name);
    }
    let export =
        botocore::export(&model, arguments.service.as_deref(), &options).map_err(Failure::usage)?;
    for note in export.notes() {
        print::err(format_args!("note: {note}"));
    }
    let files: Vec<OutputFile> = export
        .files()
        .iter()
        .map(|file| {
            let path = arguments.output.join(file.path());
            OutputFile::new(path, file.content().to_json_pretty())
        })
        .collect();
    arguments.overwrite.write(&files)?;
    let written: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
    let output = if arguments.input.options.json {
        as_json(&export, &written)
    } else {
        as_text(&export, &written, &arguments.output)
    };
    print::out(&output)
}

fn as_text(export: &Export, written: &[PathBuf], folder: &Path) -> String {
    let mut text = String::new();
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let folder = quoted(&folder.display().to_string());
    let name = export.name();
    let endpoint = if export.has_endpoints() {
        ""
    } else {
        ", endpoint_url='http://127.0.0.1:8080'"
    };
    // A client of a service without signatures needs only a region and an endpoint.
    text.push_str(&format!(
        "\nThe service is `{name}`, over {}. To test it:\n\n  \
         export AWS_DATA_PATH={folder} AWS_DEFAULT_REGION=us-east-1\n  \
         aws {name} help\n  \
         python3 -c \"import boto3; help(boto3.client('{name}'{endpoint}))\"\n",
        export.protocol()
    ));
    text
}

fn as_json(export: &Export, written: &[PathBuf]) -> String {
    let mut output = Object::new();
    output.insert("service", export.name());
    output.insert("apiVersion", export.api_version());
    output.insert("protocol", export.protocol().botocore_name());
    let files = written
        .iter()
        .map(|path| Node::from(path.display().to_string()));
    output.insert("files", files.collect::<Vec<Node>>());
    let notes = export.notes().iter().map(|note| Node::from(note.as_str()));
    output.insert("notes", notes.collect::<Vec<Node>>());
    Node::from(output).to_json() + "\n"
}

/// Quotes a word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("/tmp/a-b"), "/tmp/a-b");
        assert_eq!(quoted("/tmp/a b"), "'/tmp/a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
