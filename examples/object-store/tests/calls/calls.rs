//! The generated client calls each operation over HTTP.

use object_store::s3::client::{self, Client};
use object_store::s3::{
    CompletedMultipartUpload, CompletedPart, CreateBucketError, Delete, GetObjectError,
    MetadataDirective, ObjectIdentifier,
};
use object_store::{Settings, server};
use polywire::prelude::*;
use polywire::rpc::RunningServer;
use tempfile::TempDir;

/// A running store in a directory that is removed on drop.
pub(crate) struct Running {
    server: RunningServer,
    data: TempDir,
}

impl Running {
    pub(crate) async fn shutdown(self) {
        self.server.shutdown().await;
        drop(self.data);
    }
}

pub(crate) async fn start() -> (Running, Client) {
    start_with(|settings| settings.part = 4).await
}

async fn start_with(change: impl FnOnce(&mut Settings)) -> (Running, Client) {
    let data = tempfile::tempdir().unwrap();
    let mut settings = Settings::new(data.path());
    change(&mut settings);
    let server = server(settings).unwrap();
    let server = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}", server.address());
    let client = client::connect(&url, ProtocolKind::RestXml).unwrap();
    client.create_bucket().bucket("bkt").send().await.unwrap();
    (Running { server, data }, client)
}

pub(crate) async fn put(client: &Client, key: &str, body: &[u8]) -> Text {
    let call = client.put_object().bucket("bkt").key(key).body(body);
    call.send().await.unwrap().etag.unwrap()
}

#[tokio::test]
async fn buckets() {
    let (running, client) = start().await;
    let again = client.create_bucket().bucket("bkt").send().await;
    assert!(matches!(
        again,
        Err(CreateBucketError::BucketAlreadyOwnedByYou(_))
    ));
    client.head_bucket().bucket("bkt").send().await.unwrap();
    let listed = client.list_buckets().send().await.unwrap();
    assert_eq!(listed.buckets.unwrap()[0].name.as_deref(), Some("bkt"));
    let location = client.get_bucket_location().bucket("bkt").send().await;
    // S3 says that there is none with an element that is empty.
    let location = location.unwrap().location_constraint;
    assert!(location.is_none_or(|location| location.as_str().is_empty()));
    client.delete_bucket().bucket("bkt").send().await.unwrap();
    assert!(client.head_bucket().bucket("bkt").send().await.is_err());
    running.shutdown().await;
}

