//! Files, folders and JARs on the disk, and how a loader puts them together.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

#[cfg(feature = "jar")]
mod zip;

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use polywire_model::{Loader, Severity, Step, ast};
#[cfg(feature = "jar")]
use zip::{Entry, zip};

const MODEL: &str = "$version: \"2\"\nnamespace a\nstructure A { b: String }\n";

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
        "latin.smithy` cannot be read: byte 29 is not UTF-8",
        "/nowhere/at/all",
        "wrong.smithy:4:1",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_file_counts_once_whichever_way_leads_to_it() {
    let folder = Folder::new("once");
    folder.write("a.smithy", format!("{MODEL}\napply A @tags([\"x\"])\n"));
    let mut loader = Loader::new();
    loader
        .add_file(folder.0.join("a.smithy"))
        .add_dir(&folder.0)
        .add_path(folder.0.join("nested/../a.smithy"));
    let model = loader.assemble().unwrap().model;
    assert_eq!(model.sources().files().len(), 1);
    let tags = model.get("a#A").unwrap().traits().get("smithy.api#tags");
    assert_eq!(tags.unwrap().to_json(), "[\"x\"]");
    // Found in a folder it may be any JSON; asked for by name it may not.
    folder.write("b.json", "{}");
    let mut loader = Loader::new();
    loader.add_dir(&folder.0).assemble().unwrap();
    let error = loader.add_file(folder.0.join("b.json")).assemble();
    assert!(error.unwrap_err().to_string().contains("b.json:1:1"));
}

#[cfg(unix)]
#[test]
fn links_may_lead_around() {
    let folder = Folder::new("links");
    folder.write("nested/a.smithy", MODEL);
    let link = std::os::unix::fs::symlink::<PathBuf, PathBuf>;
    link(folder.0.clone(), folder.0.join("nested/loop")).unwrap();
    link(folder.0.join("nested"), folder.0.join("again")).unwrap();
    link(folder.0.join("self"), folder.0.join("self")).unwrap();
    let model = Loader::new().add_dir(&folder.0).assemble().unwrap().model;
    assert_eq!(model.sources().files().len(), 1);
    link(folder.0.join("nowhere"), folder.0.join("b.smithy")).unwrap();
    let error = Loader::new().add_dir(&folder.0).assemble().unwrap_err();
    assert!(error.to_string().contains("b.smithy` cannot be read: "));
}

/// Findings print lines of files: a model from elsewhere must not choose which ones.
#[cfg(unix)]
#[test]
fn links_out_of_a_folder_are_not_followed() {
    let folder = Folder::new("links-out");
    let outside = Folder::new("links-outside");
    outside.write("secret", "password: hunter2\n");
    outside.write("nested/other.smithy", "password: hunter2\n");
    folder.write("nested/a.smithy", MODEL);
    let link = std::os::unix::fs::symlink::<PathBuf, PathBuf>;
    // A folder that is no part of the model, as build tools leave them: a warning.
    link(outside.0.join("nested"), folder.0.join("out")).unwrap();
    let assembled = Loader::new().add_dir(&folder.0).assemble().unwrap();
    assert_eq!(assembled.model.sources().files().len(), 1);
    let [warning] = &*assembled.warnings else {
        panic!("{:?}", assembled.warnings);
    };
    assert_eq!(warning.severity, Severity::Warning);
    let text = warning.to_string();
    let nested = outside.0.join("nested").canonicalize().unwrap();
    let message = format!(
        "out` is not searched: symbolic link points outside the model folder ({})",
        nested.display()
    );
    assert!(text.contains(&message), "{text}");
    let hint = format!("to include it, add {} to the model paths", nested.display());
    assert!(text.contains(&hint), "{text}");
    // By its own path it is searched, and so is a folder that is a link itself.
    let error = Loader::new().add_dir(folder.0.join("out")).assemble();
    assert!(error.unwrap_err().to_string().contains("other.smithy:1:1"));
    // A file that is called like a model: an error, from a folder further in as well.
    link(outside.0.join("secret"), folder.0.join("b.smithy")).unwrap();
    link("../..".into(), folder.0.join("nested/up")).unwrap();
    link(PathBuf::from("/etc/passwd"), folder.0.join("nested/c.json")).unwrap();
    let error = Loader::new().add_dir(&folder.0).assemble().unwrap_err();
    let text = error.to_string();
    assert_eq!(error.errors().count(), 2, "{text}");
    for name in ["b.smithy", "c.json"] {
        let message =
            format!("{name}` cannot be read: symbolic link points outside the model folder (");
        assert!(text.contains(&message), "{text}");
    }
    assert!(
        !text.contains("hunter2") && !text.contains("root:"),
        "{text}"
    );
    // Nothing else in it: no model.
    let empty = Folder::new("links-only");
    link(outside.0.join("nested"), empty.0.join("out")).unwrap();
    let error = Loader::new().add_dir(&empty.0).assemble().unwrap_err();
    assert!(error.to_string().contains("has no model"), "{error}");
}

