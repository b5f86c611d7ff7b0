//! Broken models and what is said about them: each `tests/broken/NAME.smithy` or
//! `NAME.json`, or folder `NAME` whose files are one model, beside the rendered
//! diagnostics in `NAME.txt`. With
//! `POLYWIRE_BLESS=1` the texts are written anew, to be read before they are
//! checked in.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests: helpers outside of #[test]"
)]

use std::fs;
use std::path::{Path, PathBuf};

use polywire_model::Loader;

#[test]
fn broken_models_are_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.is_dir() || path.extension().is_some_and(|extension| extension != "txt")
        })
        .collect();
    files.sort();
    assert!(files.len() >= 25);
    let bless = std::env::var_os("POLYWIRE_BLESS").is_some();
    let mut wrong = Vec::new();
    for file in &files {
        let found = explain(file);
        let snapshot = file.with_extension("txt");
        if bless {
            fs::write(&snapshot, &found).unwrap();
        } else if fs::read_to_string(&snapshot).unwrap_or_default() != found {
            wrong.push(format!("--- {}\n{found}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn explain(file: &Path) -> String {
    let name = file.file_name().unwrap().to_str().unwrap();
    let mut loader = Loader::new();
    if file.is_dir() {
        let mut parts: Vec<PathBuf> = fs::read_dir(file)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        parts.sort();
        for part in parts {
            let part_name = part.file_name().unwrap().to_str().unwrap();
            let text = fs::read_to_string(&part).unwrap();
            loader.add_text(&format!("{name}/{part_name}"), text);
        }
    } else {
        loader.add_text(name, fs::read_to_string(file).unwrap());
    }
    match loader.assemble() {
        Err(error) => format!("{error}\n"),
        Ok(assembled) => {
            let warnings: Vec<String> = assembled
                .warnings
                .iter()
                .map(|warning| format!("{warning}\n\n"))
                .collect();
            assert!(!warnings.is_empty(), "{name} has no flaw");
            format!("{}no error\n", warnings.concat())
        }
    }
}