#[tokio::test]
async fn objects() {
    let (running, client) = start().await;
    let tag = put(&client, "a b//c", b"0123456789").await;
    assert_eq!(tag, "\"781e5e245d69b566979b86e28d23f2c7\"");
    let got = client.get_object().bucket("bkt").key("a b//c");
    let got = got.range("bytes=2-4").send().await.unwrap();
    assert_eq!(got.body.collect(100).await.unwrap().as_bytes(), b"234");
    assert_eq!(got.content_range.as_deref(), Some("bytes 2-4/10"));
    let metadata = [("m", "n")].map(|(name, value)| (name.into(), value.into()));
    let copy = client.copy_object().bucket("bkt").key("copy");
    let copy = copy.copy_source("bkt/a%20b//c").metadata(metadata.into());
    let copy = copy.metadata_directive(MetadataDirective::Replace);
    let result = copy.send().await.unwrap().copy_object_result.unwrap();
    assert_eq!(result.etag, Some(tag));
    let head = client.head_object().bucket("bkt").key("copy").send().await;
    let head = head.unwrap();
    assert_eq!(head.content_length, Some(10));
    assert_eq!(head.metadata.unwrap()["m"], "n");
    let listed = client.list_objects_v2().bucket("bkt").delimiter("/");
    let listed = listed.send().await.unwrap();
    assert_eq!(listed.contents.unwrap().len(), 1);
    let prefixes = listed.common_prefixes.unwrap();
    assert_eq!(prefixes[0].prefix.as_deref(), Some("a b/"));
    let mut pages = client
        .list_objects_v2()
        .bucket("bkt")
        .max_keys(1)
        .into_paginator();
    let mut keys = Vec::new();
    while let Some(page) = pages.next().await {
        let contents = page.unwrap().contents.unwrap_or_default();
        keys.extend(contents.into_iter().filter_map(|object| object.key));
    }
    assert_eq!(keys, ["a b//c", "copy"]);
    let first = client
        .list_objects()
        .bucket("bkt")
        .delimiter("/")
        .max_keys(1);
    let first = first.send().await.unwrap();
    assert_eq!(first.is_truncated, Some(true));
    let marker = first.next_marker.unwrap();
    assert_eq!(marker, "a b/");
    let second = client.list_objects().bucket("bkt").delimiter("/");
    let second = second.marker(marker).send().await.unwrap();
    assert_eq!(second.is_truncated, Some(false));
    assert_eq!(second.contents.unwrap()[0].key.as_deref(), Some("copy"));
    assert_eq!(second.common_prefixes.unwrap_or_default().len(), 0);
    let delete = client.delete_object().bucket("bkt").key("a b//c");
    delete.send().await.unwrap();
    let objects = vec![ObjectIdentifier::builder().key("copy").build().unwrap()];
    let delete = Delete::builder().objects(objects).build().unwrap();
    let deleted = client.delete_objects().bucket("bkt").delete(delete);
    assert_eq!(deleted.send().await.unwrap().deleted.unwrap().len(), 1);
    let gone = client.get_object().bucket("bkt").key("copy").send().await;
    assert!(matches!(gone, Err(GetObjectError::NoSuchKey(_))));
    running.shutdown().await;
}

#[tokio::test]
async fn uploads_in_parts() {
    let (running, client) = start().await;
    let begun = client.create_multipart_upload().bucket("bkt").key("k");
    let id = begun.send().await.unwrap().upload_id.unwrap();
    let mut parts = Vec::new();
    for (number, body) in [(1, "1234"), (2, "5")] {
        let part = client.upload_part().bucket("bkt").key("k");
        let part = part.upload_id(id.clone()).part_number(number);
        let tag = part.body(body.as_bytes()).send().await.unwrap().etag;
        let part = CompletedPart::builder().part_number(number);
        parts.push(part.etag(tag.unwrap()).build());
    }
    let listed = client.list_parts().bucket("bkt").key("k");
    let listed = listed.upload_id(id.clone()).send().await.unwrap();
    assert_eq!(listed.parts.unwrap().len(), 2);
    let uploads = client.list_multipart_uploads().bucket("bkt").send().await;
    assert_eq!(uploads.unwrap().uploads.unwrap().len(), 1);
    let upload = CompletedMultipartUpload::builder().parts(parts).build();
    let done = client.complete_multipart_upload().bucket("bkt").key("k");
    let done = done.upload_id(id.clone()).multipart_upload(upload);
    assert!(done.send().await.unwrap().etag.unwrap().ends_with("-2\""));
    let got = client.get_object().bucket("bkt").key("k").send().await;
    assert_eq!(
        got.unwrap().body.collect(100).await.unwrap().as_bytes(),
        b"12345"
    );
    // It is done, so there is nothing to abort: an error that only S3 names.
    let abort = client.abort_multipart_upload().bucket("bkt").key("k");
    let error = abort.upload_id(id).send().await.unwrap_err();
    assert!(error.to_string().contains("NoSuchUpload"), "{error}");
    running.shutdown().await;
}

/// What is sent as it is: the status and the body of the answer.
async fn send(running: &Running, line: &str, headers: &str, body: &str) -> (String, String) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(running.server.address())
        .await
        .unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.get(9..12).unwrap_or_default().to_owned();
    (status, answer)
}

