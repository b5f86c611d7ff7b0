//! `polywire serve` and `polywire call` over every protocol.

use polywire_interop::{Case, Serving, run};

const SHARED: [&str; 7] = [
    "awsJson1_0",
    "awsJson1_1",
    "awsQuery",
    "restJson1",
    "rpcv2Cbor",
    "rpcv2Json",
    "xmlRpc",
];

/// The bundled service is served over all protocols by default, and our client calls it over each:
/// nested structures, lists, timestamps, pages, and an error of the model.
#[test]
fn polywire_every_wire() {
    let _case = Case::begin("polywire_every_wire");
    let serving = Serving::start(&[]);
    let own = SHARED.map(|protocol| (protocol, ""));
    let below = [("restXml", "/restXml"), ("ec2Query", "/ec2Query")];
    let wires = [&own[..], &below].concat();
    for (protocol, path) in &wires {
        let url = format!("{}{path}", serving.url());
        let call = |operation: &str, input: &str| {
            let ended = run(&["call", &url, operation, input, "--protocol", protocol]);
            (ended.code, ended.stdout, ended.stderr)
        };
        let (code, output, errors) = call("GetCity", r#"{"cityId":"oslo"}"#);
        assert_eq!(code, Some(0), "{protocol}: {errors}");
        assert!(output.contains("\"name\":\"Oslo\""), "{protocol}: {output}");
        let (code, output, errors) = call("ListCities", r#"{"pageSize":2}"#);
        assert_eq!(code, Some(0), "{protocol}: {errors}");
        assert!(output.contains("nextToken"), "{protocol}: {output}");
        let (code, _, errors) = call("GetCity", r#"{"cityId":"atlantis"}"#);
        assert_eq!(code, Some(1), "{protocol}: {errors}");
        assert!(errors.contains("NoSuchResource"), "{protocol}: {errors}");
    }
    let (status, rest) = serving.terminate();
    assert_eq!(status.code(), Some(0));
    // The output lists each protocol with its path.
    for (protocol, path) in wires {
        let title = match path {
            "" => format!("\n  {protocol}\n"),
            path => format!("\n  {protocol} at {path}\n"),
        };
        assert!(rest.contains(&title), "{title}\n{rest}");
    }
}

/// The commands that `polywire serve` prints to be pasted work.
#[test]
fn polywire_every_wire_to_paste() {
    let case = Case::begin("polywire_every_wire_to_paste");
    if case.curl().is_none() {
        return;
    }
    let mut arguments = vec!["--protocol"];
    arguments.extend(SHARED);
    arguments.extend(["--mount", "restXml=/xml", "ec2Query=/ec2"]);
    let mut serving = Serving::start(&arguments);
    let lines = serving.lines_until("Ctrl-C");
    let lines: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("    "))
        .collect();
    assert_eq!(lines.len(), 9, "{lines:?}");
    for line in lines {
        let line = line
            .trim()
            .replacen("curl", "curl --silent --show-error --fail", 1);
        let ended = std::process::Command::new("sh")
            .args(["-c", &line])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{line}\n{errors}");
    }
}

/// Protocols that cannot be distinguished are rejected. The message contains both names.
#[test]
fn polywire_serve_refuses_what_it_cannot_tell_apart() {
    let _case = Case::begin("polywire_serve_refuses_what_it_cannot_tell_apart");
    for (one, other) in [("awsQuery", "ec2Query"), ("restJson1", "restXml")] {
        let ended = run(&["serve", "--protocol", one, other]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        let message = format!("{one} and {other} cannot be distinguished");
        assert!(ended.stderr.contains(&message), "{}", ended.stderr);
        let advice = format!("--mount {other}=/{other}");
        assert!(ended.stderr.contains(&advice), "{}", ended.stderr);
    }
    for (mount, word) in [
        ("restXml", "PROTOCOL=/PATH"),
        ("soap=/x", "restXml"),
        ("restXml=x", "/path"),
    ] {
        let ended = run(&["serve", "--mount", mount]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
    }
}
