//! The commands of docs/smithy.md print what the page shows.

use std::fmt::Write;
use std::process::{Command, Stdio};

use polywire_interop::{Case, Serving, polywire, workspace};

/// The URL of the server in the commands of the page.
const SHOWN: &str = "http://127.0.0.1:8080";

/// The shell functions for the commands: `polywire` is the program under test, and curl is silent
/// and uses no proxy.
const PRELUDE: &str = r#"
polywire() { "$POLYWIRE" "$@"; }
curl() { command curl --silent --show-error --noproxy '*' "$@"; }
"#;

/// Each command of the page that is followed by its output.
fn commands(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("```sh\n").skip(1);
    let followed = parts.filter_map(|part| part.split_once("```\n\n```text\n"));
    let alone = followed.filter(|(command, _)| !command.contains("```"));
    alone
        .map(|(command, rest)| (command, rest.split_once("```").unwrap().0))
        .collect()
}

/// Removes the lines that differ from run to run.
fn settled(text: &str) -> String {
    let mut settled = String::new();
    for line in text.lines().map(str::trim_end) {
        if !line.trim_start_matches("< ").starts_with("date: ") {
            writeln!(settled, "{line}").unwrap();
        }
    }
    settled
}

fn run(command: &str) -> String {
    let output = Command::new("bash")
        .args(["-c", &format!("{PRELUDE}exec 2>&1\n{command}")])
        .current_dir(workspace())
        .env("POLYWIRE", polywire())
        .env("no_proxy", "*")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn smithy_page_commands() {
    let case = Case::begin("smithy_page_commands");
    if case.curl().is_none() || case.python(&["xmlrpc.client"]).is_none() {
        return;
    }
    let page = std::fs::read_to_string(workspace().join("docs/smithy.md")).unwrap();
    let model = "examples/kettle/src/kettle.smithy";
    let shown = format!("polywire serve --model {model}\n");
    assert!(page.contains(&shown), "the page serves something else");
    let file = workspace().join(model);
    let serving = Serving::start(&["--model", file.to_str().unwrap()]);
    let mut ran = 0;
    for (command, expected) in commands(&page) {
        // Two commands are tested elsewhere: the broken model with the models of the page, and the
        // program on port 8082 with its example.
        if command.contains("descale.smithy") || command.contains(":8082") {
            continue;
        }
        let printed = run(&command.replace(SHOWN, serving.url()));
        let printed = printed.replace(serving.url(), SHOWN);
        assert_eq!(settled(&printed), settled(expected), "{command}");
        ran += 1;
    }
    assert_eq!(ran, 7, "commands of the page");
}
