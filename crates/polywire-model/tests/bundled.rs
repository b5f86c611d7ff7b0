//! The definitions that come with the crate against those that Smithy's own tool
//! wrote into the ASTs of the official suites, shape by shape and trait by trait.
//!
//! Those files hold the traits of AWS and of the protocols, not the prelude. With
//! `POLYWIRE_DEFINITIONS` set to another AST, the definitions in that one are
//! compared too: Smithy's `ModelSerializer` writes one with everything when it is
//! told to include the prelude.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it counts"
)]

use std::collections::BTreeMap;
use std::env;
use std::path::Path;

use polywire_model::{Loader, Node, NodeValue, Object, Shape, Traits};
use test_data::{Missing, data, suite_ast};

test_data::tests! {
    definitions_of_the_official_suites,
    definitions_of_other_models,
}

/// Differences that are known, each with its reason. None at present.
const KNOWN_DIFFERENCES: [(&str, &str); 0] = [];

/// What traits say in sentences. Ours are our own, or left out.
const PROSE: [(&str, &[&str]); 5] = [
    ("smithy.api#deprecated", &["message"]),
    ("smithy.api#idRef", &["errorMessage"]),
    ("smithy.api#recommended", &["reason"]),
    ("smithy.api#trait", &["message"]),
    ("smithy.api#traitValidators", &["message"]),
];

/// Namespaces whose definitions have to be known, when an AST holds them.
const NAMESPACES: [&str; 15] = [
    "aws.api",
    "aws.apigateway",
    "aws.auth",
    "aws.cloudformation",
    "aws.customizations",
    "aws.endpoints",
    "aws.iam",
    "aws.protocols",
    "aws.test",
    "smithy.api",
    "smithy.framework",
    "smithy.protocols",
    "smithy.rules",
    "smithy.test",
    "smithy.waiters",
];

fn definitions_of_the_official_suites() -> Result<(), Missing> {
    for name in ["aws", "smithy"] {
        compare(&suite_ast(name)?);
    }
    Ok(())
}

fn definitions_of_other_models() -> Result<(), Missing> {
    if let Some(file) = env::var_os("POLYWIRE_DEFINITIONS") {
        compare(Path::new(&file));
    }
    compare(&data("bench/smithy/model.json")?);
    Ok(())
}

/// The bundled definitions are those of a file.
fn compare(file: &Path) {
    let ours = Loader::new().assemble().unwrap().model;
    let theirs = Loader::new().add_file(file).assemble().unwrap().model;
    let definitions = |shape: &&Shape| {
        NAMESPACES.contains(&shape.id().namespace()) || ours.is_bundled(shape.id())
    };
    let mut differences = Vec::new();
    let mut count = 0;
    for shape in theirs.shapes().filter(definitions) {
        count += 1;
        match ours.get(shape.id()) {
            Some(bundled) => compare_shapes(bundled, shape, &mut differences),
            None => differences.push(format!("{}: not bundled", shape.id())),
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
        file.display(),
        differences.join("\n")
    );
    assert!(count > 100, "{} holds {count} definitions", file.display());
    println!("{}: {count} definitions are equal", file.display());
}

fn compare_shapes(ours: &Shape, theirs: &Shape, differences: &mut Vec<String>) {
    let outline = |shape: &Shape| {
        let members: Vec<(&str, &str)> = shape
            .members()
            .iter()
            .map(|member| (member.name(), member.target().as_str()))
            .collect();
        let mixins: Vec<&str> = shape.mixins().iter().map(|mixin| mixin.as_str()).collect();
        format!("{} {members:?} {mixins:?}", shape.shape_type())
    };
    let (left, right) = (outline(ours), outline(theirs));
    if left != right {
        differences.push(format!(
            "{}\n    ours   {left}\n    theirs {right}",
            ours.id()
        ));
        return;
    }
    compare_traits(ours.id(), ours.traits(), theirs.traits(), differences);
    for (member, other) in ours.members().iter().zip(theirs.members()) {
        compare_traits(member.id(), member.traits(), other.traits(), differences);
    }
}

fn compare_traits(owner: &str, ours: &Traits, theirs: &Traits, differences: &mut Vec<String>) {
    let (ours, theirs) = (facts(ours), facts(theirs));
    for (id, value) in &ours {
        match theirs.get(id) {
            Some(other) if other == value => {}
            Some(other) => differences.push(format!(
                "{owner} @{id}\n    ours   {}\n    theirs {}",
                value.to_json(),
                other.to_json()
            )),
            None => differences.push(format!("{owner} @{id}: not in the AST")),
        }
    }
    for id in theirs.keys().filter(|id| !ours.contains_key(*id)) {
        differences.push(format!("{owner} @{id}: not bundled"));
    }
}

/// The traits without documentation and other sentences.
fn facts(traits: &Traits) -> BTreeMap<&str, Node> {
    traits
        .iter()
        .filter(|applied| {
            applied.id() != "smithy.api#documentation"
                && applied.id() != "smithy.api#externalDocumentation"
        })
        .map(|applied| {
            let prose = PROSE.iter().find(|(id, _)| *id == applied.id().as_str());
            let value = match prose {
                Some((_, keys)) => without(applied.value(), keys),
                None => applied.value().clone(),
            };
            (applied.id().as_str(), value)
        })
        .collect()
}

fn without(node: &Node, keys: &[&str]) -> Node {
    match node.value() {
        NodeValue::Array(items) => {
            let items: Vec<Node> = items.iter().map(|item| without(item, keys)).collect();
            items.into()
        }
        NodeValue::Object(object) => {
            let mut kept = Object::new();
            for (key, value) in object.iter().filter(|(key, _)| !keys.contains(key)) {
                kept.insert(key, without(value, keys));
            }
            kept.into()
        }
        _ => node.clone(),
    }
}
