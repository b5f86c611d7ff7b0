//! How an operation deletes several things.

use polywire_schema::Operation;

use super::list::{ItemList, find_lists, member_at};
use super::{Kind, Role, is_scalar};

/// How an operation deletes several things.
#[derive(Debug)]
pub(crate) struct EachPlan {
    /// The list of the input that names the things.
    pub(crate) input: ItemList,
    /// The identifiers in its items, if these are structures.
    pub(crate) bindings: Vec<(String, Role)>,
    /// The list of the output that names those that are deleted.
    pub(crate) output: Option<ItemList>,
}

impl EachPlan {
    /// The plan of an operation. `None` if its input has no list of such things.
    pub(super) fn of(operation: Operation<'_>, kind: &Kind) -> Option<Self> {
        let mut inputs = Vec::new();
        find_lists(kind, operation, operation.input(), &mut inputs);
        let mut outputs = Vec::new();
        find_lists(kind, operation, operation.output(), &mut outputs);
        let input = inputs.into_iter().next()?;
        let list = member_at(operation.input(), &input.path)?;
        let bindings = match input.role {
            Some(_) => Vec::new(),
            None => {
                let members = list.element().target().members();
                let members = members.filter(|member| is_scalar(member.kind()));
                let roles =
                    members.map(|member| (member.name().to_owned(), kind.role(member.name())));
                roles.filter(|(_, role)| kind.identifies(role)).collect()
            }
        };
        Some(Self {
            input,
            bindings,
            // The first list: others are of those that could not be deleted.
            output: outputs.into_iter().next(),
        })
    }
}
