//! Exports to botocore of a small model, over each protocol, as texts that are
//! checked in: `tests/botocore/PROTOCOL.txt`. `POLYWIRE_BLESS=1` writes them.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests say what is wrong by ending"
)]

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use polywire_model::{Loader, Model, Node};
use polywire_model_export::botocore::{Export, ExportError, Options, Protocol, export};
use test_data::{Missing, data, suite};

test_data::tests! {
    each_protocol_says_what_it_needs,
    errors_say_what_to_do,
    a_bare_service,
    pages_that_say_whether_more_follow,
    authentication,
    size_is_all_that_counts,
    all_shapes_of_published_models_are_there,
    all_shapes_of_the_official_suites_are_there,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/botocore")
}

fn shop() -> Model {
    let mut loader = Loader::new();
    loader.add_dir(folder());
    match loader.assemble() {
        Ok(assembled) => assembled.model,
        Err(error) => panic!("{error}"),
    }
}

fn model(text: &str) -> Model {
    match Loader::new().add_text("test.smithy", text).assemble() {
        Ok(assembled) => assembled.model,
        Err(error) => panic!("{error}"),
    }
}

/// The files, an entry a line.
fn text(export: &Export) -> String {
    let mut text = String::new();
    for file in export.files() {
        writeln!(text, "== {}", file.path()).unwrap();
        for (key, value) in file.content().as_object().unwrap().iter() {
            match value.as_object() {
                Some(entries) => {
                    writeln!(text, "{key}:").unwrap();
                    for (name, entry) in entries.iter() {
                        writeln!(text, "    {name}: {}", entry.to_json()).unwrap();
                    }
                }
                None => writeln!(text, "{key}: {}", value.to_json()).unwrap(),
            }
        }
    }
    writeln!(text, "== notes").unwrap();
    for note in export.notes() {
        writeln!(text, "{note}").unwrap();
    }
    text
}

