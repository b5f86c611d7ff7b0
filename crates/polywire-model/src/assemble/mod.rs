//! Makes shapes of fragments: joins files, flattens mixins, applies traits.
//!
//! The order matters. A mixin must be complete, with the traits that `apply` adds to it, before it
//! is copied into the shapes that use it. An `apply` on an inherited member must come after the
//! member was inherited. So shapes are completed one by one, each after its dependencies:
//!
//! ```text
//! coerce:  `@annotation` without a value gets {} or [] by the trait's definition
//! join:    every shape once, metadata merged
//! order:   mixins and `for` resources first; what remains is a cycle
//! finish:  elided targets -> inherit members, traits, body -> own traits -> apply
//! ```

mod body;
mod join;
mod mixins;
mod traits;

use std::collections::HashMap;
use std::rc::Rc;

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems};
use crate::fragment::{Apply, Fragment};
use crate::ids;
use crate::node::Object;
use crate::rules::{self, Rule};
use crate::shape::{Shape, ShapeRef, ShapeType, UNIT};
use crate::shape_table::ShapeTable;
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;
use crate::upgrade::upgrade;
use crate::version;

use self::join::{adopt_bundled_targets, join, merge_metadata};
use self::traits::Definitions;

pub(crate) type ShapesAndMetadata = (Vec<Shape>, HashMap<ShapeId, u32>, Object);

/// Joins fragments. `bundled` is the table of bundled definitions. It is `None` while these are
/// assembled themselves.
pub(crate) fn assemble(
    fragments: Vec<Fragment>,
    bundled: Option<&ShapeTable>,
    problems: &mut Problems,
) -> ShapesAndMetadata {
    let mut metadata = Vec::new();
    let mut drafts = Vec::new();
    let mut applies = Vec::new();
    for mut fragment in fragments {
        version::check(&fragment, problems);
        metadata.append(&mut fragment.metadata);
        drafts.append(&mut fragment.shapes);
        applies.append(&mut fragment.applies);
    }
    let metadata = merge_metadata(metadata, problems);
    Definitions::of(&drafts, bundled).coerce_annotations(&mut drafts, &mut applies);
    let mut shapes = join(drafts, bundled, problems);
    adopt_bundled_targets(&mut shapes, &mut applies, bundled, problems);
    shapes.sort_by(|left, right| left.id.cmp(&right.id));
    let index: HashMap<ShapeId, u32> = shapes
        .iter()
        .enumerate()
        .map(|(at, shape)| (shape.id.clone(), at as u32))
        .collect();
    let mut assembler = Assembler {
        shapes,
        index,
        bundled,
        problems,
        inherited_members: 0,
        inherited_traits: 0,
        inherited_references: 0,
        resource_fields: HashMap::new(),
    };
    assembler.finish_all(applies);
    upgrade(&mut assembler.shapes, &assembler.index, bundled);
    (assembler.shapes, assembler.index, metadata)
}

struct Assembler<'a> {
    shapes: Vec<Shape>,
    index: HashMap<ShapeId, u32>,
    bundled: Option<&'a ShapeTable>,
    problems: &'a mut Problems,
    inherited_members: usize,
    inherited_traits: usize,
    inherited_references: usize,
    /// The targets of identifiers and properties, of the resources that were indexed so far.
    resource_fields: HashMap<ShapeId, Rc<HashMap<String, ShapeId>>>,
}

