//! Models written as IDL: nothing is lost on the way, and the layout is the one
//! that is checked in.
//!
//! `tests/written/NAME.smithy` (or `.json`) is written as `NAME.out.smithy`. With
//! `POLYWIRE_BLESS=1` the outputs are written anew, to be read before they are
//! checked in.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it counts"
)]

use std::fs;
use std::path::{Path, PathBuf};

use polywire_model::idl::{self, IdlFile};
use polywire_model::{Loader, Model, ast};
use test_data::{Missing, data, suite, suite_ast};

test_data::tests! {
    published_models_survive,
    the_benchmark_model_survives,
    the_official_suites_survive,
    the_ast_of_the_official_suites_survives,
    the_layout_is_the_one_checked_in,
    namespaces_and_width_can_be_chosen,
    models_of_version_1_are_written_as_version_2,
    the_deepest_values_survive,
}

fn published_models_survive() -> Result<(), Missing> {
    let mut count = 0;
    for path in entries(&data("models")?) {
        survives(&load(&[&path]));
        count += 1;
    }
    assert!(count > 0);
    Ok(())
}

fn the_benchmark_model_survives() -> Result<(), Missing> {
    survives(&load(&[&data("bench/smithy/model.json")?]));
    survives(&load(&[&data("bench/smithy/idl")?]));
    Ok(())
}

fn the_official_suites_survive() -> Result<(), Missing> {
    for name in ["aws", "smithy"] {
        survives(&load(&[&suite(name)?]));
    }
    Ok(())
}

fn the_ast_of_the_official_suites_survives() -> Result<(), Missing> {
    for name in ["aws", "smithy"] {
        survives(&load(&[&suite_ast(name)?]));
    }
    Ok(())
}

