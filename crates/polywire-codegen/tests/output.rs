//! Tests of the generated code, as text.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use polywire_codegen::{Build, GenerateError, GeneratedModule, Maps, Strings};
use polywire_model::{Loader, Model};

const LAMP: &str = r#"
    $version: "2"
    namespace example.lamp

    /// A lamp that <b>listens</b>.
    service Lamp { version: "1", operations: [Shine, Rest] }

    operation Shine {
        input := {
            /// How bright, from 0 to 100.
            @required
            level: Integer

            color: Color
        }
        output := { since: Timestamp }
        errors: [Broken]
    }

    operation Rest {}

    enum Color { WARM_WHITE = "warm-white", RED }

    union Cause { fuse: String, cable: Broken }

    @error("server")
    structure Broken { message: String, cause: Cause }
"#;

fn model(text: &str) -> Model {
    let mut loader = Loader::new();
    loader.add_text("model.smithy", text);
    loader.assemble().unwrap().model
}

fn run(build: &Build, text: &str) -> GeneratedModule {
    build.run_on(&model(text)).unwrap()
}

#[test]
fn generated_types() {
    let generated = run(&Build::new().types_only(), LAMP);
    // Omit the packed schemas.
    let code = generated
        .code()
        .split("/// The schemas of the service")
        .next();
    insta::assert_snapshot!(code.unwrap());
}

#[test]
fn generated_client_and_server() {
    let generated = run(&Build::new(), LAMP);
    let code = generated
        .code()
        .split("/// Returns the service, which")
        .nth(1);
    insta::assert_snapshot!(code.unwrap());
}

#[test]
fn output_is_deterministic() {
    let build = Build::new().registry(true);
    assert_eq!(run(&build, LAMP).code(), run(&build, LAMP).code());
}

