//! State in a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use polywire::double::{DoubleBuilder, StateFile};

use crate::model::MODEL;
use crate::support::{Site, builder};

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("polywire-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn with_file(model: &str, path: &Path) -> DoubleBuilder {
    let file = Arc::new(StateFile::open(path).unwrap());
    let things = file.things("example#Shop").unwrap();
    builder(model)
        .journal(file, things)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn a_file_keeps_the_state() {
    let folder = Folder::new("state-file");
    let path = folder.0.join("state");
    let site = Site::start(with_file(MODEL, &path)).await;
    for name in ["a", "b"] {
        site.call("CreateCart", &format!(r#"{{"CartName":"{name}"}}"#))
            .await;
    }
    let id = site.call("CreateOrder", r#"{"Amount":7}"#).await["OrderId"].clone();
    site.call("UpdateCart", r#"{"CartName":"b","Colour":"blue"}"#)
        .await;
    site.call(
        "DeleteCart",
        r#"{"CartArn":"arn:aws:shop:us-east-1:123456789012:cart/a"}"#,
    )
    .await;
    let dump = site.page("GET", "state", "").await.1;
    // Another program cannot use it meanwhile.
    let error = StateFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("another program uses this file"), "{error}");
    site.running.shutdown().await;
    drop((site.client, site.double));

    let site = Site::start(with_file(MODEL, &path)).await;
    assert_eq!(site.page("GET", "state", "").await.1, dump);
    assert_eq!(
        site.error("GetCart", r#"{"CartName":"a"}"#).await.0,
        "NoSuchCart"
    );
    let read = site.call("GetCart", r#"{"CartName":"b"}"#).await;
    assert_eq!(read["Cart"]["Colour"].as_str(), Some("blue"));
    assert_ne!(site.call("CreateOrder", "{}").await["OrderId"], id);
    site.page("DELETE", "state", "").await;
    site.running.shutdown().await;
    drop((site.client, site.double));

    let file = StateFile::open(&path).unwrap();
    assert_eq!(file.things("example#Shop").unwrap(), []);
}

#[test]
fn other_files_are_rejected() {
    let folder = Folder::new("other-file");
    let path = folder.0.join("state");
    std::fs::write(&path, "not a database").unwrap();
    assert!(StateFile::open(&path).is_err());
    // What an older model identified otherwise.
    let things = [("Cart", r#"{"identity":[]}"#)];
    let journal = Arc::new(StateFile::open(&folder.0.join("new")).unwrap());
    let error = builder(MODEL)
        .journal(journal, things)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "Cart: expected `identity`: [name]");
}
