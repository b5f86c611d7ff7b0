//! Versions, tags and conditions by the generated client.

use std::fmt::Display;

use object_store::s3::client::Client;
use object_store::s3::{
    BucketVersioningStatus, Delete, ObjectIdentifier, Tag, Tagging, VersioningConfiguration,
};
use polywire::prelude::*;

use super::calls::{put, start};

async fn set_versioning(client: &Client, status: BucketVersioningStatus) {
    let configuration = VersioningConfiguration::builder().status(status).build();
    let call = client.put_bucket_versioning().bucket("bkt");
    let call = call.versioning_configuration(configuration);
    call.send().await.unwrap();
}

async fn read(client: &Client, id: Option<&Text>) -> Result<Vec<u8>, String> {
    let mut call = client.get_object().bucket("bkt").key("k");
    if let Some(id) = id {
        call = call.version_id(id.clone());
    }
    let got = call.send().await.map_err(|error| error.to_string())?;
    Ok(got.body.collect(1 << 20).await.unwrap().as_bytes().to_vec())
}

/// The ids of all versions and delete markers of all pages, and whether they are the newest.
async fn ids(client: &Client, size: i32) -> Vec<(Text, bool)> {
    let mut ids = Vec::new();
    let (mut key, mut id): (Option<Text>, Option<Text>) = (None, None);
    loop {
        let mut call = client.list_object_versions().bucket("bkt").max_keys(size);
        if let Some(key) = key.take() {
            call = call.key_marker(key);
        }
        if let Some(id) = id.take() {
            call = call.version_id_marker(id);
        }
        let page = call.send().await.unwrap();
        let versions = page.versions.unwrap_or_default().into_iter();
        let versions = versions.map(|version| (version.version_id, version.is_latest));
        let markers = page.delete_markers.unwrap_or_default().into_iter();
        let markers = markers.map(|marker| (marker.version_id, marker.is_latest));
        let entries = versions.chain(markers);
        ids.extend(entries.map(|(id, is_latest)| (id.unwrap(), is_latest == Some(true))));
        if page.is_truncated != Some(true) {
            break;
        }
        (key, id) = (page.next_key_marker, page.next_version_id_marker);
    }
    ids.sort();
    ids
}

fn is(result: Result<impl Sized, impl Display>, code: &str) {
    let error = result.err().unwrap().to_string();
    assert!(error.contains(code), "{error} is not {code}");
}

#[tokio::test]
async fn versions() {
    let (running, client) = start().await;
    put(&client, "k", b"null").await;
    set_versioning(&client, BucketVersioningStatus::Enabled).await;
    let mut stored = Vec::new();
    for body in [b"one".to_vec(), vec![2; 100_000]] {
        let call = client.put_object().bucket("bkt").key("k").body(body);
        stored.push(call.send().await.unwrap().version_id.unwrap());
    }
    let null = Text::from("null");
    assert_eq!(read(&client, None).await.unwrap(), vec![2; 100_000]);
    assert_eq!(read(&client, Some(&stored[0])).await.unwrap(), b"one");
    assert_eq!(read(&client, Some(&null)).await.unwrap(), b"null");

    let deleted = client
        .delete_object()
        .bucket("bkt")
        .key("k")
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.delete_marker, Some(true));
    let marker = deleted.version_id.unwrap();
    is(read(&client, None).await, "NoSuchKey");
    is(read(&client, Some(&marker)).await, "MethodNotAllowed");
    let mut expected = vec![
        (marker.clone(), true),
        (stored[0].clone(), false),
        (stored[1].clone(), false),
        (null.clone(), false),
    ];
    expected.sort();
    for size in 1..6 {
        assert_eq!(ids(&client, size).await, expected, "{size}");
    }

    // Without its marker, the object is there again.
    let delete = |id: &Text| {
        client
            .delete_object()
            .bucket("bkt")
            .key("k")
            .version_id(id.clone())
    };
    delete(&marker).send().await.unwrap();
    delete(&stored[1]).send().await.unwrap();
    assert_eq!(read(&client, None).await.unwrap(), b"one");
    is(read(&client, Some(&stored[1])).await, "NoSuchVersion");

    // A suspended bucket replaces only `null`.
    set_versioning(&client, BucketVersioningStatus::Suspended).await;
    put(&client, "k", b"new").await;
    let mut expected = vec![(null.clone(), true), (stored[0].clone(), false)];
    expected.sort();
    assert_eq!(ids(&client, 9).await, expected);
    is(
        client.delete_bucket().bucket("bkt").send().await,
        "BucketNotEmpty",
    );
    let objects = [null, stored[0].clone()].map(|id| {
        ObjectIdentifier::builder()
            .key("k")
            .version_id(id)
            .build()
            .unwrap()
    });
    let delete = Delete::builder().objects(objects.to_vec()).build().unwrap();
    let call = client.delete_objects().bucket("bkt").delete(delete);
    assert_eq!(call.send().await.unwrap().deleted.unwrap().len(), 2);
    client.delete_bucket().bucket("bkt").send().await.unwrap();
    running.shutdown().await;
}

