//! The output of `polywire export botocore`. These tests do not need botocore.

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, run, workspace};

use super::Exports;

const MODEL: &str = "crates/polywire-cli/models/weather.smithy";

#[test]
fn export_says_what_it_wrote() {
    let _case = Case::begin("export_says_what_it_wrote");
    let exports = Exports::new("export-says");
    let model = workspace().join(MODEL);
    let (model, folder) = (model.to_str().unwrap(), exports.0.to_str().unwrap());
    let export = ["export", "botocore", model, "-p", "rest-json", "-o", folder];
    let said = run(&export);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("note: botocore's big decimals"));
    assert!(said.stdout.contains("AWS_DATA_PATH="), "{}", said.stdout);
    assert!(said.stdout.contains("boto3.client('weather'"));

    let said = run(&[&export[..], &["--json", "--name", "w x"]].concat());
    let said: Value = json::read_value(&said.stdout).unwrap();
    assert_eq!(said["service"].as_str(), Some("w-x"));
    assert_eq!(said["apiVersion"].as_str(), Some("2026-11-01"));
    assert_eq!(said["protocol"].as_str(), Some("rest-json"));
    let files = said["files"].as_list().unwrap();
    assert_eq!(files.len(), 5);
    for file in files {
        let text = std::fs::read_to_string(file.as_str().unwrap()).unwrap();
        assert!(json::read_value(&text).is_ok());
    }
    assert!(!said["notes"].as_list().unwrap().is_empty());
}

#[test]
fn export_fails_with_reasons() {
    let _case = Case::begin("export_fails_with_reasons");
    let model = workspace().join(MODEL);
    let model = model.to_str().unwrap();
    let export = |arguments: &[&str]| {
        let said = run(&[&["export", "botocore", model], arguments].concat());
        (said.code, said.stderr)
    };
    let nowhere = std::env::temp_dir().join("polywire-not-written");
    let nowhere = nowhere.to_str().unwrap();
    let (code, error) = export(&["-o", nowhere, "-p", "xmlRpc"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("expected one of rpcv2Cbor"), "{error}");
    let (code, error) = export(&["-o", nowhere, "--service", "Wether"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("only `example.weather#Weather`"), "{error}");
    assert!(!std::path::Path::new(nowhere).exists());
    // A file where a folder should be.
    let (code, error) = export(&["-o", model]);
    assert_eq!(code, Some(3));
    assert!(
        error.contains("service-2.json` can't be written"),
        "{error}"
    );
}
