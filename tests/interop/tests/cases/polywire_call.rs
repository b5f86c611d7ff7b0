//! `polywire call`: its output and its exit codes.

use polywire_interop::{Canned, Case, Serving, polywire, run, run_with_input, workspace};

const PROTOCOLS: [&str; 3] = ["restJson1", "rpcv2Cbor", "xmlRpc"];

#[test]
fn polywire_call_every_protocol() {
    let _case = Case::begin("polywire_call_every_protocol");
    let serving = Serving::start(&[]);
    for protocol in PROTOCOLS {
        let ended = run(&[
            "call",
            serving.url(),
            "GetCity",
            r#"{"cityId":"oslo"}"#,
            "--protocol",
            protocol,
        ]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(
            ended
                .stdout
                .starts_with(r#"{"cityId":"oslo","name":"Oslo","#),
            "{}",
            ended.stdout
        );
        assert_eq!(ended.stdout.lines().count(), 1);
        assert_eq!(ended.stderr, "");
    }
}

#[test]
fn polywire_call_faults() {
    let _case = Case::begin("polywire_call_faults");
    let serving = Serving::start(&[]);
    for protocol in PROTOCOLS {
        let call = |operation, input| {
            run(&[
                "call",
                serving.url(),
                operation,
                input,
                "--protocol",
                protocol,
            ])
        };
        let ended = call("GetCity", r#"{"cityId":"atlantis"}"#);
        assert_eq!(ended.code, Some(1));
        // Standard output has the same fault for programs, with the data of the protocol.
        assert!(ended.stdout.starts_with("{\"fault\":{"), "{}", ended.stdout);
        assert!(ended.stdout.contains("\"kind\":\"NoSuchResource\""));
        assert_eq!(
            ended.stderr,
            "NoSuchResource: there is no city \"atlantis\"\n\
             {\"message\":\"there is no city \\\"atlantis\\\"\",\"resourceKind\":\"city\",\"resourceId\":\"atlantis\"}\n",
            "{protocol}"
        );
        // A required member is missing. Over REST the path cannot be built, and the call is not
        // sent. Over other protocols the server rejects it.
        let ended = call("GetCity", "{}");
        let expected = if protocol == "restJson1" { 2 } else { 1 };
        assert_eq!(ended.code, Some(expected), "{protocol}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("cityId"),
            "{protocol}: {}",
            ended.stderr
        );
    }
}

#[test]
fn polywire_call_standard_input() {
    let _case = Case::begin("polywire_call_standard_input");
    let serving = Serving::start(&[]);
    let ended = run_with_input(
        &["call", serving.url(), "GetCity", "-"],
        "\n{ \"cityId\": \"kyoto\" }\n",
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("Kyoto"), "{}", ended.stdout);
    let ended = run_with_input(&["call", serving.url(), "GetCity", "-"], "");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
}

#[test]
fn polywire_call_show_wire() {
    let _case = Case::begin("polywire_call_show_wire");
    let serving = Serving::start(&[]);
    for (protocol, request, inside) in [
        (
            "restJson1",
            "> GET http://127.0.0.1",
            "< content-type: application/json",
        ),
        (
            "rpcv2Cbor",
            "/service/Weather/operation/GetCity",
            "> 000000  ",
        ),
        (
            "xmlRpc",
            "> POST http://127.0.0.1",
            "> <?xml version=\"1.0\"?><methodCall>",
        ),
    ] {
        let ended = run(&[
            "call",
            serving.url(),
            "GetCity",
            r#"{"cityId":"oslo"}"#,
            "--show-wire",
            "--protocol",
            protocol,
        ]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stderr.contains(request), "{}", ended.stderr);
        assert!(ended.stderr.contains(inside), "{}", ended.stderr);
        assert!(ended.stderr.contains("< 200 OK"), "{}", ended.stderr);
        // Only the answer is on standard output, for the next program.
        assert!(ended.stdout.starts_with("{\"cityId\""), "{}", ended.stdout);
    }
}

#[test]
fn polywire_call_with_a_model_and_headers() {
    let _case = Case::begin("polywire_call_with_a_model_and_headers");
    let serving = Serving::start(&[]);
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let model = model.to_str().unwrap();
    let ended = run(&[
        "call",
        serving.url(),
        "GetStationImage",
        r#"{"stationId":"oslo-blindern"}"#,
        "--model",
        model,
        "-H",
        "X-Trace: a b",
        "--show-wire",
    ]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("> x-trace: a b"), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains(r#""metadata":{"camera":"north","exposure":"1/250"}"#),
        "{}",
        ended.stdout
    );
}

/// WordPress, Odoo and other servers have XML-RPC at their own paths. Over xmlRpc, calls are sent
/// to the path of the URL.
#[test]
fn polywire_call_xmlrpc_elsewhere() {
    let _case = Case::begin("polywire_call_xmlrpc_elsewhere");
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let model = model.to_str().unwrap();
    let time = "<?xml version=\"1.0\"?><methodResponse><params><param><value><struct><member>\
                <name>time</name><value><dateTime.iso8601>20261101T12:00:00</dateTime.iso8601>\
                </value></member></struct></value></param></params></methodResponse>";
    let answer = format!("HTTP/1.1 200 OK\nContent-Type: text/xml\n\n{time}");
    let call = |url: &str| {
        let operation = "GetCurrentTime";
        run(&["call", url, operation, "-p", "xmlRpc", "--model", model])
    };
    for (path, line) in [
        ("", "POST /RPC2 HTTP/1.1\r\n"),
        ("/", "POST /RPC2 HTTP/1.1\r\n"),
        ("/RPC2", "POST /RPC2 HTTP/1.1\r\n"),
        ("/xmlrpc.php", "POST /xmlrpc.php HTTP/1.1\r\n"),
        (
            "/xmlrpc/2/common?db=a",
            "POST /xmlrpc/2/common?db=a HTTP/1.1\r\n",
        ),
        ("/rpc/", "POST /rpc/ HTTP/1.1\r\n"),
    ] {
        let server = Canned::start(vec![(line, answer.clone())]);
        let ended = call(&format!("{}{path}", server.url));
        assert_eq!(ended.code, Some(0), "{path}: {}", ended.stderr);
        assert!(ended.stdout.contains("2026-11-01T12:00:00Z"), "{path}");
        let requests = server.requests();
        assert_eq!(requests.len(), 1, "{path}");
        assert!(requests[0].contains("<methodName>"), "{}", requests[0]);
    }
}

/// Over xmlRpc the model is fetched from the server's own pages, not from the path of the calls.
/// Over other protocols the path of the URL is a prefix of all paths.
#[test]
fn polywire_call_model_of_a_url_with_a_path() {
    let _case = Case::begin("polywire_call_model_of_a_url_with_a_path");
    for (protocol, line) in [
        ("xmlRpc", "GET /_polywire/model.json HTTP/1.1\r\n"),
        ("restJson1", "GET /base/_polywire/model.json HTTP/1.1\r\n"),
        ("rpcv2Cbor", "GET /base/_polywire/model.json HTTP/1.1\r\n"),
    ] {
        let server = Canned::start(Vec::<(&str, String)>::new());
        let url = format!("{}/base", server.url);
        let ended = run(&["call", &url, "GetCurrentTime", "-p", protocol]);
        assert_eq!(ended.code, Some(3), "{protocol}: {}", ended.stderr);
        assert!(ended.stderr.contains("no model at"), "{}", ended.stderr);
        assert!(server.requests()[0].starts_with(line), "{protocol}");
    }
}

/// Each --model takes one file, so that the URL may follow it.
#[test]
fn polywire_call_with_models_first() {
    let _case = Case::begin("polywire_call_with_models_first");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [first, second] = ["service.smithy", "operation.smithy"].map(|name| folder.join(name));
    let begin = "$version: \"2\"\nnamespace example.two\n";
    let service = "use aws.protocols#restJson1\n@restJson1\n\
                   service Two { version: \"1\", operations: [Get] }\n";
    let operation = "@readonly\n@http(method: \"GET\", uri: \"/get\")\n\
                     operation Get { output := { @required text: String } }\n";
    std::fs::write(&first, format!("{begin}{service}")).unwrap();
    std::fs::write(&second, format!("{begin}{operation}")).unwrap();
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    // For `serve`, --model takes all files that follow.
    for serve in [
        vec!["--model", first, second],
        vec!["-m", first, "-m", second],
    ] {
        let serving = Serving::start(&serve);
        let ended = run(&["call", "-m", first, "--model", second, serving.url(), "Get"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.contains("\"text\""), "{}", ended.stdout);
    }
}

#[test]
fn polywire_call_help() {
    let _case = Case::begin("polywire_call_help");
    let ended = run(&["call", "--help"]);
    assert_eq!(ended.code, Some(0));
    for word in ["Exit status: 0", "xmlrpc.php", "--model <FILE> "] {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
}

#[test]
fn polywire_call_usage_errors() {
    let _case = Case::begin("polywire_call_usage_errors");
    let serving = Serving::start(&[]);
    let url = serving.url();
    for (arguments, word) in [
        (vec![], "Usage"),
        (vec!["call"], "Usage"),
        (vec!["call", url], "OPERATION"),
        (vec!["call", url, "GetCitty"], "GetCity"),
        (vec!["call", url, "GetCity", "{"], "byte 1"),
        (vec!["call", url, "GetCity", r#"{"cityId":5}"#], "cityId"),
        (
            vec!["call", url, "GetCity", "--protocol", "soap"],
            "restJson1",
        ),
        (vec!["call", url, "GetCity", "--deadline", "-1"], "deadline"),
        (
            vec!["call", url, "GetCity", "--model", "/nowhere.smithy"],
            "/nowhere.smithy",
        ),
        (vec!["call", "localhost", "GetCity"], "http://"),
        (vec!["call", "http://", "GetCity"], "no host"),
    ] {
        let ended = run(&arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(word),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

/// `polywire call ... 2>&1 | true`.
#[test]
fn polywire_call_nobody_reads() {
    use std::process::{Command, Stdio};
    let _case = Case::begin("polywire_call_nobody_reads");
    let serving = Serving::start(&[]);
    for (input, code) in [(r#"{"cityId":"oslo"}"#, 0), (r#"{"cityId":"atlantis"}"#, 1)] {
        let mut child = Command::new(polywire())
            .args(["call", serving.url(), "GetCity", input, "--show-wire"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(code), "{input}");
    }
}

#[test]
fn polywire_call_nobody_there() {
    let _case = Case::begin("polywire_call_nobody_there");
    // A port on which no program listens.
    let url = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let model = model.to_str().unwrap();
    for arguments in [
        vec!["call", &url, "GetCity", r#"{"cityId":"oslo"}"#],
        vec![
            "call",
            &url,
            "GetCity",
            r#"{"cityId":"oslo"}"#,
            "--model",
            model,
        ],
    ] {
        let ended = run(&arguments);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        assert!(
            ended.stderr.to_lowercase().contains("connection refused"),
            "{}",
            ended.stderr
        );
    }
}

/// The headers of the call are also sent when the model is fetched.
#[test]
fn polywire_call_fetches_the_model_with_its_headers() {
    let _case = Case::begin("polywire_call_fetches_the_model_with_its_headers");
    let server = Canned::start(Vec::<(&str, String)>::new());
    let ended = run(&["call", &server.url, "GetCity", "-H", "Authorization: me"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let request = server.requests()[0].to_lowercase();
    assert!(
        request.starts_with("get /_polywire/model.json "),
        "{request}"
    );
    assert!(request.contains("\r\nauthorization: me\r\n"), "{request}");
}

/// Control characters in a peer's message are not written to the terminal.
#[test]
fn polywire_call_control_characters() {
    let _case = Case::begin("polywire_call_control_characters");
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let body = r#"{"message":"\u001b[31mred\u0007"}"#;
    let answer = format!("HTTP/1.1 400 Oh\nContent-Type: application/json\n\n{body}");
    let server = Canned::start(vec![("", answer)]);
    let model = model.to_str().unwrap();
    let ended = run(&["call", "--model", model, &server.url, "GetCurrentTime"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(r"\u{1b}[31mred\u{7}"),
        "{:?}",
        ended.stderr
    );
}

#[test]
fn polywire_call_deadline() {
    let _case = Case::begin("polywire_call_deadline");
    // The listener accepts connections by its backlog, and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let ended = run(&[
        "call",
        &url,
        "GetCity",
        r#"{"cityId":"oslo"}"#,
        "--model",
        model.to_str().unwrap(),
        "--deadline",
        "0.3",
    ]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(": not done within 0.3 s"),
        "{}",
        ended.stderr
    );
    // The deadline includes the fetch of the model.
    let ended = run(&["call", &url, "GetCity", "--deadline", "0.2"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(": not done within 0.2 s)"),
        "{}",
        ended.stderr
    );
}

#[test]
fn polywire_call_what_is_no_service() {
    let _case = Case::begin("polywire_call_what_is_no_service");
    // A protocol that the server does not offer: nothing is sent, and the error names what it offers.
    let serving = Serving::start(&["--protocol", "xmlRpc"]);
    let input = r#"{"cityId":"oslo"}"#;
    for protocol in ["restJson1", "rpcv2Cbor"] {
        let ended = run(&[
            "call",
            serving.url(),
            "GetCity",
            input,
            "--protocol",
            protocol,
        ]);
        assert_eq!(ended.code, Some(2), "{protocol}: {ended:?}");
        let expected = format!("the server does not offer {protocol}; it offers xmlRpc");
        assert!(
            ended.stderr.contains(&expected),
            "{protocol}: {}",
            ended.stderr
        );
    }
}

/// A proxy's error is not a fault of the service, and an answer that cannot be decoded is not an
/// error of the caller.
#[test]
fn polywire_call_what_is_no_answer() {
    let _case = Case::begin("polywire_call_what_is_no_answer");
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let model = model.to_str().unwrap();
    let html = "Content-Type: text/html\n\n<h1>Bad Gateway</h1>";
    let json = "Content-Type: application/json\n\n";
    for (answer, word) in [
        (format!("HTTP/1.1 502 Bad Gateway\n{html}"), "502"),
        (format!("HTTP/1.1 502 Bad Gateway\n{json}{{}}"), "502"),
        (format!("HTTP/1.1 404 Not Found\n{html}"), "404"),
        (
            format!("HTTP/1.1 200 OK\n{json}{{\"time\":[]}}"),
            "the response is not|cannot decode the response",
        ),
    ] {
        for protocol in PROTOCOLS {
            let server = Canned::start(vec![("", answer.clone())]);
            let ended = run(&[
                "call",
                &server.url,
                "GetCurrentTime",
                "-p",
                protocol,
                "--model",
                model,
            ]);
            assert_eq!(ended.code, Some(3), "{protocol}: {answer}: {ended:?}");
            let is_told = word.split('|').any(|word| ended.stderr.contains(word));
            assert!(is_told, "{protocol}: {}", ended.stderr);
        }
    }
    // A third-party service that reports an error.
    for answer in [
        format!("HTTP/1.1 500 Oh\nX-Amzn-ErrorType: Broken\n{html}"),
        format!("HTTP/1.1 400 Oh\n{json}{{\"message\":\"not so\"}}"),
        format!("HTTP/1.1 502 Oh\nX-Amzn-ErrorType: Broken\n{json}{{}}"),
    ] {
        let server = Canned::start(vec![("", answer.clone())]);
        let ended = run(&["call", &server.url, "GetCurrentTime", "--model", model]);
        assert_eq!(ended.code, Some(1), "{answer}: {ended:?}");
    }
}
