//! The client of docs/codegen.md, over every wire; and that the page shows what
//! is in these files.

use super::*;

const DOCUMENT: &str = include_str!("../../../docs/codegen.md");

async fn calls(url: &str, protocol: ProtocolKind) -> Result<(), Box<dyn std::error::Error>> {
    let client = parcels::client::connect(url, protocol)?;

    let sent = client.send_parcel().to("Ada").grams(250).send().await?;
    println!("{} is {}", sent.parcel.id, sent.parcel.state);

    match client.get_parcel().id("99").send().await {
        Ok(output) => println!("{:?}", output.parcel),
        Err(GetParcelError::NoSuchParcel(error)) => println!("{error}"),
        Err(other) => return Err(other.into()),
    }

    let mut parcels = client.list_parcels().into_paginator().items();
    while let Some(parcel) = parcels.next().await {
        println!("{}", parcel?.to);
    }

    // What the model does not allow, the server refuses.
    let heavy = client.send_parcel().to("Ada").grams(1_000_000).send().await;
    assert!(heavy.is_err());
    assert_eq!(sent.parcel.state, State::OnItsWay);
    let lost = client.get_parcel().id("99").send().await;
    assert!(matches!(lost, Err(GetParcelError::NoSuchParcel(_))));
    for _ in 0..4 {
        client.send_parcel().to("Bob").grams(1).send().await?;
    }
    let all = client.list_parcels().into_paginator().items().collect();
    assert_eq!(all.await?.len(), 5);
    Ok(())
}

#[tokio::test]
async fn every_wire_carries_the_service() {
    for protocol in [
        ProtocolKind::RestJson1,
        ProtocolKind::AwsJson1_0,
        ProtocolKind::RpcV2Cbor,
        ProtocolKind::XmlRpc,
    ] {
        let server = parcels::server::builder(Office::default()).build().unwrap();
        let server = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}", server.address());
        if let Err(error) = calls(&url, protocol).await {
            panic!("{protocol}: {error}");
        }
        server.shutdown().await;
    }
}

/// The lines of a text without what lays them out.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_page_shows_this_example() {
    let files = [
        include_str!("main.rs"),
        include_str!("tests.rs"),
        include_str!("../build.rs"),
        include_str!("../model/parcels.smithy"),
    ]
    .map(lines);
    let mut count = 0;
    let mut rest = DOCUMENT;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (info, after) = after.split_once('\n').unwrap();
        let (block, after) = after.split_once("\n```").unwrap();
        rest = after;
        if !["rust", "smithy"].contains(&info) {
            continue;
        }
        count += 1;
        let block = lines(block);
        // `...` stands for what is left out.
        for part in block.split(|line| *line == "// ...") {
            let is_there = |file: &Vec<&str>| file.windows(part.len()).any(|lines| lines == part);
            assert!(files.iter().any(is_there), "not in the example: {part:#?}");
        }
    }
    assert!(count >= 6, "{count} blocks");
}
