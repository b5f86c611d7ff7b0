//! Compression, checksums and tokens of requests, independent of the protocol.
#![allow(
    clippy::unwrap_used,
    reason = "a test may panic, and panicking is how it fails"
)]

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderValue};
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::{
    Fault, FaultKind, ProtocolKind, RequestOptions, WithToken, decode_content, finish_request,
};
use polywire_schema::{Map, Operation, SchemaSet, Value};

const MODEL: &str = r#"
    $version: "2"
    namespace example
    use aws.protocols#restJson1
    use smithy.protocols#rpcv2Cbor

    @restJson1
    @rpcv2Cbor
    service Service { version: "1", operations: [Put, Store, Create, Plain] }

    @http(method: "POST", uri: "/put")
    @requestCompression(encodings: ["gzip"])
    operation Put { input := { @httpHeader("Content-Encoding") encoding: String, text: String } }

    @http(method: "POST", uri: "/store")
    @httpChecksumRequired
    operation Store { input := {
        @httpHeader("Content-Encoding") encoding: String
        @httpHeader("Content-MD5") md5: String
        @httpPayload data: Blob
    } }

    @http(method: "POST", uri: "/create")
    operation Create { input := {
        a: String
        @idempotencyToken token: String
        z: String
        inner: Inner
    } }
    structure Inner { @idempotencyToken token: String }

    @http(method: "POST", uri: "/plain")
    operation Plain { input := { text: String } }
"#;

fn set() -> SchemaSet<'static> {
    let model = Loader::new().add_text("service.smithy", MODEL).assemble();
    model
        .unwrap()
        .model
        .schemas("example#Service")
        .unwrap()
        .unwrap()
}

fn operation<'s>(set: &'s SchemaSet<'_>, name: &str) -> Operation<'s> {
    set.service(0).find_operation(name).unwrap()
}

fn request<const N: usize>(
    operation: Operation<'_>,
    input: [(&str, Value); N],
    options: &RequestOptions,
) -> http::Request<Bytes> {
    let set = set();
    let protocol = ProtocolKind::RestJson1.build(set.service(0)).unwrap();
    let own = self::operation(&set, operation.name());
    let input = Value::from(Map::from_iter(input));
    let mut request = protocol.encode_input(own, &Dynamic(&input)).unwrap();
    finish_request(&[own], &mut request, options).unwrap();
    request
}

fn header<'r>(request: &'r http::Request<Bytes>, name: &str) -> Option<&'r str> {
    request
        .headers()
        .get(name)
        .map(|value| value.to_str().unwrap())
}

/// The result of decompressing a request on a server with a limit.
fn undo(
    operation: Operation<'_>,
    request: http::Request<Bytes>,
    limit: usize,
) -> Result<(http::request::Parts, Option<Bytes>), Fault> {
    let (mut head, body) = request.into_parts();
    let mut grows = |len: usize| match len <= limit {
        true => Ok(()),
        false => Err(Fault::new(FaultKind::TooLarge, "too large")),
    };
    let decoded = decode_content(Some(operation), &mut head, &body, &mut grows)?;
    Ok((head, decoded))
}

#[test]
fn bodies_are_compressed_from_a_minimum_size() {
    let set = set();
    let put = operation(&set, "Put");
    let text = |len: usize| [("text", Value::from("x".repeat(len).as_str()))];
    let default = RequestOptions::DEFAULT;
    // {"text":""} are eleven bytes.
    assert_eq!(
        header(&request(put, text(10_228), &default), "content-encoding"),
        None
    );
    let compressed = request(put, text(10_229), &default);
    assert_eq!(header(&compressed, "content-encoding"), Some("gzip"));
    assert!(compressed.body().len() < 100);
    let (head, decoded) = undo(put, compressed, usize::MAX).unwrap();
    assert_eq!(decoded.unwrap().len(), 10_240);
    assert!(!head.headers.contains_key(CONTENT_ENCODING));

    let never = default.with_compress_from(None);
    assert_eq!(
        header(&request(put, text(20_000), &never), "content-encoding"),
        None
    );
    let always = default.with_compress_from(Some(0));
    assert_eq!(
        header(&request(put, text(0), &always), "content-encoding"),
        Some("gzip")
    );
    let plain = operation(&set, "Plain");
    assert_eq!(
        header(&request(plain, text(20_000), &always), "content-encoding"),
        None
    );
}

