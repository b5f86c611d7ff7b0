//! Introspection: the `system.*` methods of a server.

use polywire_rpc::Methods;
use polywire_schema::Value;

use crate::support::{call, serve};

fn methods() -> Methods {
    Methods::new()
        .method("sample.add", |(a, b): (i32, i32)| async move { a + b })
        .method("another", |(): ()| async {})
        .help("sample.add", "Adds two numbers.")
        .signature("sample.add", &["int", "int", "int"])
        .signature("sample.add", &["double", "double", "double"])
        .introspection(true)
}

fn strings(names: &[&str]) -> Value {
    Value::List(names.iter().map(|&name| Value::from(name)).collect())
}

#[tokio::test]
async fn names_are_listed_in_order() {
    let server = serve(methods());
    let names = call(&server, "system.listMethods", &[]).await.unwrap();
    let expected = [
        "another",
        "sample.add",
        "system.getCapabilities",
        "system.listMethods",
        "system.methodHelp",
        "system.methodSignature",
        "system.multicall",
    ];
    assert_eq!(names, strings(&expected));
}

#[tokio::test]
async fn signatures_and_help_are_those_given() {
    let server = serve(methods());
    let signatures = call(&server, "system.methodSignature", &["sample.add".into()]).await;
    let expected = vec![strings(&["int"; 3]), strings(&["double"; 3])];
    assert_eq!(signatures, Ok(Value::List(expected)));
    let unknown = call(&server, "system.methodSignature", &["another".into()]).await;
    assert_eq!(unknown, Ok(Value::from("undef")));
    let help = call(&server, "system.methodHelp", &["sample.add".into()]).await;
    assert_eq!(help, Ok(Value::from("Adds two numbers.")));
    assert_eq!(
        call(&server, "system.methodHelp", &["another".into()]).await,
        Ok("".into())
    );
    // The `system.*` methods describe themselves too.
    let own = call(
        &server,
        "system.methodSignature",
        &["system.multicall".into()],
    )
    .await;
    assert_eq!(own, Ok(Value::List(vec![strings(&["array", "array"])])));
    for method in ["system.methodSignature", "system.methodHelp"] {
        let fault = call(&server, method, &["nobody".into()]).await;
        assert_eq!(fault, Err((-32601, "no method `nobody`".to_owned())));
        assert_eq!(call(&server, method, &[]).await.unwrap_err().0, -32602);
    }
}

#[tokio::test]
async fn capabilities_are_listed_with_their_specifications() {
    let server = serve(methods());
    let known = call(&server, "system.getCapabilities", &[]).await.unwrap();
    for (name, version) in [
        ("xmlrpc", 1),
        ("introspection", 2),
        ("system.multicall", 1),
        ("nil", 1),
        ("faults_interop", 20_010_516),
    ] {
        assert_eq!(known[name]["specVersion"].as_i64(), Some(version), "{name}");
        let url = known[name]["specUrl"].as_str().unwrap();
        assert!(url.starts_with("http"), "{name}");
    }
}

#[tokio::test]
async fn without_introspection_no_system_method_exists() {
    let server = serve(methods().introspection(false));
    for method in [
        "system.listMethods",
        "system.multicall",
        "system.getCapabilities",
    ] {
        assert_eq!(call(&server, method, &[]).await.unwrap_err().0, -32601);
    }
}

#[tokio::test]
async fn faults_of_unknown_methods_suggest_a_similar_name() {
    let server = serve(methods());
    for asked in ["Sample.Add", "sample_add", "add", "sampleAdd"] {
        let fault = call(&server, asked, &[]).await;
        let text = format!("no method `{asked}`, but `sample.add`");
        assert_eq!(fault, Err((-32601, text)));
    }
    assert_eq!(
        call(&server, "d", &[]).await,
        Err((-32601, "no method `d`".to_owned()))
    );
    // Without introspection, a fault suggests no method name.
    let server = serve(methods().introspection(false));
    assert_eq!(
        call(&server, "add", &[]).await,
        Err((-32601, "no method `add`".to_owned()))
    );
}
