//! Commands that write files do not replace what they did not write.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const MODEL: &str =
    "$version: \"2\"\n\nnamespace lamps\n\n// A comment that no tool keeps.\nstring Color\n";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("polywire-outputs-{name}-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        fs::write(folder.0.join("lamps.smithy"), MODEL).unwrap();
        folder
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_polywire"))
            .args(arguments)
            .current_dir(&self.0)
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
        fs::read_to_string(self.0.join("lamps.smithy")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn sources_are_not_overwritten() {
    let folder = Folder::new("sources");
    folder.refuses(&["model", "idl", ".", "-o", "."]);
    folder.refuses(&["model", "ast", "lamps.smithy", "-o", "lamps.smithy"]);
    let output = folder.run(&["model", "ast", ".", "-o", "lamps.smithy", "--force"]);
    assert!(output.status.success());
    assert!(folder.model().starts_with('{'));
}

#[test]
fn a_report_is_refused_before_the_load_runs() {
    let folder = Folder::new("report");
    for option in ["-o", "--hdr-log"] {
        folder.refuses(&["bench", "tcp://127.0.0.1:1", "Add", option, "lamps.smithy"]);
    }
}
