//! restJson1: every HTTP binding, for inputs and outputs. Most tests check the request of the
//! client, the response of the server, and the output that the client decodes. The `by_hand` tests
//! send requests in forms that other clients use.

use polywire_protocol::ProtocolKind::RestJson1;

use crate::support::{Site, output, read, request, service, write};

/// The messages of one call as text, and its decoded output.
#[derive(Debug)]
struct RoundTrip {
    request: String,
    response: String,
    output: String,
}

async fn round_trip(site: &Site, operation: &str, input: &str) -> RoundTrip {
    let service = service();
    let shapes = service.find_operation(operation).unwrap();
    let client = site.client(RestJson1).0;
    let mut shown = Vec::new();
    let output = client
        .call_showing(operation, read(shapes.input(), input), |exchange| {
            let request = &exchange.request;
            let target = request.uri().path_and_query().unwrap();
            let mut text = format!("{} {target}\n", request.method());
            push_message(&mut text, request.headers(), request.body());
            shown = vec![text];
            if let Some(response) = &exchange.response {
                let mut text = format!("{}\n", response.status().as_u16());
                push_message(&mut text, response.headers(), response.body());
                shown.push(text);
            }
        })
        .await
        .unwrap();
    RoundTrip {
        output: write(shapes.output(), &output),
        response: shown.pop().unwrap(),
        request: shown.pop().unwrap(),
    }
}

/// Appends the body and the sorted headers, without those that do not depend on the model.
fn push_message(text: &mut String, headers: &http::HeaderMap, body: &[u8]) {
    let mut lines: Vec<String> = headers
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "user-agent" | "date" | "content-length"))
        .map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap()))
        .collect();
    lines.sort();
    text.extend(lines);
    if !body.is_empty() {
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(body));
    }
}

#[tokio::test]
async fn labels() {
    let site = Site::plain().await;
    let input = r#"{"text":"a b/c%d?ö","number":-5,"flag":true,"real":1.5,"when":"2026-11-01T12:00:00.250Z","epoch":"2026-11-01T12:00:00Z","httpDate":"2026-11-01T12:00:00Z","color":"red"}"#;
    let round_trip = round_trip(&site, "Labels", input).await;
    assert_eq!(
        round_trip.request,
        "GET /labels/a%20b%2Fc%25d%3F%C3%B6/-5/true/1.5/2026-11-01T12%3A00%3A00.25Z/1793534400\
         /Sun%2C%2001%20Nov%202026%2012%3A00%3A00%20GMT/red\n"
    );
    assert_eq!(round_trip.output, input.replace(".250Z", ".25Z"));
}

#[tokio::test]
async fn labels_by_hand() {
    let site = Site::plain().await;
    // Lower-case escapes, a literal plus, and a trailing slash.
    let target = "/labels/%c3%b6+1/12/false/NaN/2026-11-01T12:00:00Z/1793534400.5\
                  /Sun,%2001%20Nov%202026%2012:00:00%20GMT/red/";
    let reply = site.send(request(&format!("GET {target}"), &[], "")).await;
    assert_eq!(
        reply.text(),
        r#"{"text":"ö+1","number":12,"flag":false,"real":"NaN","when":1793534400,"epoch":1793534400.5,"httpDate":1793534400,"color":"red"}"#
    );
}

#[tokio::test]
async fn greedy_labels() {
    let site = Site::plain().await;
    let input = r#"{"bucket":"b","path":"a/b c//end/7","revision":3}"#;
    let round_trip = round_trip(&site, "Greedy", input).await;
    assert_eq!(
        round_trip.request,
        "GET /files/b/a/b%20c//end/7/end?download&r=3\n"
    );
    assert_eq!(round_trip.output, input);

    let reply = site
        .send(request("GET /files/x/one%2Ftwo/end?r=1&download=", &[], ""))
        .await;
    assert_eq!(
        reply.text(),
        r#"{"bucket":"x","path":"one/two","revision":1}"#
    );
    // The query literal is part of the URI pattern.
    let reply = site.send(request("GET /files/x/y/end", &[], "")).await;
    assert_eq!(reply.status, 404);
}