fn the_layout_is_the_one_checked_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written");
    let bless = std::env::var_os("POLYWIRE_BLESS").is_some();
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in entries(&folder) {
        if path.to_str().unwrap().ends_with(".out.smithy") {
            continue;
        }
        count += 1;
        let model = load(&[&path]);
        survives(&model);
        let texts: Vec<String> = idl::write(&model)
            .into_iter()
            .map(|file| format!("// {}\n{}", file.name, file.text))
            .collect();
        let text = texts.join("\n");
        let snapshot = path.with_extension("out.smithy");
        if bless {
            fs::write(&snapshot, &text).unwrap();
        } else if fs::read_to_string(&snapshot).unwrap_or_default() != text {
            wrong.push(format!("--- {}\n{text}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 5);
}

fn namespaces_and_width_can_be_chosen() {
    let mut loader = Loader::new();
    loader.add_text(
        "a.smithy",
        "$version: \"2\"\nmetadata m = 1\nnamespace a\n@tags([\"the first\", \"the second\"])\nstring A\n",
    );
    loader.add_text("b.smithy", "$version: \"2\"\nnamespace b\nstring B\n");
    let model = assemble(&mut loader);
    let names =
        |files: &[IdlFile]| -> Vec<String> { files.iter().map(|f| f.name.clone()).collect() };
    let all = idl::write(&model);
    assert_eq!(names(&all), ["metadata.smithy", "a.smithy", "b.smithy"]);
    assert_eq!(all[0].namespace, None);
    let one = idl::write_with(&model, &idl::Options::new().namespaces(["a"]).width(20));
    assert_eq!(names(&one), ["a.smithy"]);
    assert_eq!(
        one[0].text,
        concat!(
            "$version: \"2.0\"\n\nmetadata m = 1\n\nnamespace a\n\n",
            "@tags([\n    \"the first\"\n    \"the second\"\n])\nstring A\n"
        )
    );
    let narrowest = idl::write_with(&model, &idl::Options::new().width(0));
    assert_eq!(reload(&narrowest).len(), model.len());
    let none = idl::write_with(&model, &idl::Options::new().namespaces(["c"]));
    assert_eq!(names(&none), ["metadata.smithy"]);
}

fn models_of_version_1_are_written_as_version_2() {
    let old = "$version: \"1.0\"\nnamespace a\nset S { member: String }\n@box integer I\n\
        structure T { i: I, @box j: PrimitiveLong, k: PrimitiveLong }\n";
    let model = assemble(Loader::new().add_text("old.smithy", old));
    survives(&model);
    assert_eq!(
        idl::write(&model)[0].text,
        r#"$version: "2.0"

namespace a

structure T {
    i: I
    j: PrimitiveLong = null
    k: PrimitiveLong = 0
}

@uniqueItems
list S {
    member: String
}

integer I
"#
    );
}

/// The model written as IDL is the same model, and its IDL the same text.
fn survives(model: &Model) {
    let files = idl::write(model);
    let again = reload(&files);
    let (before, after) = (ast::write(model), ast::write(&again));
    if before != after {
        let (before, after) = (before.to_json_pretty(), after.to_json_pretty());
        let different = before.lines().zip(after.lines()).enumerate();
        let (line, (left, right)) = different.into_iter().find(|(_, (l, r))| l != r).unwrap();
        panic!("line {line}:\n{left}\n{right}");
    }
    for (shape, other) in model.shapes().zip(again.shapes()) {
        assert_eq!(shape.mixins(), other.mixins(), "{}", shape.id());
        assert!(
            shape
                .members()
                .iter()
                .map(|member| member.name())
                .eq(other.members().iter().map(|member| member.name()))
        );
    }
    for (first, second) in files.iter().zip(idl::write(&again)) {
        let mut lines = first.text.lines().zip(second.text.lines());
        if let Some((left, right)) = lines.find(|(left, right)| left != right) {
            panic!("{}\n{left}\n{right}", first.name);
        }
        assert_eq!(first.text.len(), second.text.len());
        for line in first.text.lines() {
            assert_eq!(line, line.trim_end(), "{}", first.name);
        }
    }
}

fn reload(files: &[IdlFile]) -> Model {
    let mut loader = Loader::new();
    for file in files {
        loader.add_text(&file.name, file.text.as_str());
    }
    assemble(&mut loader)
}

fn load(paths: &[&Path]) -> Model {
    let mut loader = Loader::new();
    for path in paths {
        if path.is_dir() {
            loader.add_dir(path);
        } else {
            loader.add_file(path);
        }
    }
    assemble(&mut loader)
}

fn assemble(loader: &mut Loader) -> Model {
    let assembled = loader.assemble().unwrap_or_else(|error| panic!("{error}"));
    // Findings about the text, not about what it says.
    let syntax = assembled.warnings.iter();
    let syntax =
        syntax.filter(|w| ["LineBreak", "Syntax", "UnresolvedShapeId"].contains(&&*w.code));
    let syntax: Vec<String> = syntax.map(ToString::to_string).collect();
    assert!(syntax.is_empty(), "{}", syntax.join("\n\n"));
    assembled.model
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

/// Values may nest equally deep in both forms, wherever they stand.
fn the_deepest_values_survive() {
    let nested = |levels: usize| "[".repeat(levels) + "1" + &"]".repeat(levels);
    let load = |name: &str, text: String| Loader::new().add_text(name, text).assemble();
    let idl = |levels: usize| {
        let value = nested(levels);
        format!(
            "$version: \"2\"\nmetadata m = {value}\nnamespace a\n@trait\ndocument t\n\
             @t({value})\nstructure S {{ @t({value}) m: String }}\n"
        )
    };
    let model = load("a.smithy", idl(128)).unwrap().model;
    let written = ast::write(&model);
    let again = load("a.json", written.to_json()).unwrap().model;
    let files = idl::write(&again);
    let third = load("b.smithy", files[0].text.clone()).unwrap().model;
    assert_eq!(ast::write(&third), written);
    let too_deep = |name: &str, text: String| {
        let error = load(name, text).unwrap_err();
        assert!(
            error.errors().all(|error| error.code == "TooDeep"),
            "{error}"
        );
    };
    too_deep("a.smithy", idl(129));
    let value = nested(129);
    let json = format!("{{\"smithy\": \"2.0\", \"metadata\": {{\"m\": {value}}}}}");
    too_deep("a.json", json);
}
