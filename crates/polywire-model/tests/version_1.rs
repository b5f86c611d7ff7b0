//! Files of Smithy 1.0: what they mean in 2.0, alone and beside files of 2.0.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use polywire_model::{Loader, Model, Node, ast};

fn load(files: &[&str]) -> Model {
    let mut loader = Loader::new();
    for (at, text) in files.iter().enumerate() {
        loader.add_text(&format!("{at}.smithy"), *text);
    }
    let assembled = loader.assemble().unwrap_or_else(|error| panic!("{error}"));
    assembled.model
}

/// The default of a shape or member as JSON, empty when there is none.
fn default_of(model: &Model, id: &str) -> String {
    let (root, member) = id.split_once('$').unwrap_or((id, ""));
    let shape = model.get(root).unwrap();
    let traits = match shape.member(member) {
        Some(member) => member.traits(),
        None => shape.traits(),
    };
    traits
        .default_value()
        .map(Node::to_json)
        .unwrap_or_default()
}

fn assert_defaults(model: &Model, expected: &[(&str, &str)]) {
    for (id, default) in expected {
        assert_eq!(default_of(model, id), *default, "{id}");
    }
}

const OLD: &str = r#"
    $version: "1.0"
    namespace old
    integer Count
    boolean Flag
    double Ratio
    @box integer Rank
    bigInteger Huge
    @streaming blob Stream
    set Names { member: String }
    @enum([{ value: "a", name: "A" }]) string Letter
    structure S {
        boxed: Integer, primitive: PrimitiveBoolean, count: Count, flag: Flag,
        ratio: Ratio, rank: Rank, huge: Huge, names: Names
        @box ownBox: Count,
        @box twice: Rank,
        @required required: PrimitiveLong,
        @box applied: Count
    }
    structure T { stream: Stream }
    structure U { @required stream: Stream }
    union V { a: PrimitiveInteger, @box b: Count }
    list L { member: PrimitiveInteger }
"#;

#[test]
fn numbers_and_booleans_are_zero_unless_boxed() {
    let model = load(&[OLD]);
    assert_defaults(
        &model,
        &[
            ("old#Count", "0"),
            ("old#Flag", "false"),
            ("old#Ratio", "0"),
            ("old#Rank", ""),
            ("old#Huge", ""),
            ("old#S$boxed", ""),
            ("old#S$primitive", "false"),
            ("old#S$count", "0"),
            ("old#S$flag", "false"),
            ("old#S$ratio", "0"),
            ("old#S$rank", ""),
            ("old#S$huge", ""),
            ("old#S$ownBox", "null"),
            ("old#S$twice", "null"),
            ("old#S$required", "0"),
            ("old#T$stream", "\"\""),
            ("old#U$stream", ""),
            ("old#V$a", ""),
            ("old#V$b", ""),
            ("old#L$member", ""),
        ],
    );
    assert!(model.get("old#Names").unwrap().traits().has_unique_items());
    let letter = model.get("old#Letter").unwrap();
    assert_eq!(letter.shape_type().name(), "string");
    assert!(letter.traits().has("smithy.api#enum"));
}

#[test]
fn files_of_both_versions_make_one_model() {
    let new = r#"
        $version: "2.0"
        namespace new
        @default(0) integer Zero
        integer None
        intEnum Kind { A = 1 }
        structure S { a: old#Count = 0, b: old#Rank, c: Zero = 0 }
    "#;
    let mixed = r#"
        $version: "1"
        namespace mixed
        structure S {
            zero: new#Zero, none: new#None, kind: new#Kind,
            count: old#Count
        }
        apply S$count @box
    "#;
    let model = load(&[OLD, new, mixed]);
    assert_defaults(
        &model,
        &[
            ("new#None", ""),
            ("new#S$a", "0"),
            ("new#S$b", ""),
            ("mixed#S$zero", "0"),
            ("mixed#S$none", ""),
            ("mixed#S$kind", ""),
            ("mixed#S$count", "null"),
        ],
    );
}

#[test]
fn ast_of_version_1_means_the_same() {
    let model = load(&[r#"{
        "smithy": "1.0",
        "shapes": {
            "a#Count": { "type": "integer" },
            "a#Names": { "type": "set", "member": { "target": "smithy.api#String" } },
            "a#S": { "type": "structure", "members": {
                "count": { "target": "a#Count" },
                "boxed": { "target": "a#Count", "traits": { "smithy.api#box": {} } }
            } },
            "a#S$count": { "type": "apply", "traits": { "smithy.api#box": {} } }
        }
    }"#]);
    let defaults = [
        ("a#Count", "0"),
        ("a#S$count", "null"),
        ("a#S$boxed", "null"),
    ];
    assert_defaults(&model, &defaults);
    // As 2.0 it is written without @box, and means what it meant.
    let written = ast::write(&model).to_json();
    assert!(!written.contains("#box"), "{written}");
    assert!(written.starts_with("{\"smithy\":\"2.0\""));
    assert_defaults(&load(&[&written]), &defaults);
}
