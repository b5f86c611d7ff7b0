//! JSON AST as it is written: in both versions, with and without the bundled
//! definitions.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it counts"
)]

use std::collections::BTreeSet;
use std::path::Path;

use polywire_model::{Loader, Model, Node, NodeValue, Severity, ast};
use test_data::{Missing, data, suite};

test_data::tests! {
    version_1_has_no_mixins_and_no_enums,
    version_1_says_by_box_what_may_be_absent,
    what_version_1_cannot_say_is_listed,
    models_of_version_1_survive_as_version_1,
    published_models_can_be_written_as_version_1,
    with_definitions_everything_named_is_there,
}

fn load(files: &[&str]) -> Model {
    let mut loader = Loader::new();
    for (at, text) in files.iter().enumerate() {
        loader.add_text(&format!("{at}.smithy"), *text);
    }
    let assembled = loader.assemble().unwrap_or_else(|error| panic!("{error}"));
    assembled.model
}

fn version_1(model: &Model) -> ast::Output {
    ast::write_with(model, &ast::Options::new().version_1())
}

fn shape<'d>(document: &'d Node, id: &str) -> &'d Node {
    document.get("shapes").unwrap().get(id).unwrap()
}

/// The traits of a shape, or of a member of a structure.
fn traits(document: &Node, id: &str) -> String {
    let (root, member) = id.split_once('$').unwrap_or((id, ""));
    let mut node = shape(document, root);
    if !member.is_empty() {
        node = node.get("members").unwrap().get(member).unwrap();
    }
    node.get("traits").map(Node::to_json).unwrap_or_default()
}

const NEW: &str = r#"
    $version: "2.0"
    namespace a
    @mixin @tags(["mixed"]) structure Named { @required name: String }
    structure City with [Named] {
        @length(min: 1) $name
        zero: Zero = 0
        null: Zero = null
        boxed: Integer
        lost: Integer = 0
        text: String = "x"
        @addedDefault added: Boolean = true
        @clientOptional optional: String
    }
    @default(0) integer Zero
    integer Rank
    intEnum Level {
        LOW = 1
        HIGH = 2
    }
    enum Color {
        /// Like blood.
        @tags(["warm"]) @deprecated RED
        @internal BLUE = "blue"
    }
    @mixin operation Base { errors: [Bad] }
    operation Get with [Base] { output: City }
    @error("client") structure Bad {}
    resource Place {
        identifiers: { id: String }
        properties: { name: String }
        create: CreatePlace
    }
    operation CreatePlace { input := for Place { $name } }
"#;

fn version_1_has_no_mixins_and_no_enums() {
    let written = version_1(&load(&[NEW]));
    let document = &written.document;
    let text = document.to_json();
    assert!(text.starts_with("{\"smithy\":\"1.0\""));
    assert!(document.get("shapes").unwrap().get("a#Named").is_none());
    for word in [
        "mixins",
        "\"enum\"",
        "intEnum",
        "properties",
        "apply",
        "#default",
    ] {
        assert!(!text.contains(word), "{word}");
    }
    assert_eq!(
        traits(document, "a#City$name"),
        r#"{"smithy.api#length":{"min":1},"smithy.api#required":{}}"#
    );
    assert_eq!(
        traits(document, "a#City"),
        r#"{"smithy.api#tags":["mixed"]}"#
    );
    assert_eq!(
        shape(document, "a#Color").to_json(),
        concat!(
            r#"{"type":"string","traits":{"smithy.api#enum":["#,
            r#"{"value":"RED","name":"RED","documentation":"Like blood.","tags":["warm"],"deprecated":true},"#,
            r#"{"value":"blue","name":"BLUE","tags":["internal"]}]}}"#
        )
    );
    assert_eq!(
        shape(document, "a#Get").get("errors").unwrap().to_json(),
        r#"[{"target":"a#Bad"}]"#
    );
}

fn version_1_says_by_box_what_may_be_absent() {
    let written = version_1(&load(&[NEW]));
    let boxed = r#"{"smithy.api#box":{}}"#;
    for (id, expected) in [
        ("a#Zero", ""),
        ("a#Rank", boxed),
        ("a#Level", boxed),
        ("a#City$zero", ""),
        ("a#City$null", boxed),
        ("a#City$boxed", ""),
        ("a#City$lost", ""),
    ] {
        assert_eq!(traits(&written.document, id), expected, "{id}");
    }
}

