//! JSON AST 2.0 to a fragment.
//!
//! The nodes are taken apart, not copied: a trait's value moves from the JSON
//! tree into the shape. Ids are interned, since a model names the same few
//! traits and targets thousands of times.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems, did_you_mean};
use crate::fragment::{Apply, Fragment};
use crate::node::{Entry, Node, NodeValue, Object, read_json};
use crate::shape::{
    Body, Lifecycle, Member, Operation, Resource, Service, Shape, ShapeRef, ShapeType, UNIT,
};
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, Traits};

/// Reads the text of an AST file. What is wrong is in `problems`; the fragment
/// holds what could be read. A file that `is_optional` may be no model at all.
pub(crate) fn read(text: &str, file: u32, is_optional: bool, problems: &mut Problems) -> Fragment {
    let Some(root) = read_json(text, file, problems) else {
        return Fragment::default();
    };
    if is_optional && root.get("smithy").is_none() {
        return Fragment::default();
    }
    let mut reader = Reader {
        problems,
        ids: HashMap::new(),
        is_version_1: false,
        fragment: Fragment::default(),
    };
    reader.document(root);
    reader.fragment
}

struct Reader<'p> {
    problems: &'p mut Problems,
    ids: HashMap<String, ShapeId>,
    is_version_1: bool,
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
                    Problem::error("ModelVersion", location, "this Smithy version is not known")
                        .expected("\"2.0\""),
                );
                return;
            }
            None => {
                self.problems.push(
                    Problem::error("ModelVersion", location, "this JSON is no Smithy model")
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
                        self.fragment.metadata.extend(metadata.into_entries());
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
                        "MissingProperty",
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
                Problem::error("UnknownShapeType", shape_type.1, message)
                    .expected("a shape type")
                    .maybe_hint(hint),
            );
            return;
        };
        if id.is_member() {
            let message = format!("`{id}` names a member, which is defined within its shape");
            self.problems.push(
                Problem::error("ShapeId", entry.key_location, message).expected("`namespace#Name`"),
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
            // `key` comes first, however the document has it.
            shape.members.sort_by(|left, right| left.id.cmp(&right.id));
        }
        if is_set && !shape.traits.has_unique_items() {
            shape.traits.push(AppliedTrait::new(
                ShapeId::from_static("smithy.api#uniqueItems"),
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
                    Problem::error("MemberName", location, error.to_string())
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
                Problem::error("MissingProperty", value_location, message)
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
                    Problem::error("WrongTarget", target_location, message)
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

    /// The text of an enum's member that says none is its name.
    fn imply_value(member: &ShapeId, location: SourceLocation, traits: &mut Traits) {
        if !traits.has("smithy.api#enumValue") {
            let name = member.member().unwrap_or_default().to_owned();
            let value = Node::new(NodeValue::String(name), location);
            let id = ShapeId::from_static("smithy.api#enumValue");
            traits.push(AppliedTrait::new(id, value, location));
        }
    }

    fn operation_property(&mut self, operation: &mut Operation, key: &str, value: Node) -> bool {
        match key {
            "input" => {
                if let Some(input) = self.reference(value) {
                    operation.input = input;
                }
            }
            "output" => {
                if let Some(output) = self.reference(value) {
                    operation.output = output;
                }
            }
            "errors" => operation.errors = self.references(value),
            _ => return false,
        }
        true
    }

    fn service_property(&mut self, service: &mut Service, key: &str, value: Node) -> bool {
        match key {
            "version" => match value.as_str() {
                Some(version) => service.version = version.to_owned(),
                None => self.wrong_kind(&value, "a string"),
            },
            "operations" => service.operations = self.references(value),
            "resources" => service.resources = self.references(value),
            "errors" => service.errors = self.references(value),
            "rename" => {
                let Some(renames) = self.object(value, "an object of new names") else {
                    return true;
                };
                for Entry {
                    key,
                    key_location,
                    value,
                } in renames.into_entries()
                {
                    let Some(id) = self.id(&key, key_location) else {
                        continue;
                    };
                    match value.as_str() {
                        Some(name) => service
                            .rename
                            .push((ShapeRef::new(id, key_location), name.to_owned())),
                        None => self.wrong_kind(&value, "a string"),
                    }
                }
            }
            _ => return false,
        }
        true
    }

    fn resource_property(&mut self, resource: &mut Resource, key: &str, value: Node) -> bool {
        if let Some((_, lifecycle)) = Lifecycle::ALL.into_iter().find(|(name, _)| *name == key) {
            resource.lifecycle[lifecycle as usize] = self.reference(value);
            return true;
        }
        match key {
            "identifiers" => resource.identifiers = self.named_references(value),
            "properties" => resource.properties = self.named_references(value),
            "operations" => resource.operations = self.references(value),
            "collectionOperations" => resource.collection_operations = self.references(value),
            "resources" => resource.resources = self.references(value),
            _ => return false,
        }
        true
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
            if let Some(id) = self.id(&key, key_location) {
                traits.push(AppliedTrait::new(id, value, key_location));
            }
        }
        traits
    }

    /// `{"target": "namespace#Name"}`
    fn reference(&mut self, node: Node) -> Option<ShapeRef> {
        let location = node.location();
        let object = self.object(node, "an object with the key `target`")?;
        let mut target = None;
        let mut found = false;
        for Entry {
            key,
            key_location,
            value,
        } in object.into_entries()
        {
            if key == "target" {
                found = true;
                target = self
                    .id_of(&value)
                    .map(|id| ShapeRef::new(id, value.location()));
            } else {
                self.unknown_property(&key, key_location, &["target"]);
            }
        }
        if !found {
            self.problems.push(
                Problem::error("MissingProperty", location, "this reference has no target")
                    .expected("an object with the key `target`"),
            );
        }
        target
    }

    fn references(&mut self, node: Node) -> Vec<ShapeRef> {
        match node.into_array() {
            Ok(items) => items
                .into_iter()
                .filter_map(|item| self.reference(item))
                .collect(),
            Err(node) => {
                self.wrong_kind(&node, "an array of references");
                Vec::new()
            }
        }
    }

    fn named_references(&mut self, node: Node) -> Vec<(String, ShapeRef)> {
        let Some(object) = self.object(node, "an object of references") else {
            return Vec::new();
        };
        object
            .into_entries()
            .into_iter()
            .filter_map(|entry| Some((entry.key, self.reference(entry.value)?)))
            .collect()
    }

    fn id_of(&mut self, node: &Node) -> Option<ShapeId> {
        match node.as_str() {
            Some(text) => self.id(text, node.location()),
            None => {
                self.wrong_kind(node, "a string with a shape id");
                None
            }
        }
    }

    fn id(&mut self, text: &str, location: SourceLocation) -> Option<ShapeId> {
        if let Some(id) = self.ids.get(text) {
            return Some(id.clone());
        }
        match ShapeId::parse(text) {
            Ok(id) => {
                self.ids.insert(text.to_owned(), id.clone());
                Some(id)
            }
            Err(error) => {
                self.problems.push(
                    Problem::error("ShapeId", location, error.to_string())
                        .expected("an absolute shape id"),
                );
                None
            }
        }
    }

    fn object(&mut self, node: Node, expected: &str) -> Option<Object> {
        match node.into_object() {
            Ok(object) => Some(object),
            Err(node) => {
                self.wrong_kind(&node, expected);
                None
            }
        }
    }

    #[cold]
    fn wrong_kind(&mut self, node: &Node, expected: &str) {
        let message = format!("{} is not expected here", node.kind());
        self.problems
            .push(Problem::error("WrongNode", node.location(), message).expected(expected));
    }

    #[cold]
    fn unknown_property(&mut self, key: &str, location: SourceLocation, known: &[&str]) {
        self.problems.push(
            Problem::warning(
                "UnknownProperty",
                location,
                format!("`{key}` is not a property here"),
            )
            .expected(format!("one of `{}`", known.join("`, `")))
            .maybe_hint(did_you_mean(key, known.iter().copied())),
        );
    }
}

fn property_names(shape_type: ShapeType) -> &'static [&'static str] {
    match shape_type {
        ShapeType::List => &["type", "traits", "mixins", "member"],
        ShapeType::Map => &["type", "traits", "mixins", "key", "value"],
        ShapeType::Operation => &["type", "traits", "mixins", "input", "output", "errors"],
        ShapeType::Service => &[
            "type",
            "traits",
            "mixins",
            "version",
            "operations",
            "resources",
            "errors",
            "rename",
        ],
        ShapeType::Resource => &[
            "type",
            "traits",
            "mixins",
            "identifiers",
            "properties",
            "create",
            "put",
            "read",
            "update",
            "delete",
            "list",
            "operations",
            "collectionOperations",
            "resources",
        ],
        shape_type if shape_type.has_named_members() => &["type", "traits", "mixins", "members"],
        _ => &["type", "traits", "mixins"],
    }
}

impl Node {
    /// The items, or the node as it was.
    fn into_array(self) -> Result<Vec<Self>, Self> {
        let location = self.location();
        match self.into_value() {
            NodeValue::Array(items) => Ok(items),
            other => Err(Self::new(other, location)),
        }
    }

    /// The entries, or the node as it was.
    pub(crate) fn into_object(self) -> Result<Object, Self> {
        let location = self.location();
        match self.into_value() {
            NodeValue::Object(object) => Ok(object),
            other => Err(Self::new(other, location)),
        }
    }
}
