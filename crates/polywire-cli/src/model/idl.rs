//! `polywire model idl`.

use std::path::PathBuf;

use polywire::model::idl;
use polywire::model::{Node, Object};

use super::input::Input;
use crate::output::{OutputFile, Overwrite};
use crate::{Failure, print};

/// Write a model as formatted Smithy IDL 2.0: one file for each namespace. Comments of the sources
/// (`//`) are not kept.
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_STATUS)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write files to this folder, which is created if necessary, instead of one text to standard
    /// output.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Write only this namespace. Can be repeated.
    #[arg(long, value_name = "NAME")]
    namespace: Vec<String>,
    /// The width from which values are broken into several lines.
    #[arg(long, value_name = "COLUMNS", default_value_t = 120)]
    width: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = arguments.input.load()?.model;
    let known = |name: &String| model.shapes().any(|shape| shape.id().namespace() == name);
    if let Some(unknown) = arguments.namespace.iter().find(|name| !known(name)) {
        return Err(Failure::usage(format!(
            "the model has no namespace `{unknown}`"
        )));
    }
    let mut options = idl::Options::new().width(arguments.width);
    if !arguments.namespace.is_empty() {
        options = options.namespaces(&arguments.namespace);
    }
    let files = idl::write_with(&model, &options);
    if files.is_empty() && !arguments.input.options.json {
        return Err(Failure::usage("the model is empty"));
    }
    if let Some(folder) = &arguments.output {
        let outputs: Vec<OutputFile> = files
            .iter()
            .map(|file| OutputFile::new(folder.join(&file.name), &file.text))
            .collect();
        arguments.overwrite.write(&outputs)?;
        if !arguments.input.options.json {
            return Ok(());
        }
    }
    if arguments.input.options.json {
        let files: Vec<Node> = files.iter().map(to_node).collect();
        return print::out(&Node::from(files).to_json_pretty());
    }
    match files.as_slice() {
        [file] => print::out(&file.text),
        files => {
            let names: Vec<&str> = files
                .iter()
                .filter_map(|f| f.namespace.as_deref())
                .collect();
            Err(Failure::usage(format!(
                "the model has {} namespaces, and an IDL file can have only one: write them to a folder with --output DIR, or select one with --namespace: {}",
                names.len(),
                names.join(", ")
            )))
        }
    }
}

fn to_node(file: &idl::IdlFile) -> Node {
    let mut object = Object::new();
    object.insert(
        "namespace",
        match &file.namespace {
            Some(namespace) => Node::from(namespace.as_str()),
            None => Node::null(),
        },
    );
    object.insert("name", file.name.as_str());
    object.insert("text", file.text.as_str());
    object.into()
}