fn what_version_1_cannot_say_is_listed() {
    let written = version_1(&load(&[NEW]));
    let losses = |severity| -> Vec<&str> {
        let losses = written
            .losses
            .iter()
            .filter(|loss| loss.severity == severity);
        losses.map(|loss| loss.message.as_str()).collect()
    };
    assert_eq!(
        losses(Severity::Warning),
        [
            "the default 0 of `a#City$lost` cannot be expressed in Smithy 1.0",
            "the default \"x\" of `a#City$text` cannot be expressed in Smithy 1.0",
            "the default true of `a#City$added` cannot be expressed in Smithy 1.0",
            "the named values of `a#Level` cannot be expressed in Smithy 1.0",
            "the property `name` of `a#Place` cannot be expressed in Smithy 1.0",
        ]
    );
    assert_eq!(
        losses(Severity::Note),
        [
            "the mixin `a#Named` is merged into the shapes that use it",
            "@clientOptional has no effect in Smithy 1.0",
            "the mixin `a#Base` is merged into the shapes that use it",
        ]
    );
    assert!(written.losses.iter().all(|loss| loss.line().is_some()));
}

fn models_of_version_1_survive_as_version_1() {
    let old = r#"
        $version: "1.0"
        namespace a
        integer Count
        @box integer Rank
        @streaming blob Stream
        @enum([{ value: "x", name: "X" }]) string Letter
        structure S { a: Count, @box b: Count, c: Rank, d: Integer, e: PrimitiveLong, f: Letter }
        structure T { stream: Stream }
        list L { @box member: PrimitiveLong }
    "#;
    let model = load(&[old]);
    let written = version_1(&model);
    assert!(written.losses.is_empty(), "{:?}", written.losses);
    let again = load(&[&written.document.to_json()]);
    assert_eq!(version_1(&again).document, written.document);
    assert_eq!(ast::write(&again), ast::write(&model));
}

fn published_models_can_be_written_as_version_1() -> Result<(), Missing> {
    for entry in std::fs::read_dir(data("models")?).unwrap() {
        let model = load_path(&entry.unwrap().path());
        let written = version_1(&model);
        let mut losses = written.losses.iter();
        assert!(losses.all(|loss| loss.severity == Severity::Note));
        let text = written.document.to_json();
        let again = Loader::new().add_text("v1.json", text).assemble();
        let again = again.unwrap_or_else(|error| panic!("{error}")).model;
        assert!(version_1(&again).document == written.document);
    }
    Ok(())
}

fn with_definitions_everything_named_is_there() -> Result<(), Missing> {
    for part in ["aws", "smithy"] {
        let model = load_path(&suite(part)?);
        let plain = ast::write(&model);
        let options = ast::Options::new().with_definitions();
        let whole = ast::write_with(&model, &options).document;
        let count = |document: &Node| document.get("shapes").unwrap().as_object().unwrap().len();
        assert!(count(&whole) > count(&plain));
        let shapes = whole.get("shapes").unwrap().as_object().unwrap();
        let mut named = BTreeSet::new();
        for (_, shape) in shapes.iter() {
            names(shape, &mut named);
        }
        assert!(named.contains("aws.protocols#restJson1") || part == "smithy");
        for id in named {
            let is_there = id.starts_with("smithy.api#") || shapes.get(id).is_some();
            assert!(is_there, "{id}");
        }
        // And the document is the same model.
        let again = load(&[&whole.to_json()]);
        assert!(ast::write(&again) == whole);
    }
    Ok(())
}

fn load_path(path: &Path) -> Model {
    let mut loader = Loader::new();
    let loader = match path.is_dir() {
        true => loader.add_dir(path),
        false => loader.add_file(path),
    };
    let assembled = loader.assemble().unwrap_or_else(|error| panic!("{error}"));
    assembled.model
}

/// The ids of the traits and targets in the description of a shape.
fn names<'n>(node: &'n Node, found: &mut BTreeSet<&'n str>) {
    match node.value() {
        NodeValue::Array(items) => items.iter().for_each(|item| names(item, found)),
        NodeValue::Object(object) => {
            for (key, value) in object.iter() {
                match (key, value.value()) {
                    ("target", NodeValue::String(id)) if id.contains('#') => {
                        found.insert(id);
                    }
                    ("traits", NodeValue::Object(traits)) => {
                        let ids = traits.iter().map(|(id, _)| id);
                        found.extend(ids.filter(|id| id.contains('#')));
                    }
                    _ => names(value, found),
                }
            }
        }
        _ => {}
    }
}
