//! Names of shapes, each once.
//!
//! A service's closure may hold two simple shapes of one name, such as
//! `smithy.api#String` and a `String` of its own, and botocore's file has one name
//! space. Structures and unions get theirs first: the name of an error is sent.

use std::collections::HashMap;

use polywire_model::{Closure, ShapeId};

/// How a shape is used, where that makes two of it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Use {
    /// As a list whose items stand apart: botocore takes the name of the items
    /// from the list if it has one, where Smithy takes it from the member.
    Flattened,
    /// As it is.
    Plain,
}

pub(super) struct Names<'m> {
    given: HashMap<(&'m ShapeId, Use), String>,
    /// Each name, and the number that the next shape of that name gets.
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

    /// The name itself, or with the first number that makes it a new one.
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