#[tokio::test]
async fn query() {
    let site = Site::plain().await;
    let input = r#"{"text":"a&b=c d+ö","numbers":[1,-2,3],"flag":false,"real":2.5,"when":"2026-11-01T12:00:00Z","epochs":["2026-11-01T12:00:00Z","1970-01-01T00:00:00Z"],"colors":["red","green"],"rest":{"x":["1","2"],"n":["9"]}}"#;
    let round_trip = round_trip(&site, "Query", input).await;
    // The client does not send a parameter from the map if it is bound to another member, here `n`.
    assert_eq!(
        round_trip.request,
        "GET /query?kind=test&t=a%26b%3Dc%20d%2B%C3%B6&n=1&n=-2&n=3&flag=false&real=2.5\
         &when=2026-11-01T12%3A00%3A00Z&epochs=1793534400&epochs=0&colors=red&colors=green&x=1&x=2\n"
    );
    // The server puts all query parameters into the map.
    assert_eq!(
        round_trip.output,
        r#"{"text":"a&b=c d+ö","numbers":[1,-2,3],"flag":false,"real":2.5,"when":"2026-11-01T12:00:00Z","epochs":[1793534400,0],"colors":["red","green"],"rest":{"kind":["test"],"t":["a&b=c d+ö"],"n":["1","-2","3"],"flag":["false"],"real":["2.5"],"when":["2026-11-01T12:00:00Z"],"epochs":["1793534400","0"],"colors":["red","green"],"x":["1","2"]}}"#
    );
}

#[tokio::test]
async fn query_by_hand() {
    let site = Site::plain().await;
    let target = "/query?n=1&kind=test&t=a+b%2Bc&empty&n=2&t=second&&x=";
    let reply = site.send(request(&format!("GET {target}"), &[], "")).await;
    // A plus decodes to a space. A parameter without a value is empty. If a member that is not a
    // list has several values, the first one counts.
    assert_eq!(
        reply.text(),
        r#"{"text":"a b+c","numbers":[1,2],"rest":{"n":["1","2"],"kind":["test"],"t":["a b+c","second"],"empty":[""],"x":[""]}}"#
    );
}

#[tokio::test]
async fn headers() {
    let site = Site::plain().await;
    let input = r#"{"text":"plain, as it is","number":-7,"flag":true,"real":-0.5,"when":"2026-11-01T12:00:00Z","dateTime":"2026-11-01T12:00:00Z","epoch":"2026-11-01T12:00:00Z","texts":["a","b,c","say \"hi\"","back\\slash"," wide "],"numbers":[1,2],"flags":[true,false],"dates":["2026-11-01T12:00:00Z","1970-01-01T00:00:00Z"],"colors":["green","red"],"json":"{\"a\":[1,2]}","meta":{"camera":"north","lens":"50mm"},"note":"in the body"}"#;
    let round_trip = round_trip(&site, "Headers", input).await;
    let headers = r#"content-type: application/json
x-colors: green, red
x-date-time: 2026-11-01T12:00:00Z
x-dates: Sun, 01 Nov 2026 12:00:00 GMT, Thu, 01 Jan 1970 00:00:00 GMT
x-epoch: 1793534400
x-flag: true
x-flags: true, false
x-json: eyJhIjpbMSwyXX0=
x-meta-camera: north
x-meta-lens: 50mm
x-number: -7
x-numbers: 1, 2
x-real: -0.5
x-text: plain, as it is
x-texts: a, "b,c", "say \"hi\"", back\slash, " wide "
x-when: Sun, 01 Nov 2026 12:00:00 GMT

{"note":"in the body"}"#;
    assert_eq!(round_trip.request, format!("POST /headers\n{headers}"));
    assert_eq!(round_trip.response, format!("200\n{headers}"));
    assert_eq!(round_trip.output, output("Headers", input));
}