#[test]
fn output_is_formatted() {
    let library = Path::new("../../tests/generated/model/library.smithy");
    let library = std::fs::read_to_string(library).unwrap();
    for text in [LAMP, &library] {
        for build in [
            Build::new().registry(true),
            Build::new().borrowed(true),
            Build::new().protocols(["restXml", "awsJson1_0"]),
            Build::new().maps(Maps::Hash).strings(Strings::String),
        ] {
            let code = run(&build, text).code().to_owned();
            let child = Command::new("rustfmt")
                .args(["--edition", "2024"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn();
            let mut child = child.unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(code.as_bytes()).unwrap();
            drop(stdin);
            let formatted = child.wait_with_output().unwrap().stdout;
            let formatted = String::from_utf8(formatted).unwrap();
            let lines = code.lines().zip(formatted.lines());
            let different: Vec<(&str, &str)> = lines.filter(|(a, b)| a != b).take(3).collect();
            assert!(code == formatted, "{different:#?}");
        }
    }
}

#[test]
fn finds_types_by_shape_id() {
    let generated = run(&Build::new(), LAMP);
    assert_eq!(generated.path_of("example.lamp#Broken"), Some("Broken"));
    assert_eq!(
        generated.path_of("example.lamp#ShineInput"),
        Some("ShineInput")
    );
    assert_eq!(generated.path_of("smithy.api#String"), None);
    assert_eq!(generated.name(), "lamp");
}

#[test]
fn omits_types_of_other_operations() {
    let generated = run(&Build::new().operations(["Rest"]), LAMP);
    assert!(!generated.code().contains("Shine"));
    assert_eq!(generated.path_of("example.lamp#Broken"), None);
    let error = Build::new()
        .operations(["Sleep"])
        .run_on(&model(LAMP))
        .unwrap_err();
    assert_eq!(error.to_string(), "the service has no operation `Sleep`");
}

#[test]
fn links_only_selected_protocols() {
    // The model has no protocols, so all are linked.
    let all = "::polywire::rpc::Client::builder(super::service(), kind)";
    assert!(run(&Build::new(), LAMP).code().contains(all));
    let names = ["rpcv2Cbor", "restXml"];
    let generated = run(&Build::new().protocols(names), LAMP);
    let code = generated.code();
    assert!(!code.contains(all));
    assert!(code.contains(".or::<protocol::RpcV2Cbor>(ProtocolKind::RpcV2Cbor)"));
    assert!(code.contains(".or::<protocol::RestXml>(ProtocolKind::RestXml)"));
    assert!(!code.contains("ProtocolKind::RestJson1"));
    // Only the formats of these protocols have codecs.
    assert!(code.contains("::polywire::codec::Format::Cbor"));
    assert!(code.contains("::polywire::codec::Format::Xml"));
    assert!(!code.contains("::polywire::codec::Format::Json"));

    let error = Build::new().protocols(["soap"]).run_on(&model(LAMP));
    macro_rules! names {
        (() $($kind:ident $namespace:literal $name:literal $formats:tt)+) => { [$($name),+] };
    }
    let names = polywire_schema::for_each_protocol!(names!()).join(", ");
    assert_eq!(
        error.unwrap_err().to_string(),
        format!("unknown protocol `soap`: expected one of {names}")
    );
}

#[test]
fn requires_a_service_if_there_are_several() {
    let two = "$version: \"2\"\nnamespace a\nservice One { version: \"1\" }\nservice Two { version: \"1\" }\n";
    let error = Build::new().run_on(&model(two)).unwrap_err();
    assert!(matches!(error, GenerateError::NoService(None, _)));
    assert_eq!(
        error.to_string(),
        "select a service: the model has the services a#One, a#Two"
    );
    assert_eq!(run(&Build::new().service("Two"), two).name(), "two");
    assert_eq!(run(&Build::new().service("a#One"), two).name(), "one");
}

#[test]
fn boxes_one_member_per_cycle() {
    let text = r#"
        $version: "2"
        namespace a
        service S { version: "1", operations: [O] }
        operation O { input := { first: A } }
        structure A { b: B, c: C, list: As }
        structure B { a: A }
        union C { c: C, text: String }
        list As { member: A }
    "#;
    let generated = run(&Build::new().types_only(), text);
    let fields: Vec<&str> = generated
        .code()
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("pub ") && line.ends_with(',') || line.contains("Box<"))
        .filter(|line| !line.starts_with("pub fn"))
        .collect();
    assert_eq!(
        fields,
        [
            "pub b: Option<B>,",
            "pub c: Option<C>,",
            "pub list: Option<Vec<A>>,",
            "pub a: Option<Box<A>>,",
            "pub first: Option<A>,",
            "C(Box<C>),",
            "pub fn as_c(&self) -> Option<&Box<C>> {",
        ]
        .into_iter()
        .filter(|line| !line.starts_with("pub fn"))
        .collect::<Vec<_>>()
    );
}

/// Whatever a model calls its shapes, what is generated compiles.
#[test]
fn paginates_without_items() {
    let generated = run(
        &Build::new(),
        r#"
        $version: "2"
        namespace a

        service S { operations: [List] }

        @readonly
        @paginated(inputToken: "from", outputToken: "next")
        operation List {
            input := { from: String }
            output := { next: String }
        }
        "#,
    );
    let code = generated.code();
    assert!(code.contains("pub fn into_paginator("), "{code}");
    assert!(code.contains("rpc::generated::Pages for"), "{code}");
    assert!(!code.contains("ItemPages"), "{code}");
}

#[test]
fn renames_shapes_that_clash_with_generated_names() {
    let text = r#"
        $version: "2"
        namespace a
        service S { version: "1", operations: [Formats] }
        @paginated(inputToken: "from", outputToken: "next", items: "all")
        operation Formats {
            input := { from: String }
            output := { next: String, all: Strings, sized: Sized }
            errors: [Strange, Stranger]
        }
        list Strings { member: String }
        structure Sized {}
        @error("client")
        structure Strange { message: Entry }
        structure Entry { text: String }
        @error("client")
        structure Stranger { message: Strength }
        enum Strength { MILD }
    "#;
    for strings in [Strings::Text, Strings::String] {
        let generated = run(&Build::new().strings(strings), text);
        let code = generated.code();
        assert!(code.contains("::rpc::generated::Pages for FormatsOperation {"));
        assert_eq!(generated.path_of("a#Sized"), Some("SizedShape"));
        // `Display` omits a message that is not a string.
        assert!(
            code.contains(r#"codec::fmt_error(f, "Strange", None)"#),
            "{code}"
        );
        assert!(code.contains(r#"codec::fmt_error(f, "Stranger", None)"#));
    }
}
