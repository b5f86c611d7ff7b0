//! Commands that write files do not replace files that they did not write.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

const MODEL: &str =
    "$version: \"2\"\n\nnamespace lamps\n\n// A comment that must be kept.\nstring Color\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        fs::write(folder.0.path().join("lamps.smithy"), MODEL).unwrap();
        folder
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_polywire"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    fn refuses(&self, arguments: &[&str]) {
        let output = self.run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains("lamps.smithy"), "{arguments:?}: {error}");
        assert!(error.contains("--force"), "{arguments:?}: {error}");
        assert_eq!(self.model(), MODEL, "{arguments:?}");
    }

    fn model(&self) -> String {
        fs::read_to_string(self.0.path().join("lamps.smithy")).unwrap()
    }
}

#[test]
fn sources_are_not_overwritten() {
    let folder = Folder::new();
    folder.refuses(&["model", "idl", ".", "-o", "."]);
    folder.refuses(&["model", "ast", "lamps.smithy", "-o", "lamps.smithy"]);
    let output = folder.run(&["model", "ast", ".", "-o", "lamps.smithy", "--force"]);
    assert!(output.status.success());
    assert!(folder.model().starts_with('{'));
}

#[test]
fn output_files_are_checked_before_the_run() {
    let folder = Folder::new();
    for option in ["-o", "--hdr-log"] {
        folder.refuses(&["bench", "tcp://127.0.0.1:1", "Add", option, "lamps.smithy"]);
    }
}
