//! The IDL of the official protocol suites against the AST that Smithy's own
//! tool makes of it, shape by shape and trait by trait; and every other real
//! model at hand must load.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it counts"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use polywire_model::{Loader, Model, Node, Object, Severity, Shape, ast};
use test_data::{Missing, data, suite, suite_ast};

test_data::tests! {
    aws_suite_survives_a_round_trip,
    aws_suite_equals_its_ast,
    smithy_suite_survives_a_round_trip,
    smithy_suite_equals_its_ast,
    benchmark_idl_equals_its_ast,
    service_models_load_and_survive_a_round_trip,
}

/// Differences that are known, each with its reason. None at present.
const KNOWN_DIFFERENCES: [(&str, &str); 0] = [];

/// What Smithy's own tool warns of in these models too, unless the files suppress
/// it.
const KNOWN_WARNINGS: [&str; 10] = [
    // Lambda.
    "DefaultValueInUpdate",
    // Lambda and SQS name shapes that they have deprecated.
    "DeprecatedShape",
    // The benchmark has services of deprecated protocols.
    "DeprecatedTrait",
    // Constants such as `Create_Pending`.
    "EnumShape",
    // The suites test @enum, too.
    "ModelDeprecation",
    // Lambda's `Invoke` takes an `InvocationRequest`.
    "OperationInputOutputName.input",
    // And gives an `InvocationResponse`; SNS has one such name, too.
    "OperationInputOutputName.output",
    // Patterns such as `.*\\S.*`.
    "PatternTrait",
    // The suites use traits of tests that may change.
    "UnstableTrait",
    // The suites test names that have no effect.
    "XmlFlattenedTrait",
];

fn aws_suite_survives_a_round_trip() -> Result<(), Missing> {
    round_trip(&load(&suite("aws")?));
    Ok(())
}

fn aws_suite_equals_its_ast() -> Result<(), Missing> {
    compare("aws")
}

fn smithy_suite_survives_a_round_trip() -> Result<(), Missing> {
    round_trip(&load(&suite("smithy")?));
    Ok(())
}

fn smithy_suite_equals_its_ast() -> Result<(), Missing> {
    compare("smithy")
}

fn benchmark_idl_equals_its_ast() -> Result<(), Missing> {
    let (idl, ast) = (data("bench/smithy/idl")?, data("bench/smithy/model.json")?);
    compare_models(&load(&idl), &ast);
    rewrite(&ast);
    Ok(())
}

fn service_models_load_and_survive_a_round_trip() -> Result<(), Missing> {
    let mut count = 0;
    for entry in std::fs::read_dir(data("models")?).unwrap() {
        let path = entry.unwrap().path();
        let model = load(&path);
        assert_eq!(model.services().count(), 1, "{}", path.display());
        let service = model.services().next().unwrap();
        assert!(!model.closure(service.id()).unwrap().operations().is_empty());
        round_trip(&model);
        rewrite(&path);
        count += 1;
    }
    assert!(count > 0);
    println!("{count} service models");
    Ok(())
}

fn compare(name: &str) -> Result<(), Missing> {
    let (idl, ast) = (suite(name)?, suite_ast(name)?);
    compare_models(&load(&idl), &ast);
    rewrite(&ast);
    Ok(())
}

fn load(path: &Path) -> Model {
    let mut loader = Loader::new();
    if path.is_dir() {
        loader.add_dir(path)
    } else {
        loader.add_file(path)
    };
    let assembled = loader.assemble().unwrap_or_else(|error| panic!("{error}"));
    // Notes ask for nothing.
    let unknown = assembled.warnings.iter();
    let unknown = unknown.filter(|warning| warning.severity >= Severity::Warning);
    let unknown = unknown.filter(|warning| !is_known(&warning.code));
    let unknown: Vec<String> = unknown.map(ToString::to_string).collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n\n"));
    assembled.model
}