#[tokio::test]
async fn tags_of_objects() {
    let (running, client) = start().await;
    let call = client
        .put_object()
        .bucket("bkt")
        .key("k")
        .body("x")
        .tagging("a=b&c%20d=e");
    call.send().await.unwrap();
    let tags = async || {
        let tagging = client
            .get_object_tagging()
            .bucket("bkt")
            .key("k")
            .send()
            .await
            .unwrap();
        let pair = |tag: Tag| (tag.key.to_string(), tag.value.to_string());
        tagging.tag_set.into_iter().map(pair).collect::<Vec<_>>()
    };
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(tags().await, [pair("a", "b"), pair("c d", "e")]);
    let tag = Tag::builder().key("x").value("y").build().unwrap();
    let set = async |tags: Vec<Tag>| {
        let tagging = Tagging::builder().tag_set(tags).build().unwrap();
        client
            .put_object_tagging()
            .bucket("bkt")
            .key("k")
            .tagging(tagging)
            .send()
            .await
    };
    set(vec![tag.clone()]).await.unwrap();
    assert_eq!(tags().await, [pair("x", "y")]);
    is(set(vec![tag.clone(), tag.clone()]).await, "InvalidTag");
    is(set(vec![tag; 11]).await, "BadRequest");
    client
        .copy_object()
        .bucket("bkt")
        .key("l")
        .copy_source("bkt/k")
        .send()
        .await
        .unwrap();
    let got = client
        .get_object()
        .bucket("bkt")
        .key("l")
        .send()
        .await
        .unwrap();
    assert_eq!(got.tag_count, Some(1));
    client
        .delete_object_tagging()
        .bucket("bkt")
        .key("k")
        .send()
        .await
        .unwrap();
    assert_eq!(tags().await, []);
    running.shutdown().await;
}

#[tokio::test]
async fn conditions() {
    let (running, client) = start().await;
    let tag = put(&client, "k", b"one").await;
    let write = || client.put_object().bucket("bkt").key("k").body("two");
    is(
        write().if_none_match("*").send().await,
        "PreconditionFailed",
    );
    is(write().if_match("\"x\"").send().await, "PreconditionFailed");
    is(
        write().key("none").if_match("\"x\"").send().await,
        "NoSuchKey",
    );
    write().if_match(tag.clone()).send().await.unwrap();
    assert_eq!(read(&client, None).await.unwrap(), b"two");
    let delete = client
        .delete_object()
        .bucket("bkt")
        .key("k")
        .if_match(tag.clone());
    is(delete.send().await, "PreconditionFailed");
    let copy = client
        .copy_object()
        .bucket("bkt")
        .key("l")
        .copy_source("bkt/k");
    is(
        copy.copy_source_if_match(tag).send().await,
        "PreconditionFailed",
    );
    running.shutdown().await;
}

/// Of many writes to a key that must not exist, one succeeds.
#[tokio::test]
async fn one_of_concurrent_writes_creates_the_object() {
    let (running, client) = start().await;
    let writes: Vec<_> = (0..20)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let body = vec![number; 10_000];
                let call = client.put_object().bucket("bkt").key("k").body(body);
                call.if_none_match("*").send().await.is_ok()
            })
        })
        .collect();
    let mut created = Vec::new();
    for (number, write) in writes.into_iter().enumerate() {
        if write.await.unwrap() {
            created.push(u8::try_from(number).unwrap());
        }
    }
    assert_eq!(created.len(), 1);
    assert_eq!(read(&client, None).await.unwrap(), vec![created[0]; 10_000]);
    running.shutdown().await;
}
