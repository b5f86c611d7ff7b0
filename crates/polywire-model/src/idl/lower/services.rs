//! The properties of services and resources.

use super::Lowering;
use crate::diagnostic::Problem;
use crate::idl::syntax::{Name, Value, ValueKind};
use crate::rules;
use crate::shape::{Lifecycle, Resource, Service, ShapeRef};
use crate::spelling::did_you_mean;

impl Lowering<'_> {
    pub(super) fn service(&mut self, service: &mut Service, properties: Vec<(Name, Value)>) {
        const KNOWN: [&str; 5] = ["version", "operations", "resources", "errors", "rename"];
        for (key, value) in properties {
            match key.text.as_str() {
                "version" => match value.kind {
                    ValueKind::String(version) => service.version = version,
                    _ => self.wrong_value(&value, "a string"),
                },
                "operations" => service.operations = self.value_references(value),
                "resources" => service.resources = self.value_references(value),
                "errors" => service.errors = self.value_references(value),
                "rename" => {
                    let ValueKind::Object(entries) = value.kind else {
                        self.wrong_value(&value, "an object of shape ids and new names");
                        continue;
                    };
                    for (id, name) in self.distinct(entries) {
                        match (self.reference(&id), name.kind) {
                            (Some(id), ValueKind::String(name)) => service.rename.push((id, name)),
                            (_, kind) => {
                                let name = Value {
                                    kind,
                                    location: name.location,
                                };
                                self.wrong_value(&name, "a string");
                            }
                        }
                    }
                }
                _ => self.unknown_property(&key, "service", &KNOWN),
            }
        }
    }

    pub(super) fn resource(&mut self, resource: &mut Resource, properties: Vec<(Name, Value)>) {
        const KNOWN: [&str; 11] = [
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
        ];
        for (key, value) in properties {
            let lifecycle = Lifecycle::ALL
                .into_iter()
                .find(|(name, _)| *name == key.text);
            if let Some((_, lifecycle)) = lifecycle {
                resource.lifecycle[lifecycle as usize] = self.value_reference(&value);
                continue;
            }
            match key.text.as_str() {
                "identifiers" => resource.identifiers = self.named_references(value),
                "properties" => resource.properties = self.named_references(value),
                "operations" => resource.operations = self.value_references(value),
                "collectionOperations" => {
                    resource.collection_operations = self.value_references(value);
                }
                "resources" => resource.resources = self.value_references(value),
                _ => self.unknown_property(&key, "resource", &KNOWN),
            }
        }
    }

    pub(super) fn value_references(&mut self, value: Value) -> Vec<ShapeRef> {
        match value.kind {
            ValueKind::Array(items) => items
                .iter()
                .filter_map(|item| self.value_reference(item))
                .collect(),
            _ => {
                self.wrong_value(&value, "an array of shape ids");
                Vec::new()
            }
        }
    }

    pub(super) fn named_references(&mut self, value: Value) -> Vec<(String, ShapeRef)> {
        let ValueKind::Object(entries) = value.kind else {
            self.wrong_value(&value, "an object of names and shape ids");
            return Vec::new();
        };
        self.distinct(entries)
            .into_iter()
            .filter_map(|(name, value)| Some((name.text, self.value_reference(&value)?)))
            .collect()
    }

    pub(super) fn value_reference(&mut self, value: &Value) -> Option<ShapeRef> {
        match &value.kind {
            ValueKind::ShapeId(text) | ValueKind::String(text) => Some(ShapeRef::new(
                self.resolve(text, value.location)?,
                value.location,
            )),
            _ => {
                self.wrong_value(value, "a shape id");
                None
            }
        }
    }

    #[cold]
    pub(super) fn unknown_property(&mut self, key: &Name, what: &str, known: &[&str]) {
        self.problems.push(
            Problem::warning(
                rules::UNKNOWN_PROPERTY,
                key.location,
                format!("a {what} has no property `{}`", key.text),
            )
            .expected(format!("one of `{}`", known.join("`, `")))
            .maybe_hint(did_you_mean(&key.text, known.iter().copied())),
        );
    }
}
