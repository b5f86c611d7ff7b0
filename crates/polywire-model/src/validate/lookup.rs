//! Members and values of enums by name.
//!
//! `Shape::member` searches, which suits the shapes of real models. Values of
//! traits are checked key by key, and a small text can hold a trait of thousands
//! of members and a value of thousands of keys: here each shape is indexed once,
//! when a value of it is first seen.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ids;
use crate::node::Node;
use crate::shape::{Member, Shape};

#[derive(Default)]
pub(super) struct Lookups<'m> {
    /// By place in memory: a model's shapes stay where they are, and their names
    /// may be long.
    by_shape: HashMap<usize, Rc<Lookup<'m>>>,
}

pub(super) struct Lookup<'m> {
    pub(super) members: HashMap<&'m str, &'m Member>,
    /// The names of the members that a value can't do without.
    pub(super) required: Vec<&'m str>,
    /// What an enum allows, be it the shape or the trait on a string.
    pub(super) texts: HashSet<&'m str>,
    /// The same in the order of the source, for messages.
    pub(super) texts_in_order: Vec<&'m str>,
    /// What an intEnum allows.
    pub(super) numbers: HashSet<i64>,
    /// The members with @httpLabel.
    pub(super) labels: Vec<&'m Member>,
    /// The members with @hostLabel.
    pub(super) host_labels: Vec<&'m Member>,
}

impl<'m> Lookups<'m> {
    pub(super) fn of(&mut self, shape: &'m Shape) -> Rc<Lookup<'m>> {
        let lookup = self
            .by_shape
            .entry(std::ptr::from_ref(shape).addr())
            .or_insert_with(|| Rc::new(Lookup::of(shape)));
        Rc::clone(lookup)
    }
}

impl<'m> Lookup<'m> {
    fn of(shape: &'m Shape) -> Self {
        let mut members = HashMap::with_capacity(shape.members().len());
        for member in shape.members() {
            // A name that stands twice is an error elsewhere; the first counts.
            members.entry(member.name()).or_insert(member);
        }
        let all = || shape.members().iter();
        let required = all().filter(|member| member.traits().is_required());
        let definitions = shape.traits().get(ids::ENUM);
        let definitions = definitions.and_then(Node::as_array).unwrap_or_default();
        let texts_in_order: Vec<&str> = all()
            .filter_map(|member| member.traits().enum_value()?.as_str())
            .chain(
                definitions
                    .iter()
                    .filter_map(|definition| definition.get("value")?.as_str()),
            )
            .collect();
        Self {
            members,
            required: required.map(Member::name).collect(),
            texts: texts_in_order.iter().copied().collect(),
            texts_in_order,
            numbers: all()
                .filter_map(|member| member.traits().enum_value()?.as_i64())
                .collect(),
            host_labels: all()
                .filter(|member| member.traits().is_host_label())
                .collect(),
            labels: all()
                .filter(|member| member.traits().is_http_label())
                .collect(),
        }
    }
}
