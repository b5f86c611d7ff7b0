//! `examples-1.json`: examples for the documentation of clients.

use polywire_model::{Node, Object};

use super::Context;
use super::entries::object;

/// The examples of all operations, if there are any. botocore does not support examples with an
/// error.
pub(super) fn examples(context: &Context<'_>) -> Option<Node> {
    let mut all = Object::new();
    for (name, operation) in context.operations() {
        let examples = operation.traits().examples();
        let good = examples.iter().filter(|example| example.error.is_none());
        let entries = good.enumerate().map(|(index, example)| {
            let entry = object([
                ("input", example.input.cloned()),
                ("output", example.output.cloned()),
                (
                    "description",
                    Some(example.documentation.unwrap_or_default().into()),
                ),
                ("id", Some(format!("{name}-{}", index + 1).into())),
                ("title", Some(example.title.into())),
            ]);
            Node::from(entry)
        });
        let entries: Vec<Node> = entries.collect();
        if !entries.is_empty() {
            all.push(name, entries);
        }
    }
    (!all.is_empty()).then(|| {
        object([
            ("version", Some("1.0".into())),
            ("examples", Some(all.into())),
        ])
        .into()
    })
}