/// A request for another operation is not taken for one that the store has.
#[tokio::test]
async fn operations_that_are_not_there() {
    let (running, client) = start().await;
    put(&client, "k", b"x").await;
    for line in [
        "GET /bkt?session",
        "GET /bkt?strange",
        "GET /bkt?x-id=A&%63ors=",
        "PUT /bkt?policy",
        "PUT /bkt/k?acl",
        "DELETE /bkt?strange=",
        "DELETE /bkt/k?acl",
        "POST /bkt/k?restore",
    ] {
        let (status, answer) = send(&running, line, "", "").await;
        assert_eq!(status, "501", "{line}: {answer}");
        assert!(answer.contains("<Code>NotImplemented</Code>"), "{line}");
    }
    for line in [
        "GET /bkt",
        "GET /bkt?list-type=2&prefix=acl&delimiter=",
        "GET /bkt?marker=&max-keys=1&x-id=ListObjects&X-Amz-Signature=0",
        "GET /bkt?location",
        "GET /bkt?uploads",
        "GET /bkt/k?%zz",
        "DELETE /bkt/k?x-id=DeleteObject",
    ] {
        let (status, answer) = send(&running, line, "", "").await;
        assert_eq!(&status[..1], "2", "{line}: {answer}");
    }
    running.shutdown().await;
}

/// Some clients send the header of an access list without a value.
#[tokio::test]
async fn an_empty_access_list() {
    let (running, _client) = start().await;
    for line in ["PUT /bkt/k", "PUT /other"] {
        let (status, answer) = send(&running, line, "x-amz-acl:\r\n", "").await;
        assert_eq!(status, "200", "{line}: {answer}");
    }
    let (status, _) = send(&running, "PUT /bkt/k", "x-amz-acl: strange\r\n", "").await;
    assert_eq!(status, "400");
    running.shutdown().await;
}

#[tokio::test]
async fn a_body_that_is_too_large() {
    let (running, client) = start_with(|settings| settings.put = 1 << 20).await;
    let body = vec![0; 2 << 20];
    let put = client.put_object().bucket("bkt").key("k").body(body);
    let error = put.send().await.unwrap_err().to_string();
    assert!(error.contains("EntityTooLarge"), "{error}");
    running.shutdown().await;
}

/// Errors of the server itself have S3's codes and documents.
#[tokio::test]
async fn errors_that_are_not_of_the_store() {
    let (running, client) = start().await;
    put(&client, "k", b"x").await;
    let xml = "content-type: application/xml\r\n";
    for (line, headers, body, status, code) in [
        ("GET /bkt?max-keys=x", "", "", "400", "InvalidArgument"),
        ("GET /bkt/k?partNumber=x", "", "", "400", "InvalidArgument"),
        (
            "GET /bkt?list-type=2&encoding-type=x",
            "",
            "",
            "400",
            "InvalidArgument",
        ),
        (
            "PUT /bkt/k",
            "x-amz-acl: strange\r\n",
            "",
            "400",
            "InvalidArgument",
        ),
        (
            "POST /bkt?delete",
            xml,
            "<Delete><Obj",
            "400",
            "MalformedXML",
        ),
        ("POST /bkt?delete", xml, "", "400", "MalformedXML"),
        (
            "POST /bkt?delete",
            xml,
            "<Delete></Delete>",
            "400",
            "MalformedXML",
        ),
        (
            "POST /bkt?delete",
            "content-type: application/x-www-form-urlencoded\r\n",
            "<Delete></Delete>",
            "400",
            "MalformedXML",
        ),
        ("PATCH /bkt/k", "", "", "405", "MethodNotAllowed"),
        ("GET /bkt/none", "", "", "404", "NoSuchKey"),
    ] {
        let (found, answer) = send(&running, line, headers, body).await;
        assert_eq!(found, status, "{line}: {answer}");
        let path = line.split([' ', '?']).nth(1).unwrap();
        for part in [
            format!("<Error><Code>{code}</Code>"),
            format!("<Resource>{path}</Resource><RequestId>"),
        ] {
            assert!(answer.contains(&part), "{line}: {answer}");
        }
    }
    running.shutdown().await;
}
