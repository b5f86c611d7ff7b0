//! The generated client calls each operation over each wire.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ledger::ledger::client::{self, Client};
use ledger::ledger::{
    AddEntryError, Entry, GetAccountError, Kind, OpenAccountError, Source, Transfer,
};
use polywire::prelude::*;

/// Each wire, and where on the server it is.
const WIRES: [(ProtocolKind, &str); 4] = [
    (ProtocolKind::RestJson1, ""),
    (ProtocolKind::AwsJson1_1, ""),
    (ProtocolKind::RpcV2Cbor, ""),
    (ProtocolKind::RestXml, "/xml"),
];

/// Calls everything; what came of it.
async fn calls(client: &Client, token: &str) -> (Vec<Entry>, Vec<String>) {
    let open = || {
        let labels = [("for", "r\u{e5}dyr & <elg>")].map(|(k, v)| (k.into(), v.into()));
        let call = client.open_account().owner("Ada").kind(Kind::Savings);
        call.labels(labels.into()).token(token).send()
    };
    let account = open().await.unwrap().account;
    // The same token, the same account.
    assert_eq!(open().await.unwrap().account, account);
    assert_eq!((account.kind.clone(), account.balance), (Kind::Savings, 0));
    assert_eq!(
        account.labels.as_ref().unwrap()["for"],
        "r\u{e5}dyr & <elg>"
    );

    let transfer = Transfer::builder().bank("DNB").build().unwrap();
    let sources = [
        Source::Cash,
        Source::Cheque("17".into()),
        Source::Transfer(transfer),
    ];
    for (second, source) in (0_i64..).zip(sources) {
        let call = client.add_entry().id(account.id.clone()).cents(100);
        let at = Timestamp::new(1_700_000_000 + second, 0);
        let added = call.source(source.clone()).at(at).send().await.unwrap();
        assert_eq!((added.entry.source, added.entry.at), (source, at));
        assert_eq!(added.balance, 100 * (second + 1));
    }
    let got = client.get_account().id(account.id.clone()).send().await;
    assert_eq!(got.unwrap().account.balance, 300);

    let pages = client.list_entries().id(account.id.clone()).page_size(2);
    let entries = pages.into_paginator().items().collect().await.unwrap();

    let mut failures = Vec::new();
    let add = client.add_entry().id(account.id).cents(-301);
    match add.source(Source::Cash).send().await {
        Err(AddEntryError::Overdrawn(error)) => {
            assert_eq!(error.balance, 300);
            failures.push("Overdrawn".to_owned());
        }
        other => panic!("{other:?}"),
    }
    match client.get_account().id("A99").send().await {
        Err(GetAccountError::NoSuchAccount(error)) => {
            assert_eq!(error.id.as_deref(), Some("A99"));
            failures.push(error.message.to_string());
        }
        other => panic!("{other:?}"),
    }
    // The constraints of the model.
    match client.open_account().owner("").send().await {
        Err(OpenAccountError::ValidationException(error)) => {
            failures.push(error.message.to_string());
        }
        other => panic!("{other:?}"),
    }
    (entries, failures)
}

#[tokio::test]
async fn every_wire_says_the_same() {
    let running = ledger::server().unwrap();
    let running = running
        .listen("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
    let mut first = None;
    for (kind, path) in WIRES {
        let url = format!("http://{}{path}", running.address());
        let client = client::connect(&url, kind).unwrap();
        let found = calls(&client, kind.name()).await;
        assert_eq!((found.0.len(), found.1.len()), (3, 3));
        assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "{kind}");
    }
    running.shutdown().await;
}
