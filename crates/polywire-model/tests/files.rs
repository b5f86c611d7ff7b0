//! Files and folders on the disk.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::fs;
use std::path::PathBuf;

use polywire_model::Loader;

/// A folder of its own for each test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("polywire-model-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("nested")).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_is_one_model() {
    let folder = Folder::new("folder");
    folder.write(
        "nested/a.smithy",
        "$version: \"2\"\nnamespace a\nstructure A { b: b#B }\n",
    );
    folder.write(
        "b.json",
        r#"{"smithy": "2.0", "shapes": {"b#B": {"type": "string"}}}"#,
    );
    folder.write("build.json", r#"{"version": "1.0", "plugins": {}}"#);
    folder.write("notes.txt", "not a model");
    let model = Loader::new().add_dir(&folder.0).assemble().unwrap().model;
    assert_eq!(model.len(), 2);
    // The same file, asked for by name, is a mistake.
    let error = Loader::new()
        .add_file(folder.0.join("build.json"))
        .assemble()
        .unwrap_err();
    assert!(error.to_string().contains("build.json:1:1"), "{error}");
}

#[test]
fn what_cannot_be_read_is_reported_with_the_rest() {
    let folder = Folder::new("unreadable");
    folder.write("latin.smithy", b"$version: \"2\"\nnamespace a\n// \xe9\n");
    folder.write("wrong.smithy", "$version: \"2\"\nnamespace a\nstring\n");
    let mut loader = Loader::new();
    loader
        .add_file(folder.0.join("missing.smithy"))
        .add_dir(&folder.0)
        .add_dir("/nowhere/at/all");
    let error = loader.assemble().unwrap_err();
    let text = error.to_string();
    assert_eq!(error.errors().count(), 4, "{text}");
    for part in [
        "missing.smithy",
        "latin.smithy` can't be read: byte 29 is not UTF-8",
        "/nowhere/at/all",
        "wrong.smithy:4:1",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
