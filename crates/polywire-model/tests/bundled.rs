//! Compares the bundled definitions with those of Smithy, shape by shape and trait by trait.
//!
//! The text is not the same: the bundled files have no documentation of Smithy's, whose licence
//! is Apache-2.0 alone. Everything else is compared:
//!
//! - with the prelude and the traits in Smithy's own packages, both ways. `tests/fetch-definitions`
//!   fetches them;
//! - with the definitions in the JSON ASTs that Smithy's own tool made of the official suites.
//!   They have the traits that the suites use, and not the prelude;
//! - with those of another AST, if `POLYWIRE_DEFINITIONS` names one.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it counts"
)]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use polywire_model::{Loader, Node, NodeValue, Object, Shape, Traits};
use test_data::{Missing, data, suite_ast};

test_data::tests! {
    definitions_of_the_official_suites,
    definitions_of_other_models,
    prelude_of_the_specification,
    traits_of_smithys_packages,
}

/// Known differences: the start of the message, and the reason. They must exist, so that the
/// list does not outlive them.
const KNOWN_DIFFERENCES: [(&str, &str); 0] = [];

/// Known differences from Smithy's packages.
const PACKAGE_DIFFERENCES: [(&str, &str); 0] = [];

/// The namespaces of the packages, without that of the prelude. The packages of the other bundled
/// namespaces (`aws.apigateway`, `smithy.contracts`, `smithy.framework`, `smithy.mqtt`) were not
/// available when the others were pinned.
const PACKAGE_NAMESPACES: [&str; 12] = [
    "aws.api",
    "aws.auth",
    "aws.cloudformation",
    "aws.customizations",
    "aws.endpoints",
    "aws.iam",
    "aws.protocols",
    "smithy.openapi",
    "smithy.protocols",
    "smithy.rules",
    "smithy.test",
    "smithy.waiters",
];

/// The sentences in traits. The bundled files have sentences of their own, or none.
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

/// The prelude, from the package of Smithy's model loader.
fn prelude_of_the_specification() -> Result<(), Missing> {
    let is_prelude = |name: &str| name.starts_with("smithy-model-");
    let file = packages()?.into_iter().find(|(name, _)| is_prelude(name));
    let archive = fs::read(file.unwrap().1).unwrap();
    let text = entry(
        &archive,
        "software/amazon/smithy/model/loader/prelude.smithy",
    );
    let mut loader = Loader::new();
    loader.add_text("prelude.smithy", text);
    compare_both_ways(&mut loader, &["smithy.api"], 141);
    Ok(())
}

/// All other definitions that Smithy's packages have.
fn traits_of_smithys_packages() -> Result<(), Missing> {
    if !cfg!(feature = "jar") {
        return Err(Missing::part(
            "the packages are JARs, and the feature `jar` is off".to_owned(),
        ));
    }
    let mut loader = Loader::new();
    for (_, file) in packages()? {
        loader.add_path(file);
    }
    compare_both_ways(&mut loader, &PACKAGE_NAMESPACES, 171);
    Ok(())
}

/// The names and paths of Smithy's packages of definitions.
fn packages() -> Result<Vec<(String, PathBuf)>, Missing> {
    let named = env::var_os("POLYWIRE_DEFINITION_PACKAGES").map(PathBuf::from);
    let cache = || {
        let folder = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        folder
            .or_else(home)
            .unwrap_or_default()
            .join("polywire/smithy-definitions")
    };
    let is_named = named.is_some();
    let folder = named.unwrap_or_else(cache);
    if !folder.is_dir() {
        let shown = folder.display();
        assert!(
            !is_named,
            "{shown} does not exist, though POLYWIRE_DEFINITION_PACKAGES names it"
        );
        return Err(Missing::part(format!(
            "{shown} does not exist (run tests/fetch-definitions)"
        )));
    }
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    Ok(files.filter(|(name, _)| name.ends_with(".jar")).collect())
}

/// The text of an entry of a ZIP archive.
fn entry(archive: &[u8], name: &str) -> String {
    let archive = rawzip::ZipArchive::from_slice(archive).unwrap();
    let mut found = None;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().unwrap() {
        if entry.file_path().as_ref() == name.as_bytes() {
            found = Some(entry.wayfinder());
        }
    }
    let entry = archive.get_entry(found.unwrap()).unwrap();
    let bytes = miniz_oxide::inflate::decompress_to_vec(entry.data()).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The bundled files and another model define the same shapes in some namespaces.
fn compare_both_ways(theirs: &mut Loader, namespaces: &[&str], expected: usize) {
    let theirs = theirs
        .assemble()
        .unwrap_or_else(|error| panic!("{error}"))
        .model;
    let mut files = Loader::new();
    files.add_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bundled"));
    let ours = files
        .assemble()
        .unwrap_or_else(|error| panic!("{error}"))
        .model;
    let is_compared = |shape: &&Shape| namespaces.contains(&shape.id().namespace());
    let mut differences = Vec::new();
    let mut count = 0;
    for shape in theirs.shapes().filter(is_compared) {
        count += 1;
        match ours.get(shape.id()) {
            Some(bundled) => compare_shapes(bundled, shape, &mut differences),
            None => differences.push(format!("{}: not bundled", shape.id())),
        }
    }
    for shape in ours.shapes().filter(is_compared) {
        if theirs.is_bundled(shape.id()) {
            differences.push(format!("{}: not in the specification", shape.id()));
        }
    }
    let of_these = |(known, _): &&(&str, &str)| {
        namespaces.iter().any(|namespace| {
            known
                .strip_prefix(namespace)
                .is_some_and(|rest| rest.starts_with('#'))
        })
    };
    remove_known(
        PACKAGE_DIFFERENCES.iter().filter(of_these),
        &mut differences,
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(count, expected, "the number of definitions");
    println!("{namespaces:?}: {count} definitions are equal");
}

fn remove_known<'k>(
    known: impl Iterator<Item = &'k (&'k str, &'k str)>,
    differences: &mut Vec<String>,
) {
    for (start, _) in known {
        let matches = |difference: &String| difference.starts_with(start);
        assert!(
            differences.iter().any(matches),
            "{start} is not a difference any more"
        );
        differences.retain(|difference| !matches(difference));
    }
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
    remove_known(KNOWN_DIFFERENCES.iter(), &mut differences);
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
