//! Copies members and traits of mixins to the shapes that use them, and resolves elided members.

use std::collections::HashMap;
use std::rc::Rc;

use polywire_schema::ShapeId;

use super::Assembler;
use super::body::{MergedBody, size};
use crate::diagnostic::Problem;
use crate::ids;
use crate::node::Node;
use crate::rules;
use crate::shape::{Body, Member, Shape, ShapeRef};
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;
use crate::traits::{AppliedTrait, Traits};

/// The maximum number of members that mixins add to a model. A chain in which each mixin uses all
/// mixins before it grows with the square of the text. Real models inherit a few thousand.
const MAX_INHERITED_MEMBERS: usize = 250_000;

/// The maximum number of traits that mixins add to the shapes and members of a model. Each of the
/// members can have a thousand.
const MAX_INHERITED_TRAITS: usize = 1_000_000;

/// The maximum number of operations, resources, errors and other references that mixins of
/// services, resources and operations add to a model.
const MAX_INHERITED_REFERENCES: usize = 250_000;

impl Assembler<'_> {
    /// The mixins of a shape that exist and have the right type.
    pub(super) fn usable_mixins(&mut self, shape: &mut Shape) -> Vec<ShapeRef> {
        let mut usable = Vec::new();
        for reference in &shape.mixins {
            let Some(mixin) = self.shape(reference) else {
                self.unresolved(rules::UNRESOLVED_MIXIN, "mixin", reference);
                continue;
            };
            let problem = if mixin.shape_type != shape.shape_type {
                let message = format!(
                    "`{}` is {}, but its mixin is {}",
                    shape.id,
                    shape.shape_type.with_article(),
                    mixin.shape_type.with_article()
                );
                Problem::error(rules::WRONG_MIXIN, reference.location(), message)
                    .expected(format!(
                        "a mixin that is {}",
                        shape.shape_type.with_article()
                    ))
                    .related("the mixin", mixin.location)
            } else if !mixin.traits.is_mixin() {
                let message = format!("`{}` is not a mixin", reference.id());
                Problem::error(rules::TARGET, reference.location(), message)
                    .expected("a shape with the trait @mixin")
                    .hint(format!("put @mixin on `{}`", reference.name()))
                    .related("defined", mixin.location)
            } else {
                usable.push(reference.clone());
                continue;
            };
            self.problems.push(problem);
        }
        usable
    }

    pub(super) fn inherit_members(&mut self, shape: &mut Shape, mixins: &[ShapeRef]) {
        if mixins.is_empty() && !shape.members.iter().any(|member| member.elided) {
            return;
        }
        let mut members: Vec<Member> = Vec::new();
        let mut index: HashMap<String, usize> = HashMap::new();
        for reference in mixins {
            let given = self.shape(reference).map_or(&[][..], |m| &m.members);
            let counts = (given.len(), given.iter().map(|m| m.traits.len()).sum());
            if !self.has_room(counts, reference.location()) {
                return;
            }
            // Cloned, because merging borrows the assembler.
            let given = self
                .shape(reference)
                .map(|m| m.members.clone())
                .unwrap_or_default();
            for mut member in given {
                member
                    .traits
                    .iter_mut()
                    .for_each(|applied| applied.inherited = true);
                if let Some(&at) = index.get(member.name()) {
                    if members[at].target != member.target {
                        self.member_conflict(shape, &members[at], &member, reference.location());
                    }
                    self.merge_traits(&mut members[at].traits, member.traits);
                    continue;
                }
                let Ok(id) = shape.id.with_member(member.name()) else {
                    continue;
                };
                member.id = id;
                member.origin = Some(reference.id().clone());
                index.insert(member.name().to_owned(), members.len());
                members.push(member);
            }
        }
        for mut own in std::mem::take(&mut shape.members) {
            let inherited = index.get(own.name()).copied();
            if own.elided {
                match self.elided_target(shape, &own, inherited.map(|at| &members[at])) {
                    Some(target) => own.target = target,
                    None => continue,
                }
                own.elided = false;
            }
            match inherited {
                Some(at) => {
                    if members[at].target != own.target {
                        self.member_conflict(shape, &members[at], &own, own.location);
                    }
                    members[at].location = own.location;
                    self.merge_traits(&mut members[at].traits, own.traits);
                }
                None => members.push(own),
            }
        }
        shape.members = members;
    }

    /// Counts the members and traits that a mixin adds, and reports an error above the limit.
    fn has_room(&mut self, (members, traits): (usize, usize), at: SourceLocation) -> bool {
        self.inherited_members += members;
        self.inherited_traits += traits;
        let (rule, bound, what) = if self.inherited_members > MAX_INHERITED_MEMBERS {
            (rules::TOO_MANY_MEMBERS, MAX_INHERITED_MEMBERS, "members")
        } else if self.inherited_traits > MAX_INHERITED_TRAITS {
            (rules::TOO_MANY_TRAITS, MAX_INHERITED_TRAITS, "traits")
        } else {
            return true;
        };
        let message = format!("mixins add more than {bound} {what} to this model");
        self.problems.push(Problem::error(rule, at, message));
        false
    }

    /// The target of `$name`: that of the identifier or property of the resource after `for`, else
    /// that of the member of a mixin.
    pub(super) fn elided_target(
        &mut self,
        shape: &Shape,
        member: &Member,
        inherited: Option<&Member>,
    ) -> Option<ShapeRef> {
        let name = member.name();
        if let Some(reference) = &shape.for_resource {
            let Some(fields) = self.fields(reference) else {
                self.unresolved(rules::UNRESOLVED_RESOURCE, "resource", reference);
                return None;
            };
            if let Some(target) = fields.get(name) {
                return Some(ShapeRef::new(target.clone(), member.location));
            }
        }
        if let Some(inherited) = inherited {
            return Some(inherited.target.clone());
        }
        self.nothing_to_elide(shape, member);
        None
    }

    /// The targets of the identifiers and properties of a resource, by name. Each resource is
    /// indexed once, because many structures can be `for` it.
    fn fields(&mut self, reference: &ShapeRef) -> Option<Rc<HashMap<String, ShapeId>>> {
        if let Some(fields) = self.resource_fields.get(reference.id()) {
            return Some(Rc::clone(fields));
        }
        let resource = self.shape(reference).and_then(Shape::as_resource)?;
        let mut fields = HashMap::new();
        for (name, target) in resource.identifiers().iter().chain(resource.properties()) {
            fields
                .entry(name.clone())
                .or_insert_with(|| target.id().clone());
        }
        let fields = Rc::new(fields);
        self.resource_fields
            .insert(reference.id().clone(), Rc::clone(&fields));
        Some(fields)
    }

    #[cold]
    fn nothing_to_elide(&mut self, shape: &Shape, member: &Member) {
        let name = member.name();
        let hint = self.problems.wants_hints().then(|| {
            let resource = shape.for_resource.as_ref().and_then(|r| self.shape(r));
            let resource = resource.and_then(Shape::as_resource).into_iter();
            let fields = resource.flat_map(|r| r.identifiers().iter().chain(r.properties()));
            let mixins = shape.mixins.iter().filter_map(|mixin| self.shape(mixin));
            let inherited = mixins.flat_map(|mixin| mixin.members().iter().map(Member::name));
            did_you_mean(
                name,
                fields.map(|(field, _)| field.as_str()).chain(inherited),
            )
        });
        let expected = match (&shape.for_resource, shape.mixins.is_empty()) {
            (Some(resource), true) => format!("an identifier or property of `{}`", resource.name()),
            (Some(resource), false) => {
                format!(
                    "an identifier or property of `{}`, or a member of a mixin",
                    resource.name()
                )
            }
            (None, false) => "the name of a member of a mixin".to_owned(),
            (None, true) => "`for` and a resource, or a mixin, on the shape".to_owned(),
        };
        self.problems.push(
            Problem::error(
                rules::ELIDED_MEMBER,
                member.location,
                format!("`${name}` of `{}` has no target", shape.id),
            )
            .expected(expected)
            .maybe_hint(hint.flatten()),
        );
    }

    pub(super) fn member_conflict(
        &mut self,
        shape: &Shape,
        old: &Member,
        new: &Member,
        at: SourceLocation,
    ) {
        let message = format!(
            "the member `{}` of `{}` has the target `{}` in one definition and `{}` in another",
            old.name(),
            shape.id,
            old.target.id(),
            new.target.id()
        );
        self.problems.push(
            Problem::error(rules::MEMBER_CONFLICT, at, message)
                .expected("the same target as in the mixin")
                .related("the other definition", old.location),
        );
    }

    pub(super) fn inherit_traits(&mut self, shape: &mut Shape, mixins: &[ShapeRef]) {
        if mixins.is_empty() {
            return;
        }
        let mut traits = Traits::default();
        for reference in mixins {
            let count = self.shape(reference).map_or(0, |mixin| mixin.traits.len());
            if !self.has_room((0, count), reference.location()) {
                break;
            }
            let Some(mixin) = self.shape(reference) else {
                continue;
            };
            let given = inheritable(&mixin.traits);
            self.merge_traits(&mut traits, given);
        }
        let own = std::mem::take(&mut shape.traits);
        self.merge_traits(&mut traits, own);
        shape.traits = traits;
    }

    pub(super) fn inherit_body(&mut self, shape: &mut Shape, mixins: &[ShapeRef]) {
        if mixins.is_empty() || shape.body == Body::None {
            return;
        }
        let own = shape.body.clone();
        let mut joined = MergedBody::of(shape.shape_type);
        for reference in mixins {
            let count = self.shape(reference).map_or(0, |mixin| size(&mixin.body));
            self.inherited_references += count;
            if self.inherited_references > MAX_INHERITED_REFERENCES {
                let message = format!(
                    "mixins add more than {MAX_INHERITED_REFERENCES} references to this model"
                );
                let problem =
                    Problem::error(rules::TOO_MANY_REFERENCES, reference.location(), message);
                self.problems.push(problem);
                break;
            }
            if let Some(mixin) = self.shape(reference) {
                joined.add(&mixin.body);
            }
        }
        joined.add(&own);
        shape.body = joined.body;
        shape.own_body = Some(Box::new(own));
    }
}

/// The traits that the users of a mixin inherit: all except `@mixin` and those that it declares
/// local.
fn inheritable(traits: &Traits) -> Traits {
    let local: Vec<&str> = traits
        .get(ids::MIXIN)
        .and_then(|value| value.get("localTraits"))
        .and_then(Node::as_array)
        .unwrap_or_default()
        .iter()
        .filter_map(Node::as_str)
        .collect();
    let mut given = Traits::default();
    for applied in traits.iter() {
        if applied.id != ids::MIXIN && !local.contains(&applied.id.as_str()) {
            given.push(AppliedTrait {
                inherited: true,
                ..applied.clone()
            });
        }
    }
    given
}
