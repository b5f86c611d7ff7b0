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
    function(source, "shape", "structure", shapes);
    function(source, "input", "input of the operation", inputs);
    function(source, "output", "output of the operation", outputs);
}

fn function<'a>(
    source: &mut Source,
    name: &str,
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
        &format!("pub fn visit_{name}<V: codec::Visitor>"),
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
