//! Reads JSON AST into a fragment.
//!
//! Nodes are moved, not copied: the value of a trait moves from the JSON tree into the shape. Ids
//! are interned, because a model names the same few traits and targets thousands of times.

mod nodes;
mod properties;

use std::collections::HashMap;

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems};
use crate::fragment::{Apply, Fragment};
use crate::ids;
use crate::json::{MAX_DEPTH, MAX_MODEL_DEPTH, read as read_json};
use crate::node::{Entry, Node, NodeValue, Object};
use crate::rules;
use crate::shape::{Body, Member, Shape, ShapeRef, ShapeType, UNIT};
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;
use crate::traits::{AppliedTrait, Traits};

use self::properties::property_names;

/// Reads the text of an AST file. Errors are added to `problems`, and the fragment has what could
/// be read. If `is_optional`, a file that is not a model is skipped.
pub(crate) fn read(text: &str, file: u32, is_optional: bool, problems: &mut Problems) -> Fragment {
    let Some((root, deepest)) = read_json(text, file, MAX_MODEL_DEPTH, problems) else {
        return Fragment::default();
    };
    if is_optional && root.get("smithy").is_none() {
        return Fragment::default();
    }
    let mut reader = Reader {
        problems,
        ids: HashMap::new(),
        is_version_1: false,
        is_deep: deepest > MAX_DEPTH,
        fragment: Fragment::default(),
    };
    reader.document(root);
    reader.fragment
}

struct Reader<'p> {
    problems: &'p mut Problems,
    ids: HashMap<String, ShapeId>,
    is_version_1: bool,
    /// Whether values of metadata or traits may be nested deeper than the IDL allows.
    is_deep: bool,
    fragment: Fragment,
}