/// Opening a pipe waits until somebody writes to it.
#[cfg(unix)]
#[test]
fn only_regular_files_of_a_folder_are_read() {
    let folder = Folder::new("pipes");
    folder.write("a.smithy", MODEL);
    let pipe = folder.0.join("b.smithy");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink(&pipe, folder.0.join("c.smithy")).unwrap();
    std::os::unix::net::UnixListener::bind(folder.0.join("d.json")).unwrap();
    let path = folder.0.clone();
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = done.send(Loader::new().add_dir(path).assemble());
    });
    let result = result.recv_timeout(Duration::from_secs(30));
    let error = result.expect("it waits for a pipe").unwrap_err();
    let text = error.to_string();
    assert_eq!(error.errors().count(), 3, "{text}");
    for name in ["b.smithy", "c.smithy", "d.json"] {
        let message = format!("{name}` cannot be read: it is not a regular file");
        assert!(text.contains(&message), "{text}");
    }
}

#[test]
fn other_kinds_of_files_are_recognized() {
    let folder = Folder::new("kinds");
    let cases: [(&str, &[u8], &str); 9] = [
        ("a.pdf", b"%PDF-1.7\n\xff", "it is a PDF document"),
        ("a.smithy", b"\x1f\x8b\x08", "it is compressed by gzip"),
        (
            "b.smithy",
            b"\xff\xfe$\0v\0",
            "it is UTF-16 and must be UTF-8",
        ),
        ("c.smithy", b"$version\0", "it is not text"),
        ("d.smithy", b"// ok\n// \xe9", "byte 9 is not UTF-8"),
        (
            "README.md",
            b"# A model\n\nRead it.\n",
            "it is not a Smithy model",
        ),
        (
            "smithy-build.json",
            b"{}",
            "it is the configuration of Smithy's build tool",
        ),
        ("empty.json", b" \n", "it is empty"),
        ("nested", b"", "it is a folder"),
    ];
    for (name, content, expected) in cases {
        if name != "nested" {
            folder.write(name, content);
        }
        let error = Loader::new().add_file(folder.0.join(name)).assemble();
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    let error = Loader::new()
        .add_file(folder.0.join("smithy-build.json"))
        .assemble()
        .unwrap_err();
    let hint = error.diagnostics()[0].hint.as_deref().unwrap();
    assert!(hint.contains("`sources`"), "{hint}");
    let error = Loader::new().add_file(folder.0.join("d.smithy")).assemble();
    let error = error.unwrap_err().to_string();
    assert!(error.contains("in line 2"), "{error}");
    folder.write("empty.smithy", "\n");
    let mut loader = Loader::new();
    let assembled = loader.add_file(folder.0.join("empty.smithy")).assemble();
    assert_eq!(assembled.unwrap().warnings[0].code, "EmptyFile");
    // Models under other names are models.
    for (name, text) in [
        ("model.txt", MODEL.to_owned()),
        ("model", "{\"smithy\": \"2.0\", \"shapes\": {}}".to_owned()),
        ("model.idl", format!("\u{feff}// A.\n{MODEL}")),
    ] {
        folder.write(name, text);
        Loader::new()
            .add_path(folder.0.join(name))
            .assemble()
            .unwrap();
    }
}

#[test]
fn a_folder_without_models_is_a_mistake() {
    let folder = Folder::new("none");
    folder.write("notes.txt", "not a model");
    folder.write("smithy-build.json", "{\"version\": \"1.0\", }");
    let error = Loader::new().add_path(&folder.0).assemble().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the folder has no model"), "{text}");
    // With a model beside it the build file is passed over, broken or not.
    folder.write("a.smithy", MODEL);
    Loader::new().add_path(&folder.0).assemble().unwrap();
}

#[cfg(feature = "jar")]
#[test]
fn jars_count_when_they_are_named() {
    let folder = Folder::new("jars");
    let jar = zip(&[Entry::new("META-INF/smithy/a.smithy", MODEL)]);
    folder.write("a.jar", &jar);
    folder.write(
        "b.smithy",
        "$version: \"2\"\nnamespace b\nstructure B { a: a#A }\n",
    );
    // A folder of dependencies is not a model.
    let error = Loader::new().add_dir(&folder.0).assemble().unwrap_err();
    assert!(
        error.to_string().contains("Target.UnresolvedShape"),
        "{error}"
    );
    let path = folder.0.join("a.jar");
    let mut loader = Loader::new();
    loader.add_path(&folder.0).add_path(&path).add_jar(&path);
    let model = loader.assemble().unwrap().model;
    let names: Vec<&str> = model.sources().files().iter().map(|f| f.name()).collect();
    let name = format!("{}!/META-INF/smithy/a.smithy", path.display());
    assert_eq!(names[1..], [name]);
    // By its first bytes, whatever it is called.
    folder.write("renamed", &jar);
    let mut loader = Loader::new();
    loader.add_file(folder.0.join("renamed"));
    assert_eq!(loader.assemble().unwrap().model.len(), 1);
    let mut loader = Loader::new();
    let error = loader.add_jar(folder.0.join("b.smithy")).assemble();
    assert!(error.unwrap_err().to_string().contains("it is not a JAR"));
}

#[test]
fn progress_is_told() {
    let (sender, receiver) = mpsc::channel();
    let mut loader = Loader::new();
    loader.add_text("a.smithy", MODEL).add_text(
        "b.json",
        r#"{"smithy": "2.0", "shapes": {"b#B": {"type": "string"}}}"#,
    );
    loader.on_progress(move |progress| {
        let file = progress.file.map(str::to_owned);
        assert_eq!(progress.files, 2);
        let done = (progress.files_done, progress.bytes_done, progress.bytes);
        sender.send((progress.step, file, done)).unwrap();
    });
    loader.assemble().unwrap();
    let (first, all) = (MODEL.len(), MODEL.len() + 56);
    let expected = [
        (Step::Read, Some("a.smithy".to_owned()), (0, 0, all)),
        (Step::Read, Some("b.json".to_owned()), (1, first, all)),
        (Step::Join, None, (2, all, all)),
        (Step::Check, None, (2, all, all)),
    ];
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn unknown_traits_are_errors_when_denied() {
    let text = format!("{MODEL}apply A @c.d#unknown\n");
    let mut loader = Loader::new();
    let warnings = loader
        .add_text("a.smithy", text)
        .assemble()
        .unwrap()
        .warnings;
    let found: Vec<_> = warnings.iter().map(|w| (w.severity, &*w.code)).collect();
    assert_eq!(found, [(Severity::Warning, "UnknownTrait")]);
    let error = loader.deny_unknown_traits(true).assemble().unwrap_err();
    assert_eq!(error.errors().next().unwrap().code, "UnknownTrait");
    loader.deny_unknown_traits(false).assemble().unwrap();
    // Also when they come after more warnings than are kept.
    let many: String = (0..300)
        .map(|n| format!("@x.y#t{n}\nstring S{n}\n"))
        .collect();
    let mut loader = Loader::new();
    loader.add_text(
        "many.smithy",
        format!("$version: \"2\"\nnamespace a\n{many}"),
    );
    loader.assemble().unwrap();
    assert!(loader.deny_unknown_traits(true).assemble().is_err());
}

/// What Smithy's own tools make of the same files.
#[test]
fn what_several_files_say_is_joined() {
    let mut loader = Loader::new();
    loader
        .add_text(
            "1.smithy",
            "$version: \"2\"\nmetadata m = [1]\nmetadata n = 1\nnamespace a\n\
             apply S @tags([\"1\"])\napply S @length(min: 1, max: 2)\n",
        )
        .add_text(
            "2.json",
            r#"{"smithy": "2.0", "metadata": {"m": [2], "n": 1}, "shapes": {
                "a#S": {"type": "string", "traits": {"smithy.api#tags": ["2"]}},
                "a#T": {"type": "structure", "members": {"s": {"target": "a#S"}}}}}"#,
        )
        .add_text(
            "3.smithy",
            "$version: \"2\"\nmetadata m = [2]\nnamespace a\n\
             apply S @tags([\"1\"])\napply S @length(max: 2, min: 1)\n\
             apply S @other#unknown([1])\n@sensitive\nstructure T { @required s: S }\n",
        )
        .add_text(
            "4.smithy",
            "$version: \"2\"\nnamespace a\napply S @other#unknown([1])\n",
        );
    let model = loader.assemble().unwrap().model;
    let metadata = |key| model.metadata().get(key).unwrap().to_json();
    assert_eq!(
        (metadata("m"), metadata("n")),
        ("[1,2,2]".into(), "1".into())
    );
    let traits = model.get("a#S").unwrap().traits();
    let json = |id| traits.get(id).unwrap().to_json();
    assert_eq!(json("smithy.api#tags"), r#"["2","1","1"]"#);
    assert_eq!(json("smithy.api#length"), r#"{"min":1,"max":2}"#);
    assert_eq!(json("other#unknown"), "[1,1]");
    let shape = model.get("a#T").unwrap();
    assert!(shape.traits().is_sensitive());
    assert!(shape.member("s").unwrap().traits().is_required());
}

#[test]
fn a_model_and_its_ast_are_one_model() {
    let text = r#"
        $version: "2"
        namespace a
        @tags(["x"])
        resource City { identifiers: { id: Id }, properties: { name: String }, read: GetCity }
        string Id
        @mixin
        structure Named { name: String }
        @tags(["x"])
        structure CityData for City with [Named] {
            @required $id
            @notProperty population: Long = 0
        }
        @readonly
        operation GetCity { input := for City { @required $id }, output: CityData }
    "#;
    let mut loader = Loader::new();
    loader.add_text("a.smithy", text);
    let model = loader.assemble().unwrap().model;
    let json = ast::write(&model).to_json();
    for json_is_first in [false, true] {
        let mut loader = Loader::new();
        if json_is_first {
            loader
                .add_text("a.json", json.as_str())
                .add_text("a.smithy", text);
        } else {
            loader
                .add_text("a.smithy", text)
                .add_text("a.json", json.as_str());
        }
        let both = loader.assemble().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(ast::write(&both.model).to_json(), json);
    }
}
