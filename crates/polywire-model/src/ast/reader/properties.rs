//! The properties of services, resources and operations.

use super::Reader;
use crate::node::{Entry, Node};
use crate::shape::{Lifecycle, Operation, Resource, Service, ShapeRef, ShapeType};

impl Reader<'_> {
    pub(super) fn operation_property(
        &mut self,
        operation: &mut Operation,
        key: &str,
        value: Node,
    ) -> bool {
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

    pub(super) fn service_property(
        &mut self,
        service: &mut Service,
        key: &str,
        value: Node,
    ) -> bool {
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

    pub(super) fn resource_property(
        &mut self,
        resource: &mut Resource,
        key: &str,
        value: Node,
    ) -> bool {
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
}

pub(super) fn property_names(shape_type: ShapeType) -> &'static [&'static str] {
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