impl Reader<'_> {
    fn document(&mut self, root: Node) {
        let location = root.location();
        let Some(object) = self.object(root, "an object with the key `smithy`") else {
            return;
        };
        match object
            .get("smithy")
            .map(|version| (version.as_str(), version.location()))
        {
            Some((Some("2" | "2.0"), _)) => {}
            Some((Some("1" | "1.0"), _)) => {
                self.is_version_1 = true;
                self.fragment.is_version_1 = true;
            }
            Some((_, location)) => {
                self.problems.push(
                    Problem::error(
                        rules::MODEL_VERSION,
                        location,
                        "this version of Smithy is unknown",
                    )
                    .expected("\"2.0\""),
                );
                return;
            }
            None => {
                self.problems.push(
                    Problem::error(
                        rules::MODEL_VERSION,
                        location,
                        "this JSON is not a Smithy model",
                    )
                    .expected("an object with the key `smithy`"),
                );
                return;
            }
        }
        for Entry {
            key,
            key_location,
            value,
        } in object.into_entries()
        {
            match key.as_str() {
                "smithy" => {}
                "metadata" => {
                    if let Some(metadata) = self.object(value, "an object of metadata") {
                        for entry in metadata.into_entries() {
                            self.check_depth(&entry.value);
                            self.fragment.metadata.push(entry);
                        }
                    }
                }
                "shapes" => {
                    if let Some(shapes) = self.object(value, "an object of shapes") {
                        for entry in shapes.into_entries() {
                            self.entry(entry);
                        }
                    }
                }
                _ => self.unknown_property(&key, key_location, &["smithy", "metadata", "shapes"]),
            }
        }
    }

    /// One entry of `shapes`: a shape, or traits for a shape or member.
    fn entry(&mut self, entry: Entry) {
        let Some(id) = self.id(&entry.key, entry.key_location) else {
            return;
        };
        let value_location = entry.value.location();
        let Some(object) = self.object(entry.value, "an object that describes the shape") else {
            return;
        };
        let shape_type = match object.get("type") {
            Some(node) => (
                node.as_str().unwrap_or_default().to_owned(),
                node.location(),
            ),
            None => {
                self.problems.push(
                    Problem::error(
                        rules::MISSING_PROPERTY,
                        value_location,
                        format!("`{id}` has no type"),
                    )
                    .expected("an object with the key `type`"),
                );
                return;
            }
        };
        if shape_type.0 == "apply" {
            self.apply(&id, entry.key_location, object);
            return;
        }
        // Version 2.0 has lists with @uniqueItems instead of sets.
        let is_set = self.is_version_1 && shape_type.0 == "set";
        let known = if is_set {
            Some(ShapeType::List)
        } else {
            ShapeType::from_name(&shape_type.0)
        };
        let Some(shape_type) = known else {
            let names = ShapeType::ALL.into_iter().map(|(name, _)| name);
            let hint = match shape_type.0.as_str() {
                "set" => Some("Smithy 2.0 has lists with @uniqueItems instead of sets".to_owned()),
                name => did_you_mean(name, names),
            };
            let message = format!("`{}` is not a shape type", shape_type.0);
            self.problems.push(
                Problem::error(rules::UNKNOWN_SHAPE_TYPE, shape_type.1, message)
                    .expected("a shape type")
                    .maybe_hint(hint),
            );
            return;
        };
        if id.is_member() {
            let message =
                format!("`{id}` is the id of a member, which must be defined in its shape");
            self.problems.push(
                Problem::error(rules::SHAPE_ID, entry.key_location, message)
                    .expected("`namespace#Name`"),
            );
            return;
        }
        let mut shape = Shape::new(id, shape_type, entry.key_location);
        shape.is_version_1 = self.is_version_1;
        self.shape(shape, object, is_set);
    }

    fn apply(&mut self, id: &ShapeId, location: SourceLocation, object: Object) {
        for Entry {
            key,
            key_location,
            value,
        } in object.into_entries()
        {
            match key.as_str() {
                "type" => {}
                "traits" => {
                    let traits = self.traits(value).into_entries();
                    let target = ShapeRef::new(id.clone(), location);
                    self.fragment.applies.push(Apply { target, traits });
                }
                _ => self.unknown_property(&key, key_location, &["type", "traits"]),
            }
        }
    }

    fn shape(&mut self, mut shape: Shape, object: Object, is_set: bool) {
        for Entry {
            key,
            key_location,
            value,
        } in object.into_entries()
        {
            match key.as_str() {
                "type" => continue,
                "traits" => {
                    shape.traits = self.traits(value);
                    continue;
                }
                "mixins" => {
                    shape.mixins = self.references(value);
                    continue;
                }
                _ => {}
            }
            let known = match (shape.shape_type, key.as_str()) {
                (ShapeType::List, "member") | (ShapeType::Map, "key" | "value") => {
                    self.member(&mut shape, &key, key_location, value);
                    true
                }
                (shape_type, "members") if shape_type.has_named_members() => {
                    if let Some(members) = self.object(value, "an object of members") {
                        for entry in members.into_entries() {
                            self.member(&mut shape, &entry.key, entry.key_location, entry.value);
                        }
                    }
                    true
                }
                _ => match &mut shape.body {
                    Body::Operation(operation) => self.operation_property(operation, &key, value),
                    Body::Resource(resource) => self.resource_property(resource, &key, value),
                    Body::Service(service) => self.service_property(service, &key, value),
                    Body::None => false,
                },
            };
            if !known {
                self.unknown_property(&key, key_location, property_names(shape.shape_type));
            }
        }
        if shape.shape_type == ShapeType::Map {
            // `key` comes first, in any order of the document.
            shape.members.sort_by(|left, right| left.id.cmp(&right.id));
        }
        if is_set && !shape.traits.has_unique_items() {
            shape.traits.push(AppliedTrait::new(
                ShapeId::from_static(ids::UNIQUE_ITEMS),
                Node::empty_object(),
                shape.location,
            ));
        }
        self.fragment.shapes.push(shape);
    }

    fn member(&mut self, shape: &mut Shape, name: &str, location: SourceLocation, value: Node) {
        let id = match shape.id.with_member(name) {
            Ok(id) => id,
            Err(error) => {
                self.problems.push(
                    Problem::error(rules::MEMBER_NAME, location, error.to_string())
                        .expected("a member name: letters, digits and underscores"),
                );
                return;
            }
        };
        let value_location = value.location();
        let Some(object) = self.object(value, "an object with the key `target`") else {
            return;
        };
        let (mut target, mut traits) = (None, Traits::default());
        for Entry {
            key,
            key_location,
            value,
        } in object.into_entries()
        {
            match key.as_str() {
                "target" => target = self.id_of(&value).map(|id| (id, value.location())),
                "traits" => traits = self.traits(value),
                _ => self.unknown_property(&key, key_location, &["target", "traits"]),
            }
        }
        let Some((target, target_location)) = target else {
            let message = format!("the member `{id}` has no target");
            self.problems.push(
                Problem::error(rules::MISSING_PROPERTY, value_location, message)
                    .expected("an object with the key `target`"),
            );
            return;
        };
        if matches!(shape.shape_type, ShapeType::Enum | ShapeType::IntEnum) {
            if shape.shape_type == ShapeType::Enum {
                Self::imply_value(&id, location, &mut traits);
            }
            if target != UNIT {
                let message = format!("the member `{id}` of an enum has a target");
                self.problems.push(
                    Problem::error(rules::WRONG_TARGET, target_location, message)
                        .expected("`smithy.api#Unit`"),
                );
                return;
            }
        }
        let target = ShapeRef::new(target, target_location);
        shape.members.push(Member {
            id,
            target,
            location,
            traits,
            origin: None,
            elided: false,
        });
    }

    /// The value of an enum member without `@enumValue` is its name.
    fn imply_value(member: &ShapeId, location: SourceLocation, traits: &mut Traits) {
        if !traits.has(ids::ENUM_VALUE) {
            let name = member.member().unwrap_or_default().to_owned();
            let value = Node::new(NodeValue::String(name), location);
            let id = ShapeId::from_static(ids::ENUM_VALUE);
            traits.push(AppliedTrait::new(id, value, location));
        }
    }

    fn traits(&mut self, node: Node) -> Traits {
        let mut traits = Traits::default();
        let Some(object) = self.object(node, "an object of traits") else {
            return traits;
        };
        for Entry {
            key,
            key_location,
            value,
        } in object.into_entries()
        {
            self.check_depth(&value);
            if let Some(id) = self.id(&key, key_location) {
                traits.push(AppliedTrait::new(id, value, key_location));
            }
        }
        traits
    }
}
