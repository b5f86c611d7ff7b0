//! `polywire model check --list-rules` and `--explain`, without model files.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::process::Command;

/// Exit status, standard output and standard error.
fn check(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_polywire"))
        .args(["model", "check"])
        .args(arguments)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn rules_are_listed() {
    let (code, text, error) = check(&["--list-rules"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let line = text
        .lines()
        .find(|line| line.starts_with("HttpHeaderTrait "));
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    assert_eq!(
        words,
        ["HttpHeaderTrait", "error,", "danger", "wrong", "header"]
    );

    let (code, json, _) = check(&["--list-rules", "--json"]);
    assert_eq!(code, Some(0));
    let rules: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rules = rules.as_array().unwrap();
    assert_eq!(rules.len(), text.lines().count());
    let unstable = rules
        .iter()
        .find(|rule| rule["id"] == "UnstableTrait")
        .unwrap();
    assert_eq!(unstable["suffix"], ".TRAIT");
    assert_eq!(unstable["severities"], serde_json::json!(["warning"]));
}

#[test]
fn a_rule_is_explained() {
    let (code, text, error) = check(&["--explain", "LengthTrait"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert!(
        text.starts_with("LengthTrait (error): wrong bounds of `@length`\n"),
        "{text}"
    );
    assert!(text.contains("    @length(min: 3, max: 2)\n"), "{text}");
    // The code of a diagnostic, with a name of its model.
    let (_, text, _) = check(&["--explain", "UnstableTrait.example#draft"]);
    assert!(
        text.starts_with("UnstableTrait.TRAIT (warning): "),
        "{text}"
    );
    let (_, json, _) = check(&["--explain", "LengthTrait", "--json"]);
    let rule: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(rule["id"], "LengthTrait");
}

#[test]
fn unknown_rules_are_usage_errors() {
    let (code, text, error) = check(&["--explain", "LenghtTrait"]);
    assert_eq!((code, text.as_str()), (Some(2), ""));
    let expected = "error: unknown rule `LenghtTrait`; similar ids: LengthTrait\n";
    assert_eq!(error, expected);
    let (code, _, error) = check(&["--explain", "xyz"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("--list-rules"), "{error}");
    // Without rules and without files there is nothing to do.
    assert_eq!(check(&[]).0, Some(2));
    assert_eq!(check(&["--list-rules", "a.smithy"]).0, Some(2));
}