impl Assembler<'_> {
    fn shape(&self, id: &str) -> Option<&Shape> {
        match self.index.get(id) {
            Some(&at) => Some(&self.shapes[at as usize]),
            None => self.bundled?.shape(id),
        }
    }

    fn finish_all(&mut self, applies: Vec<Apply>) {
        let mut by_shape: HashMap<u32, Vec<Apply>> = HashMap::new();
        for apply in applies {
            match self.index.get(apply.target.root_str()) {
                Some(&at) => by_shape.entry(at).or_default().push(apply),
                None => self.unresolved(rules::UNRESOLVED_APPLY, "target of apply", &apply.target),
            }
        }
        for at in self.dependency_order() {
            // Taken out, because completing it reads the other shapes.
            let hole = Shape::new(UNIT, ShapeType::Structure, SourceLocation::NONE);
            let mut shape = std::mem::replace(&mut self.shapes[at], hole);
            self.finish(
                &mut shape,
                by_shape.remove(&(at as u32)).unwrap_or_default(),
            );
            self.shapes[at] = shape;
        }
    }

    /// The indices of all shapes, each after the mixins and the resource that it uses (Kahn's
    /// algorithm). Shapes of a cycle come last, and are reported.
    fn dependency_order(&mut self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.shapes.len());
        let mut waiting: HashMap<usize, usize> = HashMap::new();
        let mut dependents: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, shape) in self.shapes.iter().enumerate() {
            let needed: Vec<usize> = shape
                .mixins
                .iter()
                .chain(&shape.for_resource)
                .filter_map(|reference| self.index.get(reference.id()))
                .map(|&needed| needed as usize)
                .collect();
            if needed.is_empty() {
                order.push(at);
            } else {
                waiting.insert(at, needed.len());
                needed
                    .into_iter()
                    .for_each(|n| dependents.entry(n).or_default().push(at));
            }
        }
        let mut next = 0;
        while next < order.len() {
            for dependent in dependents.remove(&order[next]).unwrap_or_default() {
                if let Some(count) = waiting.get_mut(&dependent) {
                    *count -= 1;
                    if *count == 0 {
                        waiting.remove(&dependent);
                        order.push(dependent);
                    }
                }
            }
            next += 1;
        }
        let mut cyclic: Vec<usize> = waiting.into_keys().collect();
        cyclic.sort_unstable();
        for at in cyclic {
            let shape = &mut self.shapes[at];
            self.problems.push(
                Problem::error(
                    rules::MIXIN_CYCLE,
                    shape.location,
                    format!("the mixins of `{}` form a cycle", shape.id),
                )
                .hint("a mixin cannot use itself, neither directly nor through other mixins"),
            );
            shape.mixins.clear();
            order.push(at);
        }
        order
    }

    fn finish(&mut self, shape: &mut Shape, applies: Vec<Apply>) {
        self.merge_repeated_traits(shape);
        let mixins = self.usable_mixins(shape);
        self.inherit_members(shape, &mixins);
        self.inherit_traits(shape, &mixins);
        self.inherit_body(shape, &mixins);
        self.apply_all(shape, applies);
    }

    #[cold]
    fn unresolved(&mut self, rule: &'static Rule, what: &str, reference: &ShapeRef) {
        let root = reference.root_str();
        let hint = self
            .problems
            .wants_hints()
            .then(|| suggest_shape(root, self.shapes.iter()))
            .flatten();
        self.problems.push(
            Problem::error(
                rule,
                reference.location(),
                format!("the {what} `{root}` is not defined"),
            )
            .expected("the name of a shape")
            .maybe_hint(hint),
        );
    }
}

/// A hint with a shape of a similar name. The same name in another namespace counts as similar.
pub(crate) fn suggest_shape<'m>(
    id: &str,
    shapes: impl Iterator<Item = &'m Shape> + Clone,
) -> Option<String> {
    let (namespace, name) = id.split_once('#')?;
    let same_name = shapes.clone().find(|shape| shape.id().name() == name);
    if let Some(shape) = same_name.filter(|shape| shape.id().namespace() != namespace) {
        return Some(format!(
            "`{}` exists: add `use {0}`, or write it in full",
            shape.id()
        ));
    }
    let in_reach = shapes
        .filter(|shape| [namespace, ids::PRELUDE].contains(&shape.id().namespace()))
        .filter(|shape| !shape.traits().is_trait_definition());
    did_you_mean(name, in_reach.map(|shape| shape.id().name()))
}