#[test]
fn gzip_is_appended_to_the_encodings_of_the_input() {
    let set = set();
    let put = operation(&set, "Put");
    let input = [
        ("encoding", Value::from("custom")),
        ("text", Value::from("x")),
    ];
    let always = RequestOptions::DEFAULT.with_compress_from(Some(0));
    let compressed = request(put, input, &always);
    assert_eq!(
        header(&compressed, "content-encoding"),
        Some("custom, gzip")
    );
    let (head, decoded) = undo(put, compressed, usize::MAX).unwrap();
    assert_eq!(&decoded.unwrap()[..], br#"{"text":"x"}"#);
    assert_eq!(head.headers[CONTENT_ENCODING], "custom");
}

#[test]
fn checksums_are_of_the_body_as_sent() {
    let set = set();
    let store = operation(&set, "Store");
    let data = || Value::Blob(polywire_schema::Blob::from(b"abc".as_slice()));
    let sent = request(store, [("data", data())], &RequestOptions::DEFAULT);
    // RFC 1321, appendix A.5.
    assert_eq!(
        header(&sent, "content-md5"),
        Some("kAFQmDzST7DWlj99KOF/cg==")
    );
    let own = [("data", data()), ("md5", Value::from("own"))];
    let sent = request(store, own, &RequestOptions::DEFAULT);
    assert_eq!(header(&sent, "content-md5"), Some("own"));

    let mut sent = http::Request::new(Bytes::from_static(b"abc"));
    let crc = HeaderValue::from_static("AAAAAA==");
    sent.headers_mut().insert("x-amz-checksum-crc32", crc);
    finish_request(&[store], &mut sent, &RequestOptions::DEFAULT).unwrap();
    assert_eq!(header(&sent, "content-md5"), None);
}

/// A request with `Content-Encoding: gzip`.
fn gzipped(body: &'static [u8]) -> http::Request<Bytes> {
    let request = http::Request::post("/").header(CONTENT_ENCODING, "gzip");
    request.body(Bytes::from_static(body)).unwrap()
}

#[test]
fn a_body_with_a_bound_content_encoding_is_not_decoded() {
    let set = set();
    let (_, decoded) = undo(operation(&set, "Store"), gzipped(b"anything"), 100).unwrap();
    assert!(decoded.is_none());
    let mut other = gzipped(b"anything");
    other
        .headers_mut()
        .insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
    let (head, decoded) = undo(operation(&set, "Plain"), other, 100).unwrap();
    assert!(decoded.is_none() && head.headers.contains_key(CONTENT_ENCODING));
}

#[test]
fn invalid_gzip_is_malformed() {
    let set = set();
    let plain = operation(&set, "Plain");
    for body in [
        &b"{}"[..],
        b"\x1f\x8b",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff",
    ] {
        let fault = undo(plain, gzipped(body), 100).unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Malformed, "{body:?}");
    }
    // Truncated bodies are malformed.
    let always = RequestOptions::DEFAULT.with_compress_from(Some(0));
    let whole = request(
        operation(&set, "Put"),
        [("text", Value::from("some text"))],
        &always,
    );
    for end in 1..whole.body().len() {
        let (head, body) = whole.clone().into_parts();
        let cut = http::Request::from_parts(head, body.slice(..end));
        let fault = undo(plain, cut, 100).unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Malformed, "{end}");
    }
}

#[test]
fn a_bomb_ends_at_the_limit() {
    let set = set();
    let put = operation(&set, "Put");
    let text = "x".repeat(16 << 20);
    let input = [("text", Value::from(text.as_str()))];
    let bomb = request(put, input, &RequestOptions::DEFAULT);
    assert!(bomb.body().len() < 100_000);
    let (mut head, body) = bomb.into_parts();
    let mut most = 0;
    let mut grows = |len: usize| {
        most = len;
        match len <= 1 << 20 {
            true => Ok(()),
            false => Err(Fault::new(FaultKind::TooLarge, "too large")),
        }
    };
    let fault = decode_content(Some(put), &mut head, &body, &mut grows).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::TooLarge);
    // The output exceeds the limit by at most one piece.
    assert!(most <= (1 << 20) + (64 << 10), "{most}");
}

#[test]
fn missing_tokens_are_filled_in() {
    let set = set();
    let create = operation(&set, "Create");
    let input = |json: &str| polywire_codec::json::read_value(json).unwrap();
    let own = input(r#"{"token":"own"}"#);
    assert!(!WithToken::is_due(create, &Dynamic(&own)));
    let plain = input(r#"{"text":"x"}"#);
    assert!(!WithToken::is_due(
        operation(&set, "Plain"),
        &Dynamic(&plain)
    ));
    for (without, with) in [
        ("{}", r#"{"token":"T"}"#),
        (r#"{"token":null}"#, r#"{"token":"T"}"#),
        (r#"{"a":"1","z":"2"}"#, r#"{"a":"1","token":"T","z":"2"}"#),
        // Tokens of nested structures are not filled in.
        (r#"{"inner":{}}"#, r#"{"token":"T","inner":{}}"#),
        (
            r#"{"inner":{"token":"I"}}"#,
            r#"{"token":"T","inner":{"token":"I"}}"#,
        ),
    ] {
        let value = input(without);
        let message = Dynamic(&value);
        assert!(WithToken::is_due(create, &message), "{without}");
        let message = WithToken::new(create, &message, "T");
        let protocol = ProtocolKind::RestJson1.build(set.service(0)).unwrap();
        let request = protocol.encode_input(create, &message).unwrap();
        assert_eq!(std::str::from_utf8(request.body()).unwrap(), with);
        // A format that writes the number of members first.
        let protocol = ProtocolKind::RpcV2Cbor.build(set.service(0)).unwrap();
        let request = protocol.encode_input(create, &message).unwrap();
        let found = polywire_codec::cbor::read_value(request.body()).unwrap();
        assert_eq!(found, input(with), "{without}");
    }
}

/// A request with several calls: the traits of any of its operations apply.
#[test]
fn traits_of_several_operations() {
    let set = set();
    let [put, store, plain] = ["Put", "Store", "Plain"].map(|name| operation(&set, name));
    for (operations, is_compressed, has_checksum) in [
        (vec![plain, plain], false, false),
        (vec![plain, put], true, false),
        (vec![store, plain], false, true),
        (vec![put, store, put], true, true),
        (vec![], false, false),
    ] {
        let mut sent = http::Request::new(Bytes::from(vec![b'x'; 20_000]));
        finish_request(&operations, &mut sent, &RequestOptions::DEFAULT).unwrap();
        assert_eq!(header(&sent, "content-encoding").is_some(), is_compressed);
        assert_eq!(sent.body().len() < 20_000, is_compressed);
        assert_eq!(header(&sent, "content-md5").is_some(), has_checksum);
    }
}