/// Codes may go on with the id of what the finding is about.
fn is_known(code: &str) -> bool {
    KNOWN_WARNINGS.iter().any(|known| {
        let rest = code.strip_prefix(known);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The AST that we write of the IDL is the AST that Smithy's tool wrote of it.
/// The tool's also holds the definitions of traits, which for the IDL are in
/// other packages: every shape of the IDL's own namespaces is compared.
fn compare_models(idl: &Model, ast_file: &Path) {
    let ours = ast::write(idl);
    let theirs = Node::parse_json(&std::fs::read_to_string(ast_file).unwrap()).unwrap();
    let (ours, theirs) = (Document::of(&ours), Document::of(&theirs));
    let mut differences = Vec::new();
    let own_namespace: BTreeSet<&str> = ours.shapes.keys().map(|id| namespace(id)).collect();
    for (id, shape) in &ours.shapes {
        match theirs.shapes.get(id) {
            Some(other) => compare_nodes(id, shape, other, &mut differences),
            None => differences.push(format!("{id}: not in the AST")),
        }
    }
    for id in theirs
        .shapes
        .keys()
        .filter(|id| own_namespace.contains(namespace(id)))
    {
        if !ours.shapes.contains_key(id) {
            differences.push(format!("{id}: not in the IDL"));
        }
    }
    // Files of other packages add to the metadata, and the order of files differs.
    for (key, value) in ours.metadata {
        let others = theirs
            .metadata
            .get(key)
            .and_then(|node| node.as_array())
            .unwrap_or_default();
        for item in value.as_array().unwrap_or_default() {
            if !others.contains(item) {
                differences.push(format!(
                    "metadata {key}: {} is not in the AST",
                    item.to_json()
                ));
            }
        }
    }
    for (known, _) in KNOWN_DIFFERENCES {
        let matches = |difference: &String| difference.starts_with(known);
        assert!(
            differences.iter().any(matches),
            "{known} is no difference any more"
        );
        differences.retain(|difference| !matches(difference));
    }
    assert!(
        differences.is_empty(),
        "{}\n{}",
        differences.len(),
        differences.join("\n")
    );
    println!("{} shapes are equal", ours.shapes.len());
}

struct Document<'n> {
    shapes: BTreeMap<&'n str, &'n Node>,
    metadata: BTreeMap<&'n str, &'n Node>,
}

impl<'n> Document<'n> {
    fn of(root: &'n Node) -> Self {
        let entries = |key| {
            root.get(key)
                .and_then(Node::as_object)
                .unwrap()
                .iter()
                .collect()
        };
        Self {
            shapes: entries("shapes"),
            metadata: entries("metadata"),
        }
    }
}

fn namespace(id: &str) -> &str {
    id.split('#').next().unwrap()
}

/// Compares property by property, so that a difference names its place. The
/// order of members counts, that of other properties does not.
fn compare_nodes(place: &str, ours: &Node, theirs: &Node, differences: &mut Vec<String>) {
    let (Some(left), Some(right)) = (ours.as_object(), theirs.as_object()) else {
        if ours != theirs {
            let cut = |node: &Node| node.to_json().chars().take(500).collect::<String>();
            differences.push(format!(
                "{place}\n    idl {}\n    ast {}",
                cut(ours),
                cut(theirs)
            ));
        }
        return;
    };
    if place.ends_with(" members") {
        let names = |object: &Object| object.iter().map(|(k, _)| k.to_owned()).collect::<Vec<_>>();
        let (left, right) = (names(left), names(right));
        if left != right {
            differences.push(format!("{place}\n    idl {left:?}\n    ast {right:?}"));
        }
    }
    for (key, value) in left.iter() {
        match right.get(key) {
            Some(other) => compare_nodes(&format!("{place} {key}"), value, other, differences),
            None => differences.push(format!("{place} {key}: not in the AST")),
        }
    }
    for (key, _) in right.iter().filter(|(key, _)| left.get(key).is_none()) {
        differences.push(format!("{place} {key}: not in the IDL"));
    }
}

/// What is written as AST is read as the same model, and written as the same
/// text again.
fn round_trip(model: &Model) {
    let text = ast::write(model).to_json_pretty();
    let mut loader = Loader::new();
    loader.add_text("again.json", text.as_str());
    let again = loader
        .assemble()
        .unwrap_or_else(|error| panic!("{error}"))
        .model;
    assert_eq!(model.len(), again.len());
    for (shape, other) in model.shapes().zip(again.shapes()) {
        let names = |shape: &Shape| -> Vec<String> {
            shape
                .members()
                .iter()
                .map(|member| format!("{:?}", member.id()))
                .collect()
        };
        assert_eq!(names(shape), names(other));
        assert_eq!(shape.traits(), other.traits(), "{}", shape.id());
        for (member, other) in shape.members().iter().zip(other.members()) {
            assert_eq!(member, other);
        }
    }
    assert!(text == ast::write(&again).to_json_pretty());
}

/// What Smithy's tool wrote is what we write of it, but for the order of keys.
fn rewrite(ast_file: &Path) {
    let theirs = Node::parse_json(&std::fs::read_to_string(ast_file).unwrap()).unwrap();
    let ours = ast::write(&load(ast_file));
    let mut differences = Vec::new();
    compare_nodes("", &ours, &theirs, &mut differences);
    assert!(
        differences.is_empty(),
        "{}\n{}",
        ast_file.display(),
        differences.join("\n")
    );
}
