//! The bundled definitions: the prelude of Smithy, and the traits of protocols, of AWS, of the
//! official test suites and of Polywire.
//!
//! They are Smithy files, which are parsed when the first model is assembled. If a model defines
//! such a shape itself, as the output of other tools does, its own definition is used.

use std::sync::{Arc, OnceLock};

use crate::assemble::assemble;
use crate::diagnostic::Problems;
use crate::idl;
use crate::shape_table::ShapeTable;
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

/// The bundled definitions, which are read at the first call.
pub(crate) fn bundled() -> &'static ShapeTable {
    static BUNDLED: OnceLock<ShapeTable> = OnceLock::new();
    BUNDLED.get_or_init(|| load().0)
}

fn load() -> (ShapeTable, Problems, Sources) {
    let mut sources = Sources::default();
    let mut problems = Problems::default();
    let mut files = Vec::new();
    for (name, text) in FILES {
        let file = sources.add(name, Arc::from(text));
        files.push(idl::parse(text, file, &mut problems));
    }
    let fragments = idl::lower(files, &[], None, &mut problems);
    let (mut shapes, index, _) = assemble(fragments, None, &mut problems);
    // The files are not those of the user: locations in them have no meaning outside.
    for shape in &mut shapes {
        shape.forget_locations();
    }
    (ShapeTable::new(shapes, index), problems, sources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::ShapeType;

    #[test]
    fn the_bundled_files_have_no_flaw() {
        let (bundled, problems, sources) = load();
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
