//! The program from outside: what scripts and CI depend on.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "all of this file is tests; clippy.toml's leave ends at functions without #[test]"
)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs the program on its own group. What targets say is of no interest here: an
/// unoptimized build misses some.
fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_polywire-gate"))
        .args(arguments)
        .env_remove("CI")
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program writes UTF-8")
}

fn scratch_file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn has_valgrind() -> bool {
    let found = Command::new("valgrind").arg("--version").output().is_ok();
    if !found {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "CI needs valgrind"
        );
        println!("skipped: valgrind is not installed");
    }
    found
}

#[test]
fn json_is_one_document_and_the_tables_end_with_the_totals() {
    let output = bench(&["harness", "--quick", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let cases = document["groups"][0]["cases"].as_array().expect("cases");
    assert_eq!(cases[0]["subjects"][0]["subject"], "polywire");
    assert_eq!(cases[1]["subjects"][0]["allocations"]["count"], 3);
    assert_eq!(cases[1]["subjects"][0]["allocations"]["peak_bytes"], 100);
    let load = &document["groups"][0]["loads"][0];
    assert_eq!(load["subjects"][1][1]["rate"], 100.0);
    assert_eq!(load["targets"][0]["outcome"], "met");
    let totals = &document["targets"];
    assert_eq!(
        text(&output.stderr).lines().last().expect("a last line"),
        format!(
            "targets: {} met, {} missed",
            totals["met"], totals["missed"]
        )
    );
}

#[test]
fn a_run_compares_as_equal_with_its_own_baseline() {
    if !has_valgrind() {
        return;
    }
    let file = scratch_file("equal.json");
    let file = file.to_str().expect("a path of UTF-8");
    assert!(
        bench(&["harness", "--quick", "--save", file])
            .status
            .success()
    );
    let output = bench(&["harness", "--quick", "--compare", file]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("nothing changed by more than 3%"));
}

#[test]
fn a_run_that_became_much_worse_fails() {
    if !has_valgrind() {
        return;
    }
    let file = scratch_file("worse.json");
    let better =
        r#"{"harness/sum of 1000": {"instructions": 9, "allocations": 0, "bytes_allocated": 0}}"#;
    std::fs::write(&file, better).expect("the file can be written");
    let file = file.to_str().expect("a path of UTF-8");
    let arguments = [
        "harness",
        "--quick",
        "--filter",
        "sum of 1000",
        "--compare",
        file,
    ];
    let output = bench(&arguments);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("FAILS, over 15% worse: harness/sum of 1000"));
}

#[test]
fn without_valgrind_counts_are_skipped_and_comparing_fails() {
    let bench = |arguments: &[&str], ci: &str| {
        Command::new(env!("CARGO_BIN_EXE_polywire-gate"))
            .args(["harness", "--quick"])
            .args(arguments)
            .env("PATH", "/nonexistent")
            .env("CI", ci)
            .output()
            .expect("the program starts")
    };
    let output = bench(&[], "false");
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("valgrind is not installed"));
    assert_eq!(bench(&[], "true").status.code(), Some(1));
    let file = scratch_file("absent valgrind.json");
    std::fs::write(&file, "{}").expect("the file can be written");
    let output = bench(
        &["--compare", file.to_str().expect("a path of UTF-8")],
        "false",
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("valgrind, which counts them, is not installed"));
}
