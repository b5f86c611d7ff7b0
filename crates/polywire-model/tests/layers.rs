//! The modules of the crate form layers: each uses only modules of lower layers. So there are no
//! cycles, and each part can be read without those above it.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up. Modules in one layer may use each other.
const LAYERS: &[&[&str]] = &[
    &["severity"],
    &["spelling"],
    &["ids"],
    &["uri"],
    &["source"],
    &["node"],
    &["rules"],
    &["diagnostic"],
    &["json"],
    &["shape", "traits"],
    &["shape_table"],
    &["fragment"],
    &["version"],
    &["upgrade"],
    &["closure", "flatten", "model", "uses"],
    &["schemas", "selector"],
    &["ast", "idl"],
    &["assemble"],
    &["bundled"],
    &["validate"],
    &["loader"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn modules_use_only_lower_layers() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for file in files(&source) {
        let path = file.strip_prefix(&source).unwrap().with_extension("");
        let module = path.iter().next().unwrap().to_str().unwrap();
        if module == "lib" {
            continue;
        }
        seen.insert(module.to_owned());
        let own = layer(module).unwrap_or_else(|| panic!("{module} is in no layer"));
        for used in uses(&fs::read_to_string(&file).unwrap()) {
            match layer(&used) {
                Some(other) if other < own || LAYERS[own].contains(&used.as_str()) => {}
                Some(_) => {
                    wrong.insert(format!("{}: {module} uses {used}", path.display()));
                }
                None => {
                    wrong.insert(format!(
                        "{}: `crate::{used}` is not a module",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all: BTreeSet<String> = LAYERS.concat().iter().map(ToString::to_string).collect();
    assert_eq!(seen, all);
}

/// The first names after `crate::`, without comments and the tests at the end of the file.
fn uses(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let code: Vec<&str> = text
        .lines()
        .map(|line| line.split("//").next().unwrap())
        .collect();
    let code = code.join("\n");
    let word = |text: &str| -> String {
        let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
        text.trim_start().chars().take_while(is_part).collect()
    };
    let mut found = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = group.split('}').next().unwrap();
                found.extend(group.split(',').map(word).filter(|name| !name.is_empty()));
            }
            None => found.push(word(rest)),
        }
    }
    found
}

#[test]
fn uses_are_found() {
    let text = "use crate::model::Model;\n// crate::comment\nuse crate::{\n    ids,\n    node::Node,\n};\n\
                let a: crate::uri::Uri;\n#[cfg(test)]\nmod tests {\n    use crate::loader;\n}\n";
    assert_eq!(uses(text), ["model", "ids", "node", "uri"]);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
