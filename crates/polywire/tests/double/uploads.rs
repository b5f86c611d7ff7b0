//! Uploads in parts.

use polywire::schema::{Map, Value};

use crate::model::MODEL;
use crate::support::{Site, builder, value};

async fn upload(site: &Site) -> String {
    let new = r#"{"Cart":"a","Key":"k","Kind":"text"}"#;
    let id = site.call("CreateUpload", new).await["UploadId"].clone();
    id.as_str().unwrap().to_owned()
}

async fn put(site: &Site, id: &str, number: i64, content: &str) -> Value {
    let part = Map::from_iter([
        ("Cart", Value::from("a")),
        ("Key", Value::from("k")),
        ("UploadId", Value::from(id)),
        ("PartNumber", Value::Integer(number)),
        ("Content", Value::Blob(content.as_bytes().into())),
    ]);
    Value::Map(
        site.client
            .call("UploadPart", part)
            .await
            .unwrap()
            .as_map()
            .unwrap()
            .clone(),
    )
}

#[tokio::test]
async fn parts_become_a_thing_in_the_order_of_their_numbers() {
    let site = Site::start(builder(MODEL)).await;
    site.call("CreateCart", r#"{"CartName":"a"}"#).await;
    let id = upload(&site).await;
    let other = upload(&site).await;
    put(&site, &other, 1, "other").await;
    for (number, content) in [(10, "c"), (2, "b"), (1, "x"), (1, "a"), (11, "unlisted")] {
        put(&site, &id, number, content).await;
    }
    let own = format!(r#"{{"Cart":"a","Key":"k","UploadId":"{id}"}}"#);
    let parts = site.call("ListParts", &own).await;
    assert_eq!(parts["Parts"].as_list().unwrap().len(), 4);

    let complete = |parts: &str| {
        format!(r#"{{"Cart":"a","Key":"k","UploadId":"{id}","Upload":{{"Parts":{parts}}}}}"#)
    };
    let missing = complete(r#"[{"PartNumber":1},{"PartNumber":3}]"#);
    let (name, text) = site.error("CompleteUpload", &missing).await;
    assert_eq!(
        (&*name, &*text),
        ("ValidationException", "Part 3 does not exist")
    );
    let listed = complete(r#"[{"PartNumber":1},{"PartNumber":2},{"PartNumber":10}]"#);
    let done = site.call("CompleteUpload", &listed).await;
    // The MD5 sum of `abc`.
    assert_eq!(
        done["ETag"].as_str(),
        Some("\"900150983cd24fb0d6963f7d28e17f72\"")
    );
    let item = site.call("GetItem", r#"{"Cart":"a","Key":"k"}"#).await;
    assert_eq!(item["Content"].as_blob(), Some(&b"abc"[..]));
    assert_eq!(item["Kind"].as_str(), Some("text"));

    // The upload is over, and its parts are gone.
    assert_eq!(
        site.error("CompleteUpload", &listed).await.0,
        "NoSuchUpload"
    );
    assert_eq!(site.call("ListParts", &own).await["Parts"], value("[]"));
    let uploads = site.call("ListUploads", r#"{"Cart":"a"}"#).await;
    assert_eq!(uploads["Uploads"].as_list().unwrap().len(), 1);
    let abort = format!(r#"{{"Cart":"a","Key":"k","UploadId":"{other}"}}"#);
    site.call("AbortUpload", &abort).await;
    assert_eq!(site.error("AbortUpload", &abort).await.0, "NoSuchUpload");
    let dump = site.page("GET", "state", "").await.1;
    assert!(dump["example#Shop"]["Part"].is_null(), "{dump:?}");
}

#[tokio::test]
async fn parts_need_their_upload() {
    let site = Site::start(builder(MODEL)).await;
    site.call("CreateCart", r#"{"CartName":"a"}"#).await;
    let part = r#"{"Cart":"a","Key":"k","UploadId":"?","PartNumber":1}"#;
    assert_eq!(site.error("UploadPart", part).await.0, "NoSuchUpload");
}
