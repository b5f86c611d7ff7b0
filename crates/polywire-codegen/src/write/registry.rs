//! Writes functions that look up types by shape ID.

use crate::plan::Plan;
use crate::source::Source;

pub(super) fn write(source: &mut Source, plan: &Plan<'_>) {
    let structures = plan.structures.iter();
    let shapes = structures
        .filter(|structure| structure.traits.is_some())
        .map(|structure| (structure.id.as_str(), structure.name.as_str()));
    let name_of = |index: usize| plan.structures[index].name.as_str();
    let operations = plan.operations.iter();
    let inputs =
        operations.map(|operation| (operation.shape.id().as_str(), name_of(operation.input)));
    let operations = plan.operations.iter();
    let outputs =
        operations.map(|operation| (operation.shape.id().as_str(), name_of(operation.output)));
    let unions = plan.unions.iter();
    let events = unions
        .filter(|union| union.shape.traits().is_streaming() && !union.has_lifetime)
        .map(|union| (union.shape.id().as_str(), union.name.as_str()));
    function(source, "shape", "Visitor", "structure", shapes);
    function(source, "input", "Visitor", "input of the operation", inputs);
    function(
        source,
        "output",
        "Visitor",
        "output of the operation",
        outputs,
    );
    function(source, "event", "EventVisitor", "event stream", events);
}

fn function<'a>(
    source: &mut Source,
    name: &str,
    visitor_trait: &str,
    what: &str,
    arms: impl Iterator<Item = (&'a str, &'a str)>,
) {
    let arms: Vec<(&str, &str)> = arms.collect();
    let visitor = if arms.is_empty() {
        "_visitor: V"
    } else {
        "visitor: V"
    };
    source.blank();
    source.line(format!(
        "/// Calls the visitor with the type of the {what} with this ID."
    ));
    source.line("/// Returns `None` if there is none.");
    source.signature(
        &format!("pub fn visit_{name}<V: codec::{visitor_trait}>"),
        &["id: &str", visitor],
        " -> Option<V::Output> {",
    );
    if arms.is_empty() {
        source.line("let _ = id;");
        source.line("None");
        source.close("}");
        return;
    }
    source.open("match id {");
    for (id, ty) in arms {
        source.arm(
            &format!("{id:?}"),
            &format!("Some(visitor.visit::<{ty}>())"),
        );
    }
    source.line("_ => None,");
    source.close("}");
    source.close("}");
}
