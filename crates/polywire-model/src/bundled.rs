//! The definitions that come with the crate: Smithy's prelude, and the traits
//! of the protocols, of AWS, of the official test suites and of Polywire.
//!
//! They are Smithy files like any other, read by the same parser when the first
//! model is assembled. A model that holds such a definition itself, as dumps of
//! other tools do, keeps its own.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use polywire_schema::ShapeId;

use crate::assemble::assemble;
use crate::diagnostic::Problems;
use crate::idl;
use crate::shape::Shape;
use crate::source::Sources;

const FILES: [(&str, &str); 19] = [
    ("aws.api.smithy", include_str!("bundled/aws.api.smithy")),
    (
        "aws.apigateway.smithy",
        include_str!("bundled/aws.apigateway.smithy"),
    ),
    ("aws.auth.smithy", include_str!("bundled/aws.auth.smithy")),
    (
        "aws.cloudformation.smithy",
        include_str!("bundled/aws.cloudformation.smithy"),
    ),
    (
        "aws.customizations.smithy",
        include_str!("bundled/aws.customizations.smithy"),
    ),
    (
        "aws.endpoints.smithy",
        include_str!("bundled/aws.endpoints.smithy"),
    ),
    ("aws.iam.smithy", include_str!("bundled/aws.iam.smithy")),
    (
        "aws.protocols.smithy",
        include_str!("bundled/aws.protocols.smithy"),
    ),
    ("aws.test.smithy", include_str!("bundled/aws.test.smithy")),
    ("polywire.smithy", include_str!("../smithy/polywire.smithy")),
    (
        "smithy.api.smithy",
        include_str!("bundled/smithy.api.smithy"),
    ),
    (
        "smithy.contracts.smithy",
        include_str!("bundled/smithy.contracts.smithy"),
    ),
    (
        "smithy.framework.smithy",
        include_str!("bundled/smithy.framework.smithy"),
    ),
    (
        "smithy.mqtt.smithy",
        include_str!("bundled/smithy.mqtt.smithy"),
    ),
    (
        "smithy.openapi.smithy",
        include_str!("bundled/smithy.openapi.smithy"),
    ),
    (
        "smithy.protocols.smithy",
        include_str!("bundled/smithy.protocols.smithy"),
    ),
    (
        "smithy.rules.smithy",
        include_str!("bundled/smithy.rules.smithy"),
    ),
    (
        "smithy.test.smithy",
        include_str!("bundled/smithy.test.smithy"),
    ),
    (
        "smithy.waiters.smithy",
        include_str!("bundled/smithy.waiters.smithy"),
    ),
];

pub(crate) struct Bundled {
    shapes: Vec<Shape>,
    index: HashMap<ShapeId, u32>,
}

impl Bundled {
    /// The bundled definitions, made at the first call.
    pub(crate) fn get() -> &'static Self {
        static BUNDLED: OnceLock<Bundled> = OnceLock::new();
        BUNDLED.get_or_init(|| Self::load().0)
    }

    fn load() -> (Self, Problems, Sources) {
        let mut sources = Sources::default();
        let mut problems = Problems::default();
        let mut files = Vec::new();
        for (name, text) in FILES {
            let file = sources.add(name, Arc::from(text));
            files.push(idl::parse(text, file, &mut problems));
        }
        let fragments = idl::lower(files, &[], None, &mut problems);
        let (mut shapes, index, _) = assemble(fragments, None, &mut problems);
        // No file of the user's holds them: their places mean nothing outside.
        for shape in &mut shapes {
            shape.forget_locations();
        }
        (Self { shapes, index }, problems, sources)
    }

    pub(crate) fn shape(&self, id: &str) -> Option<&Shape> {
        self.index.get(id).map(|&at| &self.shapes[at as usize])
    }

    /// The place of a shape in [`shapes`](Self::shapes).
    pub(crate) fn place(&self, id: &str) -> Option<u32> {
        self.index.get(id).copied()
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Whether a namespace is one of those that are bundled.
    pub(crate) fn has_namespace(&self, namespace: &str) -> bool {
        // Sorted by id, so by namespace: the shapes of one stand together.
        let at = self
            .shapes
            .partition_point(|shape| shape.id().namespace() < namespace);
        self.shapes
            .get(at)
            .is_some_and(|shape| shape.id().namespace() == namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::ShapeType;

    #[test]
    fn the_bundled_files_have_no_flaw() {
        let (bundled, problems, sources) = Bundled::load();
        let diagnostics = problems.into_diagnostics(&sources);
        let text: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        assert!(text.is_empty(), "{}", text.join("\n"));
        for shape in bundled.shapes() {
            for (_, reference) in crate::model::neighbors(shape) {
                assert!(
                    bundled.shape(reference).is_some(),
                    "{} -> {reference:?}",
                    shape.id()
                );
            }
            let members = shape
                .members()
                .iter()
                .flat_map(|member| member.traits().iter());
            for applied in shape.traits().iter().chain(members) {
                let definition = bundled.shape(applied.id());
                assert!(definition.is_some(), "{} @{}", shape.id(), applied.id());
            }
        }
        assert_eq!(
            bundled.shape("smithy.api#String").unwrap().shape_type(),
            ShapeType::String
        );
        assert!(bundled.has_namespace("aws.protocols"));
        assert!(!bundled.has_namespace("aws"));
    }
}
