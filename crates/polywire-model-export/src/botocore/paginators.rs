//! `paginators-1.json`: pagination.

use polywire_model::{Node, Object, Shape, ShapeType};

use super::Context;
use super::entries::{object, texts};

pub(super) fn paginators(context: &mut Context<'_>) -> Node {
    let mut all = Object::new();
    for (name, operation) in context.operations() {
        let Some(paginated) = context.model.pagination(Some(context.service), operation) else {
            continue;
        };
        let items = match paginated.items {
            Some(items) => vec![items],
            None => lists(context, operation),
        };
        let (Some(input), Some(output), [first, rest @ ..]) =
            (paginated.input_token, paginated.output_token, &items[..])
        else {
            context.notes.push(format!(
                "`{name}` has no paginator, because its output has no list"
            ));
            continue;
        };
        let result = if rest.is_empty() {
            Node::from(*first)
        } else {
            texts(items)
        };
        let more_results = context.model.more_results(operation, &paginated);
        let entry = object([
            ("input_token", Some(input.into())),
            ("limit_key", paginated.page_size.map(Node::from)),
            ("more_results", more_results.map(Node::from)),
            ("output_token", Some(output.into())),
            ("result_key", Some(result)),
        ]);
        all.push(name, entry);
    }
    object([("pagination", Some(all.into()))]).into()
}

/// The lists of an output, in order: the items of a page if `@paginated` has no `items`, which
/// botocore's paginators require.
fn lists<'m>(context: &Context<'m>, operation: &'m Shape) -> Vec<&'m str> {
    let output = operation.as_operation();
    let output = output.and_then(|operation| context.model.get(operation.output()));
    let members = output.map(Shape::members).unwrap_or_default().iter();
    let is_list = |target: &Shape| target.shape_type() == ShapeType::List;
    members
        .filter(|member| context.model.target(member).is_some_and(is_list))
        .map(|member| member.name())
        .collect()
}
