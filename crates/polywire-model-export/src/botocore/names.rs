//! Unique names for shapes.
//!
//! The closure of a service can have two simple shapes with one name, such as `smithy.api#String`
//! and `example#String`, and botocore has one name space. Structures and unions get their names
//! first, because names of errors are sent.

use std::collections::HashMap;

use polywire_model::{Closure, ShapeId};

/// The use of a shape, if it needs two variants.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Use {
    /// A flattened list. botocore takes the name of the items from the list if it has one, and
    /// Smithy takes it from the member.
    Flattened,
    /// Any other use.
    Plain,
}

pub(super) struct Names<'m> {
    given: HashMap<(&'m ShapeId, Use), String>,
    /// The used names, with the number for the next shape of that name.
    taken: HashMap<String, u32>,
}

impl<'m> Names<'m> {
    pub(super) fn of(closure: &Closure<'m>) -> Self {
        let mut names = Self {
            given: HashMap::new(),
            taken: HashMap::new(),
        };
        for shape in closure.shapes() {
            if matches!(
                shape.shape_type(),
                polywire_model::ShapeType::Structure | polywire_model::ShapeType::Union
            ) {
                names.name(shape.id(), Use::Plain, closure);
            }
        }
        names
    }

    pub(super) fn name(&mut self, id: &'m ShapeId, usage: Use, closure: &Closure<'m>) -> String {
        if let Some(name) = self.given.get(&(id, usage)) {
            return name.clone();
        }
        let mut name = closure.name(id).to_owned();
        if usage == Use::Flattened {
            name.push_str("Flattened");
        }
        let name = self.free(&name);
        self.given.insert((id, usage), name.clone());
        name
    }

    /// The name itself, or the name with the first number that makes it unique.
    fn free(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        while self.taken.contains_key(&free) {
            let number = self.taken.entry(name.to_owned()).or_insert(1);
            *number += 1;
            free = format!("{name}{number}");
        }
        self.taken.insert(free.clone(), 1);
        free
    }
}
