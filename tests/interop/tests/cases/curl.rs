//! curl and JSON: the HTTP bindings as used by hand.

use polywire::codec::json;
use polywire_interop::{Case, Serving, polywire};

const JSON: [&str; 2] = ["--header", "Content-Type: application/json"];

#[test]
fn curl_get() {
    let case = Case::begin("curl_get");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let answer = curl.get(&format!("{}/cities/oslo", serving.url()), &[]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("etag"), Some("\"r-17\""));
    let city = answer.json();
    assert_eq!(city["name"].as_str(), Some("Oslo"));
    assert_eq!(city["founded"].as_str(), Some("1048-01-01T00:00:00Z"));
    assert!(city["revision"].is_null());
}

#[test]
fn curl_query() {
    let case = Case::begin("curl_query");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let get = |target: &str| curl.get(&format!("{}{target}", serving.url()), &[]);
    let page = get("/cities?pageSize=2").json();
    assert_eq!(page["nextToken"].as_str(), Some("oslo"));
    let page = get("/cities?pageSize=2&nextToken=oslo").json();
    assert_eq!(page["cities"][0]["cityId"].as_str(), Some("quito"));
    let found = get("/stations?text=blindern&kind=automatic&kind=manned&active=true").json();
    assert_eq!(
        found["stations"][0]["stationId"].as_str(),
        Some("oslo-blindern")
    );
    let region = get("/regions/europe/norway").json();
    assert_eq!(region["region"]["name"].as_str(), Some("Norway"));
    let year = get("/cities/oslo/statistics/2025");
    assert!(
        year.text().contains("123456789012345678901234567890"),
        "{}",
        year.text()
    );
}

#[test]
fn curl_put() {
    let case = Case::begin("curl_put");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let url = format!("{}/stations/oslo-blindern/observations", serving.url());
    let body = r#"{"observedAt":"2026-11-01T11:50:00Z","reading":{"raw":"AAECAwQ="},"quality":3}"#;
    let token = "Idempotency-Key: by-curl";
    let put = || {
        let [header, json] = JSON;
        let arguments = ["-X", "PUT", header, json, "--header", token, "--data", body];
        curl.get(&url, &arguments)
    };
    let first = put();
    assert_eq!(first.status, 201, "{}", first.text());
    assert_eq!(first.json()["reading"]["raw"].as_str(), Some("AAECAwQ="));
    // The same token marks a repeated request.
    let second = put();
    assert_eq!(second.status, 200);
    assert_eq!(
        second.json()["observationId"],
        first.json()["observationId"]
    );
}

