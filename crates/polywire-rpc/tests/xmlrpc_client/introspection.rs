//! Introspection of servers.

use polywire_rpc::xmlrpc::Client;

use crate::support::{Action, ScriptedServer, fault, http, ok};

#[tokio::test]
async fn signatures_in_all_their_forms() {
    let array = |items: &[&str]| {
        let items = items.iter().map(|item| format!("<value>{item}</value>"));
        format!("<array><data>{}</data></array>", items.collect::<String>())
    };
    let one = array(&["int", "string"]);
    let answers = [
        array(&[&one, &array(&["nil"])]),
        one,
        "undef".to_owned(),
        array(&[]),
    ];
    let server = ScriptedServer::start(move |nth, _| ok(&answers[nth])).await;
    let client = Client::new(&server.url()).unwrap();
    let expected = [
        vec![vec!["int", "string"], vec!["nil"]],
        vec![vec!["int", "string"]],
        vec![],
        vec![],
    ];
    for expected in expected {
        assert_eq!(client.method_signatures("m").await.unwrap(), expected);
    }
}

#[tokio::test]
async fn introspection_that_is_not_supported() {
    let unknown = fault(1, "UNKNOWN_METHOD");
    let server =
        ScriptedServer::start(move |_, _| Action::Answer(http("200 OK", "", &unknown))).await;
    let client = Client::new(&server.url()).unwrap();
    let error = client.list_methods().await.unwrap_err();
    assert!(error.xmlrpc_fault().unwrap().is_unknown_method());
    client.method_help("m").await.unwrap_err();
}
