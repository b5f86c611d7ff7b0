//! `polywire model select`.

use polywire::model::{Match, Model, Node, Object, Selector, ShapeOrMember};

use super::input::Input;
use crate::{Failure, print};

/// Find the shapes and members that a selector matches, such as `operation :not([trait|readonly])`.
/// Prints one id on each line.
///
/// The language is that of Smithy's specification:
/// <https://smithy.io/2.0/spec/selectors.html>.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", super::EXIT_STATUS))]
pub(super) struct Arguments {
    /// The selector.
    selector: String,
    #[command(flatten)]
    input: Input,
    /// Print the variables of the selector with each match.
    #[arg(long)]
    vars: bool,
    /// Also print bundled shapes, such as `smithy.api#String`, and not only those that the files
    /// define.
    #[arg(long, conflicts_with = "vars")]
    all: bool,
}

const EXAMPLES: &str = "Examples:\n  \
    polywire model select 'structure > member[trait|required]' model/\n  \
    polywire model select --json 'service ~> [trait|deprecated]' model.json\n  \
    polywire model select --vars 'operation $error(-[error]-> *)' model.json";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Parsed before the model is read, so that errors are reported at once.
    let selector = Selector::parse(&arguments.selector).map_err(Failure::usage)?;
    let model = arguments.input.load()?.model;
    if arguments.vars {
        let matches = selector.matches(&model).map_err(Failure::usage)?;
        return print::out(&if arguments.input.options.json {
            array(matches.iter().map(|found| match_node(&model, found)))
        } else {
            matches.iter().map(match_text).collect()
        });
    }
    let selected = match arguments.all {
        true => selector.select_all(&model),
        false => selector.select(&model),
    };
    let selected = selected.map_err(Failure::usage)?;
    print::out(&if arguments.input.options.json {
        array(selected.iter().map(|&found| node(&model, found).into()))
    } else {
        selected
            .iter()
            .map(|found| format!("{}\n", found.id()))
            .collect()
    })
}

fn array(items: impl Iterator<Item = Node>) -> String {
    Node::from(items.collect::<Vec<_>>()).to_json_pretty()
}

fn node(model: &Model, selected: ShapeOrMember<'_>) -> Object {
    let mut object = Object::new();
    object.insert("id", selected.id().as_str());
    object.insert("type", selected.type_name());
    if let Some(position) = model.sources().position(selected.location()) {
        object.insert("file", &*position.file);
        object.insert("line", i64::from(position.line));
        object.insert("column", i64::from(position.column));
    }
    object
}

fn match_node(model: &Model, found: &Match<'_>) -> Node {
    let mut object = node(model, found.selected());
    let mut vars = Object::new();
    for (name, values) in found.variables() {
        let ids: Vec<Node> = values
            .iter()
            .map(|value| value.id().as_str().into())
            .collect();
        vars.insert(name.as_str(), ids);
    }
    object.insert("vars", vars);
    object.into()
}

fn match_text(found: &Match<'_>) -> String {
    let mut text = format!("{}\n", found.selected().id());
    for (name, values) in found.variables() {
        let ids: Vec<&str> = values.iter().map(|value| value.id().as_str()).collect();
        text.push_str(&format!("    {name}: {}\n", ids.join(", ")));
    }
    text
}
