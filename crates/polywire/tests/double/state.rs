//! What operations without resources remember, by their names.

use polywire::schema::Value;

use crate::model::MODEL;
use crate::support::{Site, builder, value};

#[tokio::test]
async fn things_are_created_read_changed_and_deleted() {
    let site = Site::start(builder(MODEL)).await;
    let (name, text) = site.error("GetCart", r#"{"CartName":"a"}"#).await;
    assert_eq!((&*name, &*text), ("NoSuchCart", "Cart a does not exist"));

    let new = r#"{"CartName":"a","Colour":"red"}"#;
    let created = site.call("CreateCart", new).await;
    let arn = "arn:aws:shop:us-east-1:123456789012:cart/a";
    assert_eq!(created["CartArn"].as_str(), Some(arn));
    assert_eq!(created["Colour"].as_str(), Some("red"));
    let (name, text) = site.error("CreateCart", new).await;
    assert_eq!((&*name, &*text), ("CartExists", "Cart a exists already"));

    let read = site.call("GetCart", r#"{"CartName":"a"}"#).await;
    let cart = &read["Cart"];
    assert_eq!(cart["CartName"].as_str(), Some("a"));
    assert_eq!(cart["CartArn"].as_str(), Some(arn));
    assert_eq!(cart["CartStatus"].as_str(), Some("ACTIVE"));
    assert!(cart["CreatedAt"].as_timestamp().unwrap().seconds() > 1_700_000_000);
    // Nothing is known of a required member: it has a sample.
    assert_eq!(cart["Weight"].as_i64(), Some(1));

    let updated = r#"{"CartName":"a","Colour":"blue"}"#;
    assert_eq!(
        site.call("UpdateCart", updated).await["Cart"]["Colour"],
        Value::from("blue")
    );
    let read = site.call("GetCart", r#"{"CartName":"a"}"#).await;
    assert_eq!(read["Cart"]["Colour"].as_str(), Some("blue"));

    // Another identifier of the same thing.
    let by_arn = format!(r#"{{"CartArn":"{arn}"}}"#);
    site.call("DeleteCart", &by_arn).await;
    assert_eq!(site.error("DeleteCart", &by_arn).await.0, "NoSuchCart");
    assert_eq!(
        site.error("GetCart", r#"{"CartName":"a"}"#).await.0,
        "NoSuchCart"
    );
}

#[tokio::test]
async fn lists_have_pages_in_the_order_of_identifiers() {
    let site = Site::start(builder(MODEL)).await;
    assert_eq!(site.call("ListCarts", "{}").await["Carts"], value("[]"));
    for name in ["d", "b", "bb", "a", "c"] {
        site.call("CreateCart", &format!(r#"{{"CartName":"{name}"}}"#))
            .await;
    }
    let names = |page: &Value| {
        let carts = page["Carts"].as_list().unwrap().iter();
        let names = carts.map(|cart| cart["CartName"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    // The model allows at most three.
    let first = site.call("ListCarts", "{}").await;
    assert_eq!(names(&first), "a b bb");
    assert_eq!(first["Count"].as_i64(), Some(3));
    assert_eq!(
        first["CartArns"][0].as_str(),
        Some("arn:aws:shop:us-east-1:123456789012:cart/a")
    );
    let token = first["NextToken"].as_str().unwrap();
    let second = format!(r#"{{"NextToken":"{token}"}}"#);
    let second = site.call("ListCarts", &second).await;
    assert_eq!(names(&second), "c d");
    assert!(second["NextToken"].is_null());

    let two = site.call("ListCarts", r#"{"MaxResults":2}"#).await;
    assert_eq!(names(&two), "a b");
    let prefix = site.call("ListCarts", r#"{"CartNamePrefix":"b"}"#).await;
    assert_eq!(names(&prefix), "b bb");
}

/// `GetCartSettings` and `SetCartSettings` read and change a part of a cart.
#[tokio::test]
async fn parts_of_things() {
    let site = Site::start(builder(MODEL)).await;
    let new = r#"{"CartName":"a","Settings":{"x":"1","y":"2"}}"#;
    let url = site.call("CreateCart", new).await["CartUrl"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        url.starts_with("http://127.0.0.1:") && url.ends_with("/a"),
        "{url}"
    );
    let set = format!(r#"{{"CartUrl":"{url}","Settings":{{"y":"3"}}}}"#);
    site.call("SetCartSettings", &set).await;
    // By another name of the host.
    let other = url.replace("127.0.0.1", "localhost");
    let read = site
        .call("GetCartSettings", &format!(r#"{{"CartUrl":"{other}"}}"#))
        .await;
    let arn = "arn:aws:shop:us-east-1:123456789012:cart/a";
    let expected = format!(r#"{{"x":"1","y":"3","CartArn":"{arn}"}}"#);
    assert_eq!(read["Settings"], value(&expected));
}

#[tokio::test]
async fn payloads_have_a_size_and_an_entity_tag() {
    let site = Site::start(builder(MODEL)).await;
    site.call("CreateCart", r#"{"CartName":"a"}"#).await;
    let hello = r#"{"Cart":"a","Key":"k","Kind":"text","Content":"aGVsbG8="}"#;
    let put = polywire::schema::Map::from_iter([
        ("Cart", Value::from("a")),
        ("Key", Value::from("k")),
        ("Kind", Value::from("text")),
        ("Checksum", Value::from("of hello")),
        ("Content", Value::Blob(b"hello".into())),
    ]);
    let output = site.client.call("PutItem", put).await.unwrap();
    let tag = "\"5d41402abc4b2a76b9719d911017c592\"";
    assert_eq!(output["ETag"].as_str(), Some(tag), "{hello}");
    let read = site.call("GetItem", r#"{"Cart":"a","Key":"k"}"#).await;
    assert_eq!(read["Content"].as_blob(), Some(&b"hello"[..]));
    assert_eq!(read["Kind"].as_str(), Some("text"));
    let range = r#"{"Cart":"a","Key":"k","Range":"bytes=1-3"}"#;
    let part = site.call("GetItem", range).await;
    assert_eq!(part["Content"].as_blob(), Some(&b"ell"[..]));
    assert_eq!(part["ContentRange"].as_str(), Some("bytes 1-3/5"));
    assert_eq!(read["Checksum"].as_str(), Some("of hello"));
    assert!(part["Checksum"].is_null(), "the sum of another body");
    let range = r#"{"Cart":"a","Key":"k","Range":"bytes=5-"}"#;
    assert_eq!(site.error("GetItem", range).await.0, "InvalidRange");
    let head = site.call("HeadItem", r#"{"Cart":"a","Key":"k"}"#).await;
    assert_eq!(head["ContentLength"].as_i64(), Some(5));
    let list = site.call("ListItems", r#"{"Cart":"a"}"#).await;
    assert_eq!(list["Items"][0]["Size"].as_i64(), Some(5));
    assert_eq!(list["Items"][0]["ETag"].as_str(), Some(tag));

    assert_eq!(
        site.error("GetItem", r#"{"Cart":"a","Key":"?"}"#).await.0,
        "NoSuchKey"
    );
    assert_eq!(
        site.error("GetItem", r#"{"Cart":"?","Key":"k"}"#).await.0,
        "NoSuchCart"
    );
    assert_eq!(
        site.error("ListItems", r#"{"Cart":"?"}"#).await.0,
        "NoSuchCart"
    );
    let put = r#"{"Cart":"?","Key":"k"}"#;
    assert_eq!(site.error("PutItem", put).await.0, "NoSuchCart");
    // The response to HEAD has no body to name the error.
    assert_eq!(site.request("HEAD", "/carts/a/items/q", "").await.0, 404);
    // An operation without such an error deletes what is not there.
    site.call("DeleteItem", r#"{"Cart":"a","Key":"q"}"#).await;
    // The items of a cart go with it.
    let arn = r#"{"CartArn":"arn:aws:shop:us-east-1:123456789012:cart/a"}"#;
    site.call("DeleteCart", arn).await;
    site.call("CreateCart", r#"{"CartName":"a"}"#).await;
    assert_eq!(
        site.call("ListItems", r#"{"Cart":"a"}"#).await["Items"],
        value("[]")
    );
}

async fn with_items(keys: &[&str]) -> Site {
    let site = Site::start(builder(MODEL)).await;
    site.call("CreateCart", r#"{"CartName":"a"}"#).await;
    for key in keys {
        site.call("PutItem", &format!(r#"{{"Cart":"a","Key":"{key}"}}"#))
            .await;
    }
    site
}

#[tokio::test]
async fn identifiers_are_grouped_by_a_delimiter() {
    let site = with_items(&["b/1", "a", "b/2/x", "b/2/y", "c/1", "d"]).await;
    let list = |input: &'static str| {
        let site = &site;
        async move {
            let list = site.call("ListItemsV2", input).await;
            let names = |list: &Value, name: &str| {
                let items = list.as_list().unwrap().iter();
                let names = items.map(|item| item[name].as_str().unwrap().to_owned());
                names.collect::<Vec<_>>().join(" ")
            };
            let more = list["HasMoreItems"].as_bool().unwrap();
            (
                names(&list["Items"], "Key"),
                names(&list["Prefixes"], "Prefix"),
                more,
            )
        }
    };
    let shows = |keys: &str, groups: &str, more| (keys.to_owned(), groups.to_owned(), more);
    let all = list(r#"{"Cart":"a","Delimiter":"/"}"#).await;
    assert_eq!(all, shows("a d", "b/ c/", false));
    let inner = list(r#"{"Cart":"a","Delimiter":"/","Prefix":"b/"}"#).await;
    assert_eq!(inner, shows("b/1", "b/2/", false));
    // Groups count as items of a page, and are not listed again on the next one.
    let first = list(r#"{"Cart":"a","Delimiter":"/","MaxResults":2}"#).await;
    assert_eq!(first, shows("a", "b/", true));
    let second = list(r#"{"Cart":"a","Delimiter":"/","MaxResults":2,"NextToken":"b/"}"#).await;
    assert_eq!(second, shows("d", "c/", false));
}

#[tokio::test]
async fn several_things_are_deleted() {
    let site = with_items(&["a", "b", "c"]).await;
    let some =
        r#"{"Cart":"a","Delete":{"Objects":[{"Key":"a"},{"Key":"c"},{"Key":"x"},{"Key":"a"}]}}"#;
    let output = site.call("DeleteItems", some).await;
    let deleted = r#"[{"Key":"a"},{"Key":"c"},{"Key":"x"},{"Key":"a"}]"#;
    assert_eq!(output["Deleted"], value(deleted));
    assert!(output["Errors"].is_null());
    let left = site.call("ListItems", r#"{"Cart":"a"}"#).await;
    assert_eq!(left["Items"].as_list().unwrap().len(), 1);
    assert_eq!(left["Items"][0]["Key"].as_str(), Some("b"));
}

#[tokio::test]
async fn things_are_copied() {
    let site = with_items(&[]).await;
    let item = polywire::schema::Map::from_iter([
        ("Cart", Value::from("a")),
        ("Key", Value::from("x y")),
        ("Kind", Value::from("text")),
        ("Content", Value::Blob(b"hello".into())),
    ]);
    let tag = site.client.call("PutItem", item).await.unwrap()["ETag"].clone();
    let copy = r#"{"Cart":"a","Key":"copy","CopySource":"/a/x%20y"}"#;
    let output = site.call("CopyItem", copy).await;
    assert_eq!(output["CopyItemResult"]["ETag"], tag);
    let read = site.call("GetItem", r#"{"Cart":"a","Key":"copy"}"#).await;
    assert_eq!(read["Content"].as_blob(), Some(&b"hello"[..]));
    assert_eq!(read["Kind"].as_str(), Some("text"));
    let copy = r#"{"Cart":"a","Key":"copy","CopySource":"a/?"}"#;
    assert_eq!(site.error("CopyItem", copy).await.0, "NoSuchKey");
}

#[tokio::test]
async fn identifiers_are_generated() {
    let site = Site::start(builder(MODEL)).await;
    let mut ids = Vec::new();
    for amount in [7, 8] {
        let new = format!(r#"{{"Amount":{amount}}}"#);
        let id = site.call("CreateOrder", &new).await["OrderId"].clone();
        let read = format!(r#"{{"OrderId":"{}"}}"#, id.as_str().unwrap());
        let read = site.call("DescribeOrder", &read).await;
        assert_eq!(read["Order"]["Amount"].as_i64(), Some(amount));
        assert_eq!(read["Order"]["OrderId"], id);
        ids.push(id);
    }
    assert_ne!(ids[0], ids[1]);
    let all = site.call("DescribeOrders", "{}").await;
    let all = all["Orders"].as_list().unwrap().iter();
    assert_eq!(
        all.map(|order| order["OrderId"].clone())
            .collect::<Vec<_>>(),
        ids
    );
    // `DescribeOrder` has no error for orders that do not exist: the mock answers.
    let unknown = site.call("DescribeOrder", r#"{"OrderId":"?"}"#).await;
    assert_eq!(unknown["Order"]["OrderId"].as_str(), Some("string"));
}

#[tokio::test]
async fn the_mock_answers_what_is_not_remembered() {
    let site = Site::start(builder(MODEL)).await;
    assert_eq!(
        site.call("GetReport", "{}").await["Text"].as_str(),
        Some("an example")
    );
    // A required member of the same name is echoed.
    assert_eq!(
        site.call("PutNote", r#"{"Name":"n"}"#).await["Name"].as_str(),
        Some("n")
    );
    let explained = site.double.explain();
    assert!(
        explained.contains("no operation reads, lists or deletes Note"),
        "{explained}"
    );
    assert!(explained.contains("Item, by cart, key\n"), "{explained}");

    let site = Site::start(builder(MODEL).stateless(true)).await;
    let read = site.call("GetCart", r#"{"CartName":"a"}"#).await;
    assert_eq!(read["Cart"]["CartName"].as_str(), Some("example"));
}

/// An example answers its very input while nothing else is known of it.
#[tokio::test]
async fn examples_answer_until_something_is_remembered() {
    let site = Site::start(builder(MODEL)).await;
    let own = r#"{"CartName":"example"}"#;
    assert_eq!(
        site.call("GetCart", own).await["Cart"]["Weight"].as_i64(),
        Some(9)
    );
    let items = site.call("ListItems", r#"{"Cart":"example"}"#).await;
    assert_eq!(items["Items"][0]["Key"].as_str(), Some("example"));
    site.call("CreateCart", own).await;
    assert_eq!(
        site.call("GetCart", own).await["Cart"]["Weight"].as_i64(),
        Some(1)
    );
    site.call("PutItem", r#"{"Cart":"example","Key":"k"}"#)
        .await;
    let items = site.call("ListItems", r#"{"Cart":"example"}"#).await;
    assert_eq!(items["Items"][0]["Key"].as_str(), Some("k"));
}

#[tokio::test]
async fn the_memory_is_bounded() {
    let site = Site::start(builder(MODEL).state_bytes(1_000)).await;
    let mut full = None;
    for name in 0..10 {
        let new = format!(r#"{{"CartName":"{name}","Colour":"{}"}}"#, "x".repeat(100));
        if let Err(error) = site.try_call("CreateCart", &new).await {
            full = Some(error.to_string());
            break;
        }
    }
    let full = full.unwrap();
    assert!(full.contains("at most 1000 bytes"), "{full}");
    // What is there can go.
    let arn = r#"{"CartArn":"arn:aws:shop:us-east-1:123456789012:cart/0"}"#;
    site.call("DeleteCart", arn).await;
    site.call("CreateCart", r#"{"CartName":"new"}"#).await;
}
