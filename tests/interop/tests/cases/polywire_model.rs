//! `polywire model`: its output and its exit codes.

use std::fs;
use std::path::PathBuf;

use polywire_interop::{Case, run};

/// A folder with the files of a model. It is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let name = format!("polywire-model-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const SERVICE: &str = r#"$version: "2"
namespace example.tea
use smithy.protocols#rpcv2Cbor
@rpcv2Cbor
service Kettle { version: "1", operations: [Boil] }
operation Boil { input := { @required litres: Float }, errors: [Dry] }
"#;

const ERRORS: &str = r#"$version: "2"
namespace example.tea
@error("client")
structure Dry { message: String }
"#;

const BROKEN: &str = r#"$version: "2"
namespace example.tea
structure Cup { size: Strin, size: Integer }
list Cups { item: Cup }
"#;

#[test]
fn polywire_model_check() {
    let _case = Case::begin("polywire_model_check");
    let folder = Folder::new(
        "check",
        &[("service.smithy", SERVICE), ("errors.smithy", ERRORS)],
    );
    let ended = run(&["model", "check", folder.path()]);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "ok: 4 shapes\n", "")
    );
    // One file alone lacks the shapes that the other file defines.
    let alone = folder.0.join("service.smithy");
    let ended = run(&["model", "check", alone.to_str().unwrap()]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stdout.contains("service.smithy:6:65"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.ends_with("1 error\n"), "{}", ended.stdout);
    let ended = run(&["model", "check", "no/such/file.smithy"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stdout.contains("no/such/file.smithy"),
        "{}",
        ended.stdout
    );
}

#[test]
fn polywire_model_check_shows_what_it_fails_for() {
    let _case = Case::begin("polywire_model_check_shows_what_it_fails_for");
    let text = "$version: \"2\"\nnamespace a\nuse b#t\n@t\nstring S\n";
    let folder = Folder::new("deny", &[("a.smithy", text)]);
    let ended = run(&["model", "check", "--severity", "error", folder.path()]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "ok: 1 shape\n")
    );
    let deny = ["--severity", "error", "--deny", "warning"];
    let ended = run(&[&["model", "check", folder.path()], &deny[..]].concat());
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stdout.starts_with("warning[UnknownTrait]: "),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.ends_with("1 warning in 1 shape\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn polywire_model_check_json() {
    let _case = Case::begin("polywire_model_check_json");
    let folder = Folder::new("json", &[("broken.smithy", BROKEN)]);
    let exports = folder.0.join("exports");
    let exports = exports.to_str().unwrap();
    for command in [
        &["model", "check"][..],
        &["model", "ast"],
        &["model", "idl"],
        &["model", "select", "*"],
        &["model", "stat"],
        &["export", "botocore", "-o", exports],
    ] {
        let ended = run(&[command, &["--json", folder.path()]].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
        assert!(ended.stdout.ends_with("}\n") && !ended.stdout.ends_with("\n\n"));
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let diagnostics = report["diagnostics"].as_array().unwrap();
        assert_eq!(report["errors"], diagnostics.len());
        assert!(diagnostics.len() >= 3, "{report:#}");
        for diagnostic in diagnostics {
            for key in ["severity", "code", "message", "file", "line", "column"] {
                assert!(!diagnostic[key].is_null(), "{diagnostic:#}");
            }
        }
    }
}

#[test]
fn polywire_model_ast() {
    let _case = Case::begin("polywire_model_ast");
    let folder = Folder::new(
        "ast",
        &[("service.smithy", SERVICE), ("errors.smithy", ERRORS)],
    );
    let ended = run(&["model", "ast", "--compact", folder.path()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let ast: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(ast["smithy"], "2.0");
    assert_eq!(ast["shapes"].as_object().unwrap().len(), 4);
    // The AST in a file is a model again, with the same AST.
    let written = folder.0.join("again.json");
    let file = written.to_str().unwrap();
    let ended = run(&["model", "ast", "--compact", folder.path(), "-o", file]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), ""),
        "{}",
        ended.stderr
    );
    let again = run(&["model", "ast", "--compact", file]);
    assert_eq!(again.stdout, fs::read_to_string(&written).unwrap());
    // A broken model gives no AST. The errors are on standard error, so that they are not taken for
    // the AST.
    let broken = Folder::new("ast-broken", &[("broken.smithy", BROKEN)]);
    let ended = run(&["model", "ast", broken.path()]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.contains("did you mean `String`?"),
        "{}",
        ended.stderr
    );
}

#[test]
fn polywire_model_stat() {
    let _case = Case::begin("polywire_model_stat");
    let folder = Folder::new(
        "stat",
        &[("service.smithy", SERVICE), ("errors.smithy", ERRORS)],
    );
    let ended = run(&["model", "stat", "--json", folder.path()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let stat: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&stat["files"], &stat["shapes"], &stat["members"]),
        (&2.into(), &4.into(), &2.into())
    );
    assert_eq!(stat["types"]["structure"], 2);
    assert_eq!(stat["services"][0]["id"], "example.tea#Kettle");
    assert_eq!(
        stat["services"][0]["protocols"][0],
        "smithy.protocols#rpcv2Cbor"
    );
    let ended = run(&["model", "stat", folder.path()]);
    assert!(
        ended.stdout.contains("service example.tea#Kettle 1\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn polywire_model_idl() {
    let _case = Case::begin("polywire_model_idl");
    let files = [("service.smithy", SERVICE), ("errors.smithy", ERRORS)];
    let folder = Folder::new("idl", &files);
    let ast = run(&["model", "ast", folder.path()]);
    let written = folder.0.join("written");
    let to = written.to_str().unwrap();
    let ended = run(&["model", "idl", folder.path(), "-o", to]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), ""),
        "{}",
        ended.stderr
    );
    let text = fs::read_to_string(written.join("example.tea.smithy")).unwrap();
    assert!(
        text.contains("operation Boil {\n    input := {\n"),
        "{text}"
    );
    assert_eq!(run(&["model", "ast", to]).stdout, ast.stdout);
    // The output need not be a regular file, and is not replaced.
    let ended = run(&["model", "ast", to, "-o", "/dev/stdout"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), ast.stdout.as_str()),
        "{}",
        ended.stderr
    );
    // One namespace is written to standard output. Two namespaces cannot be one file.
    let ended = run(&["model", "idl", to]);
    assert_eq!(ended.stdout, text);
    let other = "$version: \"2\"\nnamespace example.coffee\nstring Bean\n";
    let two = Folder::new(
        "two",
        &[
            ("service.smithy", SERVICE),
            ("errors.smithy", ERRORS),
            ("other.smithy", other),
        ],
    );
    let ended = run(&["model", "idl", two.path()]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("example.coffee, example.tea"),
        "{}",
        ended.stderr
    );
    let ended = run(&["model", "idl", two.path(), "--namespace", "example.coffee"]);
    assert!(
        ended.stdout.contains("namespace example.coffee\n"),
        "{}",
        ended.stdout
    );
}

/// Commands other than `model check` print only the number of warnings.
#[test]
fn polywire_model_counts_warnings() {
    let _case = Case::begin("polywire_model_counts_warnings");
    let mut text = "$version: \"2\"\nnamespace a\nuse b#t\n".to_owned();
    for name in ["A", "B", "C", "D"] {
        text.push_str(&format!("@t\nstring {name}\n"));
    }
    let folder = Folder::new("counts", &[("a.smithy", &text)]);
    let ended = run(&["model", "select", "string", folder.path()]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "a#A\na#B\na#C\na#D\n")
    );
    assert_eq!(
        ended.stderr.trim_end(),
        "warning: the model has 4 warnings (4 UnknownTrait); `polywire model check` shows them"
    );
    let empty = Folder::new("nothing", &[("a.smithy", "$version: \"2\"\n")]);
    let ended = run(&["model", "idl", empty.path()]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.ends_with("error: the model is empty\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn polywire_model_select() {
    let _case = Case::begin("polywire_model_select");
    let files = [("service.smithy", SERVICE), ("errors.smithy", ERRORS)];
    let folder = Folder::new("select", &files);
    let ended = run(&["model", "select", "structure > member", folder.path()]);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (
            Some(0),
            "example.tea#BoilInput$litres\nexample.tea#Dry$message\n",
            ""
        )
    );
    let ended = run(&[
        "model",
        "select",
        "--vars",
        "--json",
        "operation $bad(-[error]-> *)",
        folder.path(),
    ]);
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found[0]["id"], "example.tea#Boil");
    assert_eq!(found[0]["vars"]["bad"][0], "example.tea#Dry");
    assert_eq!(
        (&found[0]["type"], &found[0]["line"]),
        (&"operation".into(), &6.into())
    );
    // An error in the selector is reported with its position, and no file is read.
    let ended = run(&["model", "select", "operaton", "no/such/file"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("did you mean `operation`?"),
        "{}",
        ended.stderr
    );
}
