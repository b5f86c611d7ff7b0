//! Merges the traits of one shape: which of them wins, and which are joined.

use std::collections::HashMap;
use std::sync::Arc;

use polywire_schema::ShapeId;

use super::Assembler;
use super::join::{Conflict, merge_values};
use crate::diagnostic::Problem;
use crate::fragment::Apply;
use crate::node::{Node, NodeValue, Object};
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::shape_table::ShapeTable;
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;
use crate::traits::{AppliedTrait, Traits};

/// The maximum number of traits of a shape or member. Real ones have fewer than 20. The limit keeps
/// the linear search for a trait cheap.
const MAX_TRAITS: usize = 1_000;

/// Above this number of traits, duplicates are found with a set and not by comparing pairs.
pub(super) const MANY: usize = 32;

/// The definitions of traits, as far as they are known before assembly.
pub(super) struct Definitions<'a> {
    /// The type of every shape that the model defines. Each may be a trait.
    own: HashMap<ShapeId, ShapeType>,
    bundled: Option<&'a ShapeTable>,
}

impl<'a> Definitions<'a> {
    pub(super) fn of(drafts: &[Shape], bundled: Option<&'a ShapeTable>) -> Self {
        let own = drafts
            .iter()
            .map(|shape| (shape.id.clone(), shape.shape_type))
            .collect();
        Self { own, bundled }
    }

    /// The type of the definition of a trait, if it is known.
    fn shape_type(&self, id: &str) -> Option<ShapeType> {
        self.own
            .get(id)
            .copied()
            .or_else(|| self.bundled?.shape(id).map(|shape| shape.shape_type))
    }

    /// Gives traits without a value, such as `@required`, their value: `{}` for structures and
    /// maps, `[]` for lists. Unknown traits are treated as structures, as most are. This comes
    /// first, so that the same shape in IDL and AST is equal.
    pub(super) fn coerce_annotations(&self, drafts: &mut [Shape], applies: &mut [Apply]) {
        for shape in drafts {
            let members = shape
                .members
                .iter_mut()
                .flat_map(|member| member.traits.iter_mut());
            shape
                .traits
                .iter_mut()
                .chain(members)
                .for_each(|applied| self.coerce(applied));
        }
        let traits = applies.iter_mut().flat_map(|apply| &mut apply.traits);
        traits.for_each(|applied| self.coerce(applied));
    }

    fn coerce(&self, applied: &mut AppliedTrait) {
        if !applied.value.is_null() {
            return;
        }
        let value = match self.shape_type(&applied.id) {
            None | Some(ShapeType::Structure | ShapeType::Map) => {
                NodeValue::Object(Object::default())
            }
            Some(ShapeType::List) => NodeValue::Array(Vec::new()),
            Some(_) => return,
        };
        applied.value = Arc::new(Node::new(value, applied.value.location()));
    }
}

impl Assembler<'_> {
    /// Adds the traits that `apply` statements apply to a shape and its members.
    pub(super) fn apply_all(&mut self, shape: &mut Shape, applies: Vec<Apply>) {
        if applies.is_empty() {
            return;
        }
        let index: HashMap<String, usize> = shape
            .members
            .iter()
            .enumerate()
            .map(|(at, member)| (member.name().to_owned(), at))
            .collect();
        for Apply { target, traits } in applies {
            let (owner, onto) = match target.member() {
                None => (&shape.id, &mut shape.traits),
                Some(name) => match index.get(name) {
                    Some(&at) => {
                        let member = &mut shape.members[at];
                        (&member.id, &mut member.traits)
                    }
                    None => {
                        self.no_such_member(shape, name, target.location());
                        continue;
                    }
                },
            };
            for applied in traits {
                self.merge_trait(Some(owner), onto, applied);
            }
        }
    }

    #[cold]
    fn no_such_member(&mut self, shape: &Shape, name: &str, location: SourceLocation) {
        let names = shape.members.iter().map(Member::name);
        let hint = self
            .problems
            .wants_hints()
            .then(|| did_you_mean(name, names))
            .flatten();
        self.problems.push(
            Problem::error(
                rules::UNRESOLVED_APPLY,
                location,
                format!("`{}` has no member `{name}`", shape.id),
            )
            .expected("a member of the shape")
            .maybe_hint(hint),
        );
    }

    /// Merges traits that occur twice on a shape in the same file.
    pub(super) fn merge_repeated_traits(&mut self, shape: &mut Shape) {
        let members = shape.members.iter_mut();
        let members = members.map(|member| (&member.id, &mut member.traits));
        for (owner, traits) in members.chain([(&shape.id, &mut shape.traits)]) {
            // Most shapes have two or three traits, and duplicates are rare.
            let repeated = if traits.len() > MANY {
                true
            } else {
                let all: Vec<&AppliedTrait> = traits.iter().collect();
                all.iter()
                    .enumerate()
                    .any(|(i, t)| all[..i].iter().any(|o| o.id == t.id))
            };
            if repeated {
                for applied in std::mem::take(traits).into_entries() {
                    self.merge_trait(Some(owner), traits, applied);
                }
            }
        }
    }

    /// Adds traits where some are inherited. Inherited traits do not conflict.
    pub(super) fn merge_traits(&mut self, traits: &mut Traits, more: Traits) {
        for applied in more.into_entries() {
            self.merge_trait(None, traits, applied);
        }
    }

    /// Adds a trait. A trait of the shape itself replaces an inherited one, and that of a later
    /// mixin replaces that of an earlier one. Two values on the shape itself are joined if both are
    /// arrays, and must be equal otherwise.
    fn merge_trait(&mut self, owner: Option<&ShapeId>, traits: &mut Traits, applied: AppliedTrait) {
        let count = traits.len();
        let Some(old) = traits.find_mut(&applied.id) else {
            if count < MAX_TRAITS {
                traits.push(applied);
            } else {
                let message = format!("a shape cannot have more than {MAX_TRAITS} traits");
                self.problems.push(Problem::error(
                    rules::TOO_MANY_TRAITS,
                    applied.location,
                    message,
                ));
            }
            return;
        };
        if old.inherited {
            *old = applied;
            return;
        }
        if applied.inherited {
            return;
        }
        let (old_location, location, id) = (old.location, applied.location, applied.id.clone());
        let value = Arc::unwrap_or_clone(applied.value);
        if let Err(Conflict) = merge_values(Arc::make_mut(&mut old.value), value) {
            self.problems.push_with(Severity::Error, |_| {
                let owner = owner.map_or_else(String::new, |owner| format!(" to `{owner}`"));
                let message =
                    format!("the trait `{id}` is applied twice{owner}, with different values");
                Problem::error(rules::TRAIT_CONFLICT, location, message)
                    .hint("keep one of them")
                    .related("first", old_location)
            });
        }
    }
}
