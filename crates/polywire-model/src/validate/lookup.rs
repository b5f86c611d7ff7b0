//! An index of members and values of enums by name.
//!
//! `Shape::member` is a linear search, which is fast enough for real models. But a small text can
//! have a trait with thousands of members and a value with thousands of keys. So each shape is
//! indexed once, when its first value is checked.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ids;
use crate::node::Node;
use crate::shape::{Member, Shape};

#[derive(Default)]
pub(super) struct Lookups<'m> {
    /// By address: the shapes of a model do not move, and their names can be long.
    by_shape: HashMap<usize, Rc<Lookup<'m>>>,
}

pub(super) struct Lookup<'m> {
    pub(super) members: HashMap<&'m str, &'m Member>,
    /// The names of the required members.
    pub(super) required: Vec<&'m str>,
    /// The values of an enum shape, or of a string with `@enum`.
    pub(super) texts: HashSet<&'m str>,
    /// The same values in the order of the source, for messages.
    pub(super) texts_in_order: Vec<&'m str>,
    /// The values of an intEnum.
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
            // Duplicate names are reported elsewhere. The first is used.
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
