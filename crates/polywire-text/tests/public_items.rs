//! Every public item has a caller in another crate of Polywire, or is listed here with its use.
//!
//! A scan of lines, not of types: a method counts as called if any crate calls a method of this
//! name.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Public items without a caller in another crate. An entry that ends in `::` or `_` covers all
/// items that start with it.
const OWN_USE: [(&str, &[&str]); 9] = [
    (
        "JSON by hand, without a model: docs/COVERAGE.md, OR-09 to OR-16",
        &["list::", "quote::"],
    ),
    (
        "the inverse of `push_json`, for bytes: docs/COVERAGE.md, OR-59",
        &["escape::push_unescaped_json"],
    ),
    (
        "the inverse of `form::pairs` and its set",
        &["form::WHATWG", "form::Writer", "form::Writer::"],
    ),
    (
        "the inverse of `percent::push_bytes`",
        &["percent::decode_bytes", "percent::Plus"],
    ),
    (
        "labels with slashes: examples/object-store",
        &["percent::push_path"],
    ),
    (
        "tests and measurements without AVX2",
        &["cpu::Level", "cpu::level", "cpu::limit"],
    ),
    (
        "the variants of RFC 4648, and buffers of a known size: docs/COVERAGE.md, OR-57",
        &[
            "base64::Alphabet",
            "base64::Base64",
            "base64::Base64::",
            "base64::Padding",
            "base64::URL_SAFE",
            "base64::URL_SAFE_UNPADDED",
            "hex::decode_to_slice",
        ],
    ),
    (
        "the spellings of all formats, integers of all types, and types in signatures",
        &[
            "number::Grammar",
            "number::Int",
            "number::NonFinite",
            "number::NotFinite",
            "number::Spelling::",
            "number::parse",
            "form::Pair",
            "form::Pairs",
            "pattern::PatternFlaw",
        ],
    ),
    (
        "values of programs: the methods of strings, and conversions of instants",
        &[
            "Blob::",
            "Text::EMPTY",
            "Text::format",
            "Text::from_utf8_lossy",
            "Text::into_blob",
            "Text::into_bytes",
            "Text::is_inline",
            "Text::slice",
            "Text::slice_ref",
            "timestamp::Civil",
            "timestamp::Timestamp::as_",
            "timestamp::Timestamp::checked_",
            "timestamp::Timestamp::civil",
            "timestamp::Timestamp::duration_since",
            "timestamp::Timestamp::from_",
            "timestamp::Timestamp::push_date_time_with",
            "timestamp::Timestamp::push_xmlrpc",
            "timestamp::WritePolicy::",
        ],
    ),
];

/// A public item of this crate.
struct Item {
    /// `module::name` or `module::Type::name`; without a module for items of the root.
    path: String,
    module: String,
    owner: Option<String>,
    name: String,
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The name of a public item that the line declares.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split(' ');
    let kinds = ["fn", "struct", "enum", "trait", "static", "type"];
    let mut word = words.next()?;
    if word == "const" {
        let next = words.next()?;
        if next != "fn" {
            return Some(next.trim_end_matches(':'));
        }
        word = next;
    }
    let name = kinds.contains(&word).then(|| words.next())??;
    name.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

fn items() -> Vec<Item> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut items = Vec::new();
    for file in files {
        let place = file
            .strip_prefix(&src)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        let module = place.split(['/', '.']).next().unwrap().to_owned();
        let module = match module.as_str() {
            "reference" => continue,
            "blob" | "malformed" | "repr" | "text" => String::new(),
            "serde" => "serde_token".to_owned(),
            _ => module,
        };
        let text = fs::read_to_string(&file).unwrap();
        let mut owner = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("impl") {
                let rest = rest
                    .split_once("> ")
                    .map_or(rest, |(_, rest)| rest)
                    .trim_start();
                let name = rest.split(|c: char| !c.is_alphanumeric()).next();
                owner = name.map(str::to_owned);
            } else if line == "}" {
                owner = None;
            }
            let Some(name) = declared(line).filter(|name| *name != "Sealed") else {
                continue;
            };
            let owner = owner.clone().filter(|_| line.starts_with(' '));
            let parts = [Some(&module), owner.as_ref(), Some(&name.to_owned())];
            let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
            items.push(Item {
                path: parts.cloned().collect::<Vec<_>>().join("::"),
                module: module.clone(),
                owner,
                name: name.to_owned(),
            });
        }
    }
    items
}

/// The sources of the other crates, without comments, tests and reference implementations.
fn other_sources() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let src = entry.unwrap().path().join("src");
        if src.is_dir() && !src.starts_with(env!("CARGO_MANIFEST_DIR")) {
            rust_files(&src, &mut files);
        }
    }
    let is_product = |file: &PathBuf| {
        let path = file.to_string_lossy();
        !path.contains("reference") && !path.ends_with("tests.rs")
    };
    let files = files.into_iter().filter(is_product);
    files
        .map(|file| {
            let text = fs::read_to_string(file).unwrap();
            let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or(&text);
            let code = product
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            code.collect::<Vec<_>>().join("\n")
        })
        .collect()
}

/// Whether `source` has `text`, not as a part of longer words.
fn mentions(source: &str, text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(text).any(|(at, _)| {
        let before = source[..at].chars().next_back();
        let after = source[at + text.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_used(item: &Item, sources: &[String]) -> bool {
    let Item { module, name, .. } = item;
    sources.iter().any(|source| match &item.owner {
        Some(owner) => {
            mentions(source, &format!("{owner}::{name}"))
                || source.contains(&format!(".{name}("))
                || source.contains(&format!(".{name}::<"))
        }
        None if module.is_empty() => mentions(source, name),
        None => {
            mentions(source, &format!("{module}::{name}"))
                || source.contains("polywire_text") && mentions(source, name)
        }
    })
}

#[test]
fn every_public_item_has_a_use() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    if !crates.join("polywire-codec").is_dir() {
        // A published package, without the other crates.
        return;
    }
    let items = items();
    assert!(items.len() > 150, "{} items", items.len());
    let own_use: Vec<&str> = OWN_USE
        .iter()
        .flat_map(|(_, paths)| *paths)
        .copied()
        .collect();
    let covers = |entry: &str, path: &str| match entry.ends_with([':', '_']) {
        true => path.starts_with(entry),
        false => path == entry,
    };
    let sources = other_sources();
    let unused: BTreeSet<&str> = items
        .iter()
        .filter(|item| !own_use.iter().any(|entry| covers(entry, &item.path)))
        .filter(|item| !is_used(item, &sources))
        .map(|item| item.path.as_str())
        .collect();
    assert!(unused.is_empty(), "public items without a use: {unused:#?}");
    for entry in own_use {
        let exists = items.iter().any(|item| covers(entry, &item.path));
        assert!(exists, "{entry} is not a public item");
    }
}