fn each_protocol_says_what_it_needs() {
    let model = shop();
    let mut differ = Vec::new();
    for protocol in Protocol::ALL {
        let options = Options::default().protocol(protocol);
        let text = text(&export(&model, None, &options).unwrap());
        let name = protocol.to_string().replace(' ', "-");
        let path = folder().join(format!("{name}.txt"));
        if std::env::var_os("POLYWIRE_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        for (line, (left, right)) in text.lines().zip(expected.lines()).enumerate() {
            if left != right {
                differ.push(format!("{name}.txt:{}:\n  {left}\n  {right}", line + 1));
            }
        }
        if text.lines().count() != expected.lines().count() {
            differ.push(format!("{name}.txt has another number of lines"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// `@paginated` has no property for `more_results`: the boolean is next to the output token, and
/// has a name that says so.
fn pages_that_say_whether_more_follow() {
    let model = model(
        r#"$version: "2"
        namespace a
        @paginated(inputToken: "token", items: "items")
        service S { version: "1", operations: [Flat, Deep, Elsewhere, Other] }
        @paginated(outputToken: "next")
        operation Flat {
            input := { token: String }
            output := { next: String, items: Items, IncludeOld: Boolean, IsTruncated: Boolean }
        }
        @paginated(outputToken: "list.next", items: "list.items")
        operation Deep { input := { token: String }, output := { list: Page } }
        structure Page { next: String, items: Items, hasMoreResults: Boolean }
        @paginated(outputToken: "next")
        operation Elsewhere {
            input := { token: String }
            output := { next: String, items: Items, list: Page }
        }
        @paginated(outputToken: "next")
        operation Other {
            input := { token: String }
            output := { next: String, items: Items, IsTruncated: String }
        }
        list Items { member: String }"#,
    );
    let options = Options::default().protocol(Protocol::Json11);
    let export = export(&model, None, &options).unwrap();
    let mut files = export.files().iter();
    let file = files.find(|file| file.path().ends_with("/paginators-1.json"));
    let pagination = file.unwrap().content().get("pagination").unwrap();
    let more = |name| {
        let entry = pagination.get(name).unwrap();
        entry.get("more_results").and_then(Node::as_str)
    };
    assert_eq!(more("Flat"), Some("IsTruncated"));
    assert_eq!(more("Deep"), Some("list.hasMoreResults"));
    assert_eq!(more("Elsewhere"), None);
    assert_eq!(more("Other"), None);
}

fn failure(model: &Model, service: Option<&str>, options: &Options) -> ExportError {
    export(model, service, options).unwrap_err()
}

fn errors_say_what_to_do() {
    let default = Options::default();
    let shop = shop();
    assert_eq!(
        failure(&shop, None, &default).to_string(),
        "botocore supports none of the protocols of `example.shop#Shop`, which are `polywire#xmlRpc`; \
         name the protocol over which the service is available, such as `smithy-rpc-v2-cbor`"
    );
    assert_eq!(
        failure(&shop, Some("Stop"), &default).to_string(),
        "the model has no service `Stop`, only `example.shop#Shop`"
    );
    let none = model("$version: \"2\"\nnamespace a\nstring S\n");
    assert_eq!(failure(&none, None, &default), ExportError::NoService);
    let two = model(
        "$version: \"2\"\nnamespace a\nservice A { version: \"1\" }\nservice B { version: \"1\" }\n",
    );
    assert_eq!(
        failure(&two, None, &default).to_string(),
        "the model has 2 services, so name one: `a#A`, `a#B`"
    );
    assert_eq!(
        failure(&two, Some("A"), &default).to_string(),
        "`a#A` has no protocol; name the protocol over which the service is available, such as \
         `smithy-rpc-v2-cbor`"
    );
    let rpc = model(
        "$version: \"2\"\nnamespace a\nservice A { version: \"1\", operations: [B] }\noperation B {}\n",
    );
    let rest = Options::default().protocol(Protocol::RestXml);
    assert_eq!(
        failure(&rpc, None, &rest).to_string(),
        "`B` has no `@http`, which rest-xml needs"
    );
}

/// What there is to say about a service that has hardly anything.
fn a_bare_service() {
    let model = model("$version: \"2\"\nnamespace a\nservice Thing {}\n");
    let options = Options::default()
        .protocol(Protocol::RpcV2Cbor)
        .name("../my thing");
    let export = export(&model, None, &options).unwrap();
    assert_eq!(export.name(), "my-thing");
    assert_eq!(export.api_version(), "0");
    assert!(!export.has_endpoints());
    assert_eq!(export.files()[0].path(), "my-thing/0/service-2.json");
    let service = export.files()[0].content();
    let metadata = service.get("metadata").unwrap();
    let text = |key| metadata.get(key).and_then(Node::as_str);
    assert_eq!(text("serviceId"), Some("Thing"));
    assert_eq!(text("endpointPrefix"), Some("thing"));
    assert_eq!(text("targetPrefix"), Some("Thing"));
    assert_eq!(text("signatureVersion"), Some("v4"));
    assert_eq!(export.notes().len(), 1, "{:?}", export.notes());
}

/// The most that authentication can be.
fn authentication() {
    let model = model(
        r#"$version: "2"
        namespace a
        use aws.auth#sigv4
        use smithy.protocols#rpcv2Cbor
        @rpcv2Cbor
        @sigv4(name: "signer")
        @httpBearerAuth
        @httpBasicAuth
        @auth([httpBearerAuth, httpBasicAuth, sigv4])
        service Thing { version: "1", operations: [Both, None, One, Optional, Strange] }
        operation Both {}
        @auth([])
        operation None {}
        @auth([sigv4])
        operation One {}
        @optionalAuth
        operation Optional {}
        @auth([httpBasicAuth])
        operation Strange {}
        "#,
    );
    let export = export(&model, None, &Options::default()).unwrap();
    let service = export.files()[0].content();
    let metadata = service.get("metadata").unwrap();
    let json = |node: Option<&Node>| node.map(Node::to_json).unwrap_or_default();
    assert_eq!(
        json(metadata.get("auth")),
        r#"["smithy.api#httpBearerAuth","aws.auth#sigv4"]"#
    );
    assert_eq!(json(metadata.get("signatureVersion")), r#""bearer""#);
    assert_eq!(json(metadata.get("signingName")), r#""signer""#);
    let operations = service.get("operations").unwrap();
    let auth = |name| {
        let operation = operations.get(name).unwrap();
        (json(operation.get("auth")), json(operation.get("authtype")))
    };
    let none = (
        r#"["smithy.api#noAuth"]"#.to_owned(),
        r#""none""#.to_owned(),
    );
    assert_eq!(auth("Both"), (String::new(), String::new()));
    assert_eq!(auth("None"), none);
    assert_eq!(
        auth("One"),
        (r#"["aws.auth#sigv4"]"#.to_owned(), String::new())
    );
    assert_eq!(auth("Optional"), none);
    assert_eq!(auth("Strange"), none);
    assert_eq!(
        export.notes(),
        ["botocore does not support authentication with `smithy.api#httpBasicAuth`"]
    );
}

/// A deep and a wide model cost what their size is.
fn size_is_all_that_counts() {
    let mut text = String::from(
        "$version: \"2\"\nnamespace a\nservice A { version: \"1\", operations: [O] }\n\
         operation O { input: S0 }\n",
    );
    for n in 0..10_000 {
        let next = (n + 1) % 10_000;
        writeln!(text, "structure S{n} {{ next: S{next}, all: L }}").unwrap();
    }
    text.push_str("list L { member: S0 }\n");
    let model = model(&text);
    let options = Options::default().protocol(Protocol::Json11);
    let export = export(&model, None, &options).unwrap();
    let shapes = export.files()[0].content().get("shapes").unwrap();
    assert_eq!(shapes.as_object().unwrap().len(), 10_001);
}

fn all_shapes_of_published_models_are_there() -> Result<(), Missing> {
    let files = std::fs::read_dir(data("models")?).unwrap();
    all_shapes_are_there(files.map(|file| file.unwrap().path()));
    Ok(())
}

fn all_shapes_of_the_official_suites_are_there() -> Result<(), Missing> {
    all_shapes_are_there([suite("aws")?, suite("smithy")?]);
    Ok(())
}

/// Every service of each model, over every protocol: all that is named is there, and all that
/// is there is named.
fn all_shapes_are_there(models: impl IntoIterator<Item = PathBuf>) {
    let mut exports = 0;
    for path in models {
        let model = Loader::new().add_path(&path).assemble().unwrap().model;
        for service in model.services() {
            for protocol in Protocol::ALL {
                let options = Options::default().protocol(protocol);
                match export(&model, Some(service.id().as_str()), &options) {
                    Ok(export) => are_there(&export),
                    Err(ExportError::NoHttp { .. }) => {}
                    Err(error) => panic!("{}: {error}", service.id()),
                }
                exports += 1;
            }
        }
    }
    println!("{exports} exports hold together");
}

fn are_there(export: &Export) {
    let service = export.files()[0].content();
    let shapes = service.get("shapes").and_then(Node::as_object).unwrap();
    let defined: HashSet<&str> = shapes.iter().map(|(name, _)| name).collect();
    assert_eq!(defined.len(), shapes.len());
    let mut named: HashSet<&str> = HashSet::new();
    let mut todo = vec![service.get("operations").unwrap()];
    todo.extend(shapes.iter().map(|(_, shape)| shape));
    while let Some(node) = todo.pop() {
        if let Some(object) = node.as_object() {
            // A member may be called `shape` too, but is an object.
            named.extend(node.get("shape").and_then(Node::as_str));
            todo.extend(object.iter().map(|(_, value)| value));
        }
        todo.extend(node.as_array().unwrap_or_default());
    }
    let missing: Vec<&&str> = named.difference(&defined).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let errors = shapes.iter();
    let errors = errors.filter(|(_, shape)| shape.get("exception").is_some());
    named.extend(errors.map(|(name, _)| name));
    let unnamed: Vec<&&str> = defined.difference(&named).collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}
