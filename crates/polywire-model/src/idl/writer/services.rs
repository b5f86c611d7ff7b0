//! Writes services, resources and operations, with properties in the order of the specification.

use super::Writer;
use super::text::quote;
use super::traits::own;
use crate::ids;
use crate::shape::{Body, Lifecycle, Operation, Resource, Service, Shape, ShapeRef, UNIT};

impl<'m> Writer<'m> {
    pub(super) fn service(&mut self, shape: &'m Shape, flattened: &'m Service) {
        let service = match shape.own_body() {
            Body::Service(service) => service,
            _ => flattened,
        };
        let start = self.open();
        if !service.version().is_empty() {
            self.line(1);
            self.out.push_str("version: ");
            quote(&mut self.out, service.version());
        }
        self.references("operations", service.operations());
        self.references("resources", service.resources());
        self.references("errors", service.errors());
        if !service.rename().is_empty() {
            self.line(1);
            self.out.push_str("rename: {");
            for (id, name) in service.rename() {
                self.line(2);
                quote(&mut self.out, id.as_str());
                self.out.push_str(": ");
                quote(&mut self.out, name);
            }
            self.line(1);
            self.out.push('}');
        }
        self.close(start);
    }

    pub(super) fn resource(&mut self, shape: &'m Shape, flattened: &'m Resource) {
        let resource = match shape.own_body() {
            Body::Resource(resource) => resource,
            _ => flattened,
        };
        let start = self.open();
        self.named_references("identifiers", resource.identifiers());
        self.named_references("properties", resource.properties());
        for (name, lifecycle) in Lifecycle::ALL {
            if let Some(operation) = resource.lifecycle(lifecycle) {
                self.property(name, operation);
            }
        }
        self.references("operations", resource.operations());
        self.references("collectionOperations", resource.collection_operations());
        self.references("resources", resource.resources());
        self.close(start);
    }

    pub(super) fn operation(&mut self, shape: &'m Shape, flattened: &'m Operation) {
        let operation = match shape.own_body() {
            Body::Operation(operation) => operation,
            _ => flattened,
        };
        let start = self.open();
        let mut ends = Vec::new();
        let mut is_on_pool = false;
        for (name, marker, target) in [
            ("input", ids::INPUT, operation.input()),
            ("output", ids::OUTPUT, operation.output()),
        ] {
            if *target.id() == UNIT {
                continue;
            }
            ends.push(self.out.len());
            match self.model.defined(target) {
                Some(structure) if self.plan.is_inline(target) => {
                    is_on_pool |= self.inline(name, structure, marker);
                }
                _ => self.property(name, target),
            }
        }
        ends.push(self.out.len());
        self.references("errors", operation.errors());
        // Long properties are separated by empty lines.
        for at in ends.into_iter().skip(1).rev() {
            if is_on_pool && at < self.out.len() {
                self.out.insert(at, '\n');
            }
        }
        self.close(start);
    }

    /// Writes `input := {}`. Returns whether it has documentation or traits.
    fn inline(&mut self, name: &str, structure: &'m Shape, marker: &str) -> bool {
        let traits = own(structure.traits(), &[marker]);
        let lines = self.lines(structure);
        self.line(1);
        self.out.push_str(name);
        self.out.push_str(" :=");
        if traits.is_empty() {
            self.head(structure, &lines, 1);
            self.members(&lines, 1);
            return lines.have_traits();
        }
        self.line(2);
        self.traits_before(&traits, 2);
        let at = self.out.len();
        self.head(structure, &lines, 2);
        self.members(&lines, 2);
        // Removes the space that would be after a name, because this is the start of a line.
        self.out.remove(at);
        true
    }

    /// Writes the brace before properties, and returns the offset after it.
    fn open(&mut self) -> usize {
        self.out.push_str(" {");
        self.out.len()
    }

    fn close(&mut self, start: usize) {
        if self.out.len() > start {
            self.line(0);
        }
        self.out.push('}');
    }

    fn property(&mut self, name: &str, target: &'m ShapeRef) {
        self.line(1);
        self.out.push_str(name);
        self.out.push_str(": ");
        let id = self.names.spell(target.as_str());
        self.out.push_str(id);
    }

    fn references(&mut self, name: &str, targets: &'m [ShapeRef]) {
        if targets.is_empty() {
            return;
        }
        self.line(1);
        self.out.push_str(name);
        self.out.push_str(": [");
        for target in targets {
            self.line(2);
            let id = self.names.spell(target.as_str());
            self.out.push_str(id);
        }
        self.line(1);
        self.out.push(']');
    }

    fn named_references(&mut self, name: &str, targets: &'m [(String, ShapeRef)]) {
        if targets.is_empty() {
            return;
        }
        self.line(1);
        self.out.push_str(name);
        self.out.push_str(": {");
        for (key, target) in targets {
            self.line(2);
            self.key(key);
            self.out.push_str(": ");
            let id = self.names.spell(target.as_str());
            self.out.push_str(id);
        }
        self.line(1);
        self.out.push('}');
    }
}