#[tokio::test]
async fn headers_by_hand() {
    let site = Site::plain().await;
    // Lists over several header lines, lists without spaces, unneeded quotes, and names in mixed
    // case.
    let headers = [
        ("x-TEXTS", r#""a","b, \"c\"""#),
        ("X-Texts", "d,,e"),
        ("X-Numbers", "1,2"),
        ("X-Numbers", "3"),
        (
            "X-Dates",
            "Sun, 01 Nov 2026 12:00:00 GMT,Thu, 01 Jan 1970 00:00:00 GMT",
        ),
        ("X-META-Camera", "north"),
        ("X-Text", "  trimmed\t"),
    ];
    let reply = site.send(request("POST /headers", &headers, "")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.header("x-texts"), Some(r#"a, "b, \"c\"", d, e"#));
    assert_eq!(reply.header("x-numbers"), Some("1, 2, 3"));
    assert_eq!(
        reply.header("x-dates"),
        Some("Sun, 01 Nov 2026 12:00:00 GMT, Thu, 01 Jan 1970 00:00:00 GMT")
    );
    assert_eq!(reply.header("x-meta-camera"), Some("north"));
    assert_eq!(reply.header("x-text"), Some("trimmed"));
    assert_eq!(reply.header("x-number"), None);
    assert_eq!(reply.text(), "{}");
}

#[tokio::test]
async fn invalid_headers() {
    let site = Site::plain().await;
    let client = site.client(RestJson1);
    // The client rejects a value that a header cannot contain.
    let error = client
        .call("Headers", r#"{"text":"a\nb"}"#)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("header"), "{error}");
    for (name, value, place) in [
        ("X-Number", "300", "header X-Number"),
        ("X-Number", "1x", "header X-Number"),
        ("X-Flag", "yes", "header X-Flag"),
        ("X-When", "2026-11-01T12:00:00Z", "header X-When"),
        ("X-Dates", "tomorrow", "header X-Dates"),
        ("X-Texts", r#"a, "b"#, "header X-Texts"),
        ("X-Json", "{}", "header X-Json"),
    ] {
        let reply = site
            .send(request("POST /headers", &[(name, value)], ""))
            .await;
        let (status, name, message) = reply.error(RestJson1);
        assert_eq!(
            (status, name.as_str()),
            (400, "SerializationException"),
            "{value}"
        );
        assert!(message.contains(place), "{message}");
    }
    site.assert_still_serving().await;
}

#[tokio::test]
async fn blob_payloads() {
    let site = Site::plain().await;
    let round_trip = round_trip(&site, "BlobPayload", r#"{"name":"p","picture":"/wCA"}"#).await;
    assert!(
        round_trip
            .request
            .starts_with("PUT /payload/blob/p\ncontent-type: image/png\n\n")
    );
    assert!(
        round_trip
            .response
            .starts_with("200\ncontent-type: image/png\nx-name: p\n\n")
    );
    assert_eq!(round_trip.output, r#"{"name":"p","picture":"/wCA"}"#);

    let reply = site
        .send(request(
            "PUT /payload/blob/q",
            &[("Content-Type", "image/png")],
            [0, 159, 146, 150],
        ))
        .await;
    assert_eq!(reply.body, [0, 159, 146, 150]);
    // Without a payload the body is empty.
    let reply = site.send(request("PUT /payload/blob/q", &[], "")).await;
    assert_eq!((reply.status, reply.body.len()), (200, 0));
    assert_eq!(reply.header("x-name"), Some("q"));
}

#[tokio::test]
async fn blob_payload_with_its_own_type() {
    let site = Site::plain().await;
    let plain = round_trip(&site, "PlainBlob", r#"{"data":"YQ=="}"#).await;
    assert_eq!(
        plain.request,
        "PUT /payload/plain-blob\ncontent-type: application/octet-stream\n\na"
    );
    let typed = round_trip(&site, "PlainBlob", r#"{"type":"text/csv","data":"YQ=="}"#).await;
    assert_eq!(
        typed.request,
        "PUT /payload/plain-blob\ncontent-type: text/csv\n\na"
    );
    assert_eq!(typed.response, "200\ncontent-type: text/csv\n\na");
    assert_eq!(typed.output, r#"{"type":"text/csv","data":"YQ=="}"#);
}

#[tokio::test]
async fn text_payloads() {
    let site = Site::plain().await;
    let text = round_trip(&site, "TextPayload", r#"{"text":"\"ö\" & more"}"#).await;
    assert_eq!(
        text.request,
        "PUT /payload/text\ncontent-type: text/plain\n\n\"ö\" & more"
    );
    assert_eq!(text.output, r#"{"text":"\"ö\" & more"}"#);
    let color = round_trip(&site, "EnumPayload", r#"{"color":"green"}"#).await;
    assert_eq!(
        color.request,
        "PUT /payload/enum\ncontent-type: text/plain\n\ngreen"
    );
    assert_eq!(color.output, r#"{"color":"green"}"#);

    let plain = [("Content-Type", "text/plain; charset=utf-8")];
    let bad = site
        .send(request("PUT /payload/text", &plain, [0xff]))
        .await;
    assert_eq!(bad.error(RestJson1).0, 400);
}

#[tokio::test]
async fn structure_payloads() {
    let site = Site::plain().await;
    let input = r#"{"name":"h","person":{"name":"Ada","friends":[{"name":"Grace","age":85}]}}"#;
    let round_trip = round_trip(&site, "StructurePayload", input).await;
    assert_eq!(
        round_trip.request,
        "PUT /payload/structure\ncontent-type: application/json\nx-name: h\n\n\
         {\"name\":\"Ada\",\"friends\":[{\"name\":\"Grace\",\"age\":85}]}"
    );
    assert_eq!(round_trip.output, input);
    let missing = site
        .send(request("PUT /payload/structure", &[], r#"{"age":1}"#))
        .await;
    let (status, name, message) = missing.error(RestJson1);
    assert_eq!((status, name.as_str()), (400, "ValidationException"));
    assert!(message.contains("'/person/name'"), "{message}");
}

#[tokio::test]
async fn absent_structure_payloads() {
    let site = Site::plain().await;
    // An absent payload is not sent as `{}`, because a person without the required name is invalid.
    let round_trip = round_trip(&site, "StructurePayload", r#"{"name":"h"}"#).await;
    assert_eq!(round_trip.request, "PUT /payload/structure\nx-name: h\n");
    assert_eq!(round_trip.output, r#"{"name":"h"}"#);
    for operation in [
        "UnionPayload",
        "DocumentPayload",
        "BlobPayload",
        "TextPayload",
    ] {
        let input = if operation == "BlobPayload" {
            r#"{"name":"n"}"#
        } else {
            "{}"
        };
        let round_trip = self::round_trip(&site, operation, input).await;
        assert!(!round_trip.request.contains("\n\n"), "{round_trip:?}");
        assert_eq!(round_trip.output, input, "{operation}");
    }
}

#[tokio::test]
async fn union_payloads() {
    let site = Site::plain().await;
    for (choice, body) in [
        (r#"{"number":5}"#, r#"{"the-number":5}"#),
        (r#"{"text":"t"}"#, r#"{"text":"t"}"#),
        (r#"{"nothing":{}}"#, r#"{"nothing":{}}"#),
        (
            r#"{"person":{"name":"Ada"}}"#,
            r#"{"person":{"name":"Ada"}}"#,
        ),
    ] {
        let input = format!(r#"{{"choice":{choice}}}"#);
        let round_trip = round_trip(&site, "UnionPayload", &input).await;
        assert!(
            round_trip.request.ends_with(&format!("\n\n{body}")),
            "{round_trip:?}"
        );
        assert_eq!(round_trip.output, input);
    }
    for bad in [
        r#"{"text":"a","the-number":1}"#,
        "{}",
        r#"{"colour":1}"#,
        "[]",
    ] {
        let reply = site.send(request("PUT /payload/union", &[], bad)).await;
        assert_eq!(reply.error(RestJson1).0, 400, "{bad}");
    }
}

#[tokio::test]
async fn document_payloads() {
    let site = Site::plain().await;
    for document in [
        r#"{"a":[1,2.5,"x",null,{}]}"#,
        "[]",
        r#""text""#,
        "17",
        "true",
    ] {
        let input = format!(r#"{{"document":{document}}}"#);
        let round_trip = round_trip(&site, "DocumentPayload", &input).await;
        assert!(
            round_trip.request.ends_with(&format!("\n\n{document}")),
            "{round_trip:?}"
        );
        assert_eq!(round_trip.output, input);
    }
}

#[tokio::test]
async fn response_codes() {
    let site = Site::plain().await;
    let accepted = round_trip(&site, "StatusCode", r#"{"status":202}"#).await;
    assert_eq!(
        accepted.response,
        "202\ncontent-type: application/json\n\n{}"
    );
    assert_eq!(accepted.output, r#"{"status":202}"#);
    // The status is that of the model. A 204 has no body.
    let created = site
        .send(request("POST /things", &[], r#"{"name":"n"}"#))
        .await;
    assert_eq!(created.status, 201);
    let nothing = round_trip(&site, "Nothing", "{}").await;
    assert_eq!(
        (nothing.request.as_str(), nothing.response.as_str()),
        ("POST /nothing\n", "204\n")
    );
    let nothing = site.send(request("POST /nothing", &[], "")).await;
    assert_eq!(nothing.header("content-length"), None, "{nothing:?}");
}

#[tokio::test]
async fn host_prefixes() {
    let site = Site::plain().await;
    let input = r#"{"tenant":"acme","note":"n"}"#;
    let round_trip = round_trip(&site, "Hosted", input).await;
    let host = format!("host: acme.data.{}", site.address());
    assert!(round_trip.request.contains(&host), "{}", round_trip.request);
    // The member is in the host and in the body.
    assert!(
        round_trip
            .request
            .ends_with("\n\n{\"tenant\":\"acme\",\"note\":\"n\"}")
    );
    assert_eq!(round_trip.output, input);
}

#[tokio::test]
async fn names_and_forms_in_the_body() {
    let site = Site::plain().await;
    let input = r#"{"text":"t","byte":-128,"long":9007199254740993,"float":0.1,"double":-0.0,"bigInteger":123456789012345678901234567890,"bigDecimal":0.1000000000000000000001,"blob":"AP8=","plain":"2026-11-01T12:00:00.500Z","dateTime":"2026-11-01T12:00:00Z","epoch":"2026-11-01T12:00:00Z","httpDate":"2026-11-01T12:00:00Z","color":"red","size":2,"choice":{"number":3},"sparse":[1,null,3],"people":{"a":{"name":"Ada"}},"document":{"x":[1]}}"#;
    let round_trip = round_trip(&site, "Names", input).await;
    let body = r#"{"renamed-text":"t","byte":-128,"long":9007199254740993,"float":0.1,"double":-0,"bigInteger":123456789012345678901234567890,"bigDecimal":0.1000000000000000000001,"blob":"AP8=","plain":1793534400.5,"dateTime":"2026-11-01T12:00:00Z","epoch":1793534400,"httpDate":"Sun, 01 Nov 2026 12:00:00 GMT","color":"red","size":2,"choice":{"the-number":3},"sparse":[1,null,3],"people":{"a":{"name":"Ada"}},"document":{"x":[1]}}"#;
    assert_eq!(
        round_trip.request,
        format!("POST /names\ncontent-type: application/json\n\n{body}")
    );
    assert_eq!(
        round_trip.response,
        format!("200\ncontent-type: application/json\n\n{body}")
    );
    assert_eq!(round_trip.output, output("Names", input));
}

#[tokio::test]
async fn defaults_of_clients_that_write_other_json() {
    let site = Site::plain().await;
    // White space, members in any order, unknown members, escapes, and a null for an unset member.
    let body = " {\n \"unknown\": [ { } ], \"size\" : 1 , \"renamed-text\" : \"\\u00f6\\/\", \"byte\": null } ";
    let reply = site.send(request("POST /names", &[], body)).await;
    assert_eq!(reply.text(), r#"{"renamed-text":"ö/","size":1}"#);
    // The server ignores the name of the member in the model. On this wire the member has its
    // `@jsonName`.
    let reply = site
        .send(request("POST /names", &[], r#"{"text":"t"}"#))
        .await;
    assert_eq!(reply.text(), "{}");
}
