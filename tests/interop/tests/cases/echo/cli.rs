//! The aws CLI calls the service with every kind of shape.

use polywire::prelude::*;
use polywire_interop::Case;

use super::{Echo, json, model};
use crate::botocore::{Exports, python};

const CONTENT: &str = r#"{"text":"tea & <milk> ü","flag":true,"big":9223372036854775807,
    "double":0.30000000000000004,"blob":"dGVh","moment":"2026-11-22T10:30:59Z",
    "words":["one","two"],"parts":[{"id":"p1","size":-9007199254740993}],"pairs":{"a":"b"},
    "partsByName":{"left":{"words":["x"]}},"choice":{"number":5},
    "inner":{"inner":{"text":"innermost"}}}"#;

fn aws(name: &'static str, kind: ProtocolKind) {
    let case = Case::begin(name);
    let Some(python) = python(&case) else { return };
    let exports = Exports::new(name);
    exports.add(&model(), &["--protocol", kind.name()]);
    let echo = Echo::start(kind);
    let folder = exports.0.to_str().unwrap();
    let maps = if kind == ProtocolKind::Ec2Query {
        "False"
    } else {
        "True"
    };
    let script = format!(
        "folder = {folder:?}\nmaps = {maps}\n{}",
        include_str!("cli.py")
    );
    let answer = python.run(&echo.url, &script);

    let said = format!(
        r#"{{"name":"a/b c","path":"x/y z","count":9007199254740993,"tags":["one","two"],
            "content":{CONTENT}}}"#
    );
    // ec2Query has no maps.
    let maps = r#""pairs":{"a":"b"},
    "partsByName":{"left":{"words":["x"]}},"#;
    assert!(said.contains(maps));
    let said = match kind {
        ProtocolKind::Ec2Query => said.replace(maps, ""),
        _ => said,
    };
    let heard = echo.heard();
    assert_eq!(heard.len(), 1, "{answer:?}");
    assert_eq!(json(&heard[0]), json(&said));
    assert_eq!(answer[0][0].as_i64(), Some(0), "{answer:?}");
    // The CLI prints timestamps of JSON and CBOR as they were received.
    let moment = match kind {
        ProtocolKind::AwsQuery | ProtocolKind::Ec2Query | ProtocolKind::RestXml => {
            r#""2026-11-22T10:30:59Z""#
        }
        _ => "1795343459",
    };
    let said = said.replace(r#""2026-11-22T10:30:59Z""#, moment);
    let (printed, said) = (&answer[0][1], json(&said));
    for member in ["name", "path", "count", "tags"] {
        assert_eq!(printed[member], said[member], "{member}");
    }
    let members = said["content"].as_map().unwrap();
    for (member, value) in members.iter() {
        assert_eq!(&printed["content"][member], value, "{member}");
    }
    assert_ne!(answer[1][0].as_i64(), Some(0));
    let error = answer[1][1].as_str().unwrap_or_default();
    assert!(error.contains("(Refused)"), "{error}");
    assert!(error.contains("no <tea> & milk"), "{error}");
    assert_eq!(
        answer[2],
        json(r#"[0,["one","two","three","four","five"]]"#)
    );
}

#[test]
fn aws_cli_echo_over_json_10() {
    aws("aws_cli_echo_over_json_10", ProtocolKind::AwsJson1_0);
}

#[test]
fn aws_cli_echo_over_json_11() {
    aws("aws_cli_echo_over_json_11", ProtocolKind::AwsJson1_1);
}

#[test]
fn aws_cli_echo_over_rest_json() {
    aws("aws_cli_echo_over_rest_json", ProtocolKind::RestJson1);
}

#[test]
fn aws_cli_echo_over_query() {
    aws("aws_cli_echo_over_query", ProtocolKind::AwsQuery);
}

#[test]
fn aws_cli_echo_over_ec2() {
    aws("aws_cli_echo_over_ec2", ProtocolKind::Ec2Query);
}

#[test]
fn aws_cli_echo_over_rest_xml() {
    aws("aws_cli_echo_over_rest_xml", ProtocolKind::RestXml);
}

#[test]
fn aws_cli_echo_over_cbor() {
    aws("aws_cli_echo_over_cbor", ProtocolKind::RpcV2Cbor);
}
