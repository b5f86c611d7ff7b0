//! Build errors of servers with named methods.

use polywire_rpc::methods::MethodsError;
use polywire_rpc::server::BuildError;
use polywire_rpc::{Methods, Server};
use polywire_schema::Value;

use crate::support::{post, read, serve};

fn build_error(methods: Methods) -> MethodsError {
    match Server::methods(methods).build() {
        Err(BuildError::Methods(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_methods_are_a_build_error() {
    let one = || Methods::new().method("one", |(): ()| async { 1 });
    let twice = build_error(one().method("one", |(): ()| async { 2 }));
    assert_eq!(twice, MethodsError::Duplicate("one".to_owned()));
    let unknown = build_error(one().help("two", "?"));
    assert_eq!(unknown, MethodsError::Unknown("two".to_owned()));
    assert_eq!(
        build_error(one().path("RPC2")),
        MethodsError::Path("RPC2".to_owned())
    );
    for name in ["", " a", "a\n"] {
        let error = build_error(Methods::new().method(name, |(): ()| async { 1 }));
        assert_eq!(error, MethodsError::Name(name.to_owned()));
    }
    let system = one().method("system.multicall", |(): ()| async {});
    let twice = build_error(system.introspection(true));
    assert_eq!(
        twice,
        MethodsError::Duplicate("system.multicall".to_owned())
    );
}

/// serde can serialize such a `Result` as a map with the key `Ok` or `Err`. This is never
/// intended, so the build fails.
#[test]
fn a_result_whose_error_is_no_fault_is_a_build_error() {
    let methods = Methods::new().method("one", |(): ()| async { Err::<i32, String>("no".into()) });
    let text = build_error(methods).to_string();
    assert!(text.contains("`one`") && text.contains("Fault"), "{text}");
    let methods = Methods::new().blocking("one", |(): ()| Ok::<i32, String>(1));
    assert!(matches!(build_error(methods), MethodsError::NotAFault(..)));
}

#[tokio::test]
async fn calls_are_served_at_the_configured_path() {
    let methods = Methods::new().method("one", |(): ()| async { 1 });
    let server = serve(methods.path("/xmlrpc.php"));
    let body = polywire_codec::xmlrpc::write_call("one", &[]).unwrap();
    assert_eq!(
        read(&post(&server, "/xmlrpc.php", body.clone()).await),
        Ok(Value::from(1))
    );
    // A call to another path gets an XML-RPC fault that names the configured path.
    let (code, text) = read(&post(&server, "/RPC2", body).await).unwrap_err();
    assert_eq!(code, -32601);
    assert!(text.contains("/xmlrpc.php"), "{text}");
}