#[test]
fn curl_post() {
    let case = Case::begin("curl_post");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let url = format!("{}/storms", serving.url());
    let body = r#"{"name":"Ylva","severity":2,"track":[{"at":1793527200,"position":{"latitude":58,"longitude":7.0}}]}"#;
    let [header, json] = JSON;
    let answer = curl.get(&url, &[header, json, "--data", body]);
    assert_eq!(answer.status, 201);
    assert_eq!(
        answer.json(),
        json::read_value(r#"{"stormId":"storm-2026-1","acceptedAt":1793534400}"#).unwrap()
    );
    // The body is sent in chunks, or after "100 Continue".
    for header in ["Transfer-Encoding: chunked", "Expect: 100-continue"] {
        let answer = curl.get(
            &url,
            &["--header", json, "--header", header, "--data", body],
        );
        assert_eq!(answer.status, 201, "{header}");
    }
    // The default content type of curl is that of forms, which awsQuery uses. It is not supported
    // at this path.
    let answer = curl.get(&url, &["--data", body]);
    assert_eq!(answer.status, 415);
    assert_eq!(
        answer.header("x-amzn-errortype"),
        Some("UnsupportedMediaTypeException")
    );
}

#[test]
fn curl_delete() {
    let case = Case::begin("curl_delete");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let url = format!("{}/cities/quito", serving.url());
    let answer = curl.get(&url, &["-X", "DELETE"]);
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    assert_eq!(curl.get(&url, &[]).status, 404);
}

#[test]
fn curl_headers_and_payload() {
    let case = Case::begin("curl_headers_and_payload");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let url = format!("{}/stations/oslo-blindern/image", serving.url());
    let answer = curl.get(&url, &[]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("image/png"));
    assert_eq!(answer.header("x-image-width"), Some("1"));
    assert_eq!(
        answer.header("last-modified"),
        Some("Sun, 01 Nov 2026 11:45:00 GMT")
    );
    assert_eq!(answer.header("x-meta-camera"), Some("north"));
    assert_eq!(answer.header("x-meta-exposure"), Some("1/250"));
    assert!(answer.body.starts_with(b"\x89PNG\r\n"));
    assert_eq!(
        answer.header("content-length"),
        Some(answer.body.len().to_string().as_str())
    );

    let head = curl.get(&url, &["--head"]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(
        head.header("content-length"),
        answer.header("content-length")
    );
    let condition = "If-Modified-Since: Sun, 01 Nov 2026 11:00:00 GMT";
    assert_eq!(curl.get(&url, &["--header", condition]).status, 200);
    let nonsense = curl.get(&url, &["--header", "If-Modified-Since: yesterday"]);
    assert_eq!(nonsense.status, 400);
}

#[test]
fn curl_errors() {
    let case = Case::begin("curl_errors");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&["--max-body", "10000"]);
    let url = serving.url();
    let [header, json] = JSON;
    let kind = |target: &str, arguments: &[&str]| {
        let answer = curl.get(&format!("{url}{target}"), arguments);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let kind = answer.header("x-amzn-errortype").unwrap_or_default();
        (answer.status, kind.to_owned())
    };
    let answer = curl.get(&format!("{url}/cities/atlantis"), &[]);
    assert_eq!(
        (answer.status, answer.header("x-amzn-errortype")),
        (404, Some("NoSuchResource"))
    );
    assert_eq!(
        answer.json(),
        json::read_value(r#"{"message":"there is no city \"atlantis\"","resourceKind":"city","resourceId":"atlantis"}"#).unwrap()
    );
    let is = |status, kind: &str| (status, kind.to_owned());
    assert_eq!(kind("/nowhere", &[]), is(404, "UnknownOperationException"));
    assert_eq!(kind("/storms", &[]), is(405, "MethodNotAllowedException"));
    assert_eq!(
        kind("/storms", &[header, json, "--data", "{"]),
        is(400, "SerializationException")
    );
    assert_eq!(
        kind("/storms", &[header, json, "--data", "{}"]),
        is(400, "ValidationException")
    );
    assert_eq!(
        kind("/time", &["--header", "Accept: text/html"]),
        is(406, "NotAcceptableException")
    );
    // A body that is too large, with a length and in chunks without a length.
    let large = format!(r#"{{"name":"{}"}}"#, "x".repeat(100_000));
    let large = ["--data", &large, header, json];
    assert_eq!(
        kind("/storms", &large),
        is(413, "RequestEntityTooLargeException")
    );
    let unasked = [&large[..], &["--header", "Expect:"]].concat();
    assert_eq!(
        kind("/storms", &unasked),
        is(413, "RequestEntityTooLargeException")
    );
    let chunked = [&unasked[..], &["--header", "Transfer-Encoding: chunked"]].concat();
    assert_eq!(
        kind("/storms", &chunked),
        is(413, "RequestEntityTooLargeException")
    );
}

#[test]
fn curl_http_versions() {
    let case = Case::begin("curl_http_versions");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let url = format!("{}/cities/oslo", serving.url());
    let plain = curl.get(&url, &[]);
    for version in [
        "--http1.0",
        "--http1.1",
        "--http2",
        "--http2-prior-knowledge",
    ] {
        let answer = curl.get(&url, &[version]);
        assert_eq!(
            (answer.status, &answer.body),
            (200, &plain.body),
            "{version}"
        );
        // curl fails with another exit code if a response to HEAD has a body.
        for (url, status) in [(&url, 200), (&format!("{url}/nowhere"), 404)] {
            let head = curl.get(url, &[version, "--head"]);
            assert_eq!(
                (head.status, head.body.as_slice()),
                (status, &b""[..]),
                "{version}"
            );
        }
    }
}

#[test]
fn curl_own_pages() {
    let case = Case::begin("curl_own_pages");
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let get = |path: &str| curl.get(&format!("{}/_polywire/{path}", serving.url()), &[]);
    assert_eq!(get("health").text(), "ok\n");
    assert!(get("").text().contains("GetCity"));
    assert!(
        get("model.json").json()["shapes"]["example.weather#GetCity"]
            .get("type")
            .is_some()
    );
    assert_eq!(get("nothing").status, 404);
}

/// The commands that `polywire serve` prints work.
#[test]
fn curl_lines_to_paste() {
    let case = Case::begin("curl_lines_to_paste");
    if case.curl().is_none() {
        return;
    }
    let mut serving = Serving::start(&[]);
    let (url, folder) = (
        serving.url().to_owned(),
        polywire().parent().unwrap().to_owned(),
    );
    let lines = serving.lines_until("Ctrl-C");
    // The printed path of the program is its full path.
    let own = format!("{} call ", polywire().display());
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| line.starts_with("curl ") || line.starts_with(&own))
        .collect();
    assert_eq!(lines.len(), 11, "one a wire");
    // Frames have their own scheme, so only the address is compared.
    let (_, address) = url.split_once("://").unwrap();
    for line in lines {
        assert!(line.contains(address), "{line}");
        let path = format!(
            "{}:{}",
            folder.display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let output = std::process::Command::new("sh")
            .args(["-c", line])
            .env("PATH", path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{line}: {output:?}");
        assert!(text.contains("time"), "{line}: {text}");
    }
}
