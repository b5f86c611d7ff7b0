//! Properties: agreement with the reference implementation, detection of every change, and no panics.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

mod signature_reference;

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_aws::signature::*;
use polywire_text::Timestamp;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use signature_reference::Input;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

fn time() -> SigningTime {
    SigningTime::parse("20150830T123600Z").unwrap()
}

fn now() -> Timestamp {
    Timestamp::new(time().seconds(), 0)
}

fn service(is_s3: bool) -> &'static str {
    if is_s3 { "s3" } else { "service" }
}

fn settings(is_s3: bool) -> Settings {
    Settings::for_service(service(is_s3))
}

fn key(is_s3: bool) -> SigningKey {
    let credentials = Credentials::new("AKIDEXAMPLE", SECRET);
    SigningKey::derive(&credentials, time().date(), "us-east-1", service(is_s3))
}

fn verifier(is_s3: bool) -> Verifier {
    if is_s3 {
        Verifier::s3()
    } else {
        Verifier::new("service")
    }
}

/// A request whose headers have no values that are joined differently than they are written.
#[derive(Clone, Debug)]
struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    is_s3: bool,
}

fn requests() -> impl Strategy<Value = Request> {
    let method = select(vec!["GET", "PUT", "POST", "DELETE", "HEAD"]).prop_map(str::to_owned);
    let segment = select(vec![
        "", ".", "..", "a", "%2F", "%2f", "%7E", "%", "%4", "ü", "a b", "(1)", "~-_.", "+",
    ]);
    let path =
        proptest::collection::vec(segment, 0..6).prop_map(|parts| format!("/{}", parts.join("/")));
    let query = "([a-cA-B]{0,2}(=|%3d|%zz|\\+|-|ü|~|&)){0,6}";
    let name = "[a-d](-[a-b]){0,2}";
    // Values that parsers pass on: graphic at both ends.
    let value = "([!-~](([ -~]|[ \t]{1,2}){0,6}[!-~])?)?";
    let headers = proptest::collection::vec((name, value), 0..6);
    let body = proptest::collection::vec(any::<u8>(), 0..20);
    (method, path, query, headers, body, any::<bool>()).prop_map(
        |(method, path, query, headers, body, is_s3)| Request {
            method,
            path,
            query,
            headers,
            body,
            is_s3,
        },
    )
}

impl Request {
    fn header_map(&self) -> HeaderMap {
        let mut map = HeaderMap::new();
        map.insert("host", HeaderValue::from_static("example.com"));
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().unwrap();
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn head<'a>(&'a self, headers: &'a HeaderMap) -> RequestHead<'a> {
        RequestHead {
            method: &self.method,
            path: &self.path,
            query: &self.query,
            authority: None,
            headers,
        }
    }

    /// The input of the reference, with the headers that signing adds.
    fn input(&self) -> Input {
        let payload = Payload::of(&self.body).to_string();
        let mut headers = self.headers.clone();
        headers.push(("Host".to_owned(), "example.com".to_owned()));
        headers.push(("X-Amz-Date".to_owned(), time().to_string()));
        if self.is_s3 {
            headers.push(("X-Amz-Content-Sha256".to_owned(), payload.clone()));
        }
        Input {
            method: self.method.clone(),
            path: self.path.clone(),
            query: self.query.clone(),
            headers,
            payload,
            is_s3: self.is_s3,
        }
    }

    fn sign(&self) -> (HeaderMap, Signature) {
        let mut headers = self.header_map();
        let (key, settings) = (key(self.is_s3), settings(self.is_s3));
        let payload = Payload::of(&self.body);
        insert_headers(&mut headers, payload, &key, &settings, time()).unwrap();
        let head = self.head(&headers);
        let (signature, value) = authorization(head, payload, &key, &settings, time()).unwrap();
        headers.insert("authorization", value);
        (headers, signature)
    }

    fn verify(&self, headers: &HeaderMap) -> Result<VerifiedRequest, SignatureError> {
        let request = SignedRequest::parse(self.head(headers))?;
        let Payload::Sha256(hash) = Payload::of(&self.body) else {
            unreachable!()
        };
        verifier(self.is_s3).verify(&request, &key(self.is_s3), now(), Some(&hash))
    }
}

/// Replaces one character by another one.
fn change(text: &str, at: Index, by: char) -> Option<String> {
    let (start, old) = text
        .char_indices()
        .nth(at.index(text.chars().count().max(1)))?;
    if old == by {
        return None;
    }
    Some(format!(
        "{}{by}{}",
        &text[..start],
        &text[start + old.len_utf8()..]
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn agrees_with_the_reference(request in requests()) {
        let (headers, signature) = request.sign();
        let scope = format!("20150830/us-east-1/{}/aws4_request", service(request.is_s3));
        let expected =
            signature_reference::signature(&request.input(), SECRET, time().as_str(), &scope);
        prop_assert_eq!(
            signature.as_str(),
            expected,
            "{}",
            signature_reference::canonical_request(&request.input())
        );
        let verified = request.verify(&headers);
        prop_assert!(verified.is_ok(), "{:?}", verified);
    }

    #[test]
    fn detects_every_change(
        request in requests(),
        part in 0..5,
        at in any::<Index>(),
        by in prop_oneof![Just('/'), Just('.'), Just('&'), Just('='), Just('%'), proptest::char::range('!', '~')],
    ) {
        let (mut headers, _) = request.sign();
        let mut changed = request.clone();
        match part {
            0 => {
                let Some(method) = change(&request.method, at, by) else { return Ok(()) };
                changed.method = method;
            }
            1 => {
                let Some(path) = change(&request.path, at, by) else { return Ok(()) };
                changed.path = path;
            }
            2 => {
                let Some(query) = change(&request.query, at, by) else { return Ok(()) };
                changed.query = query;
            }
            3 => {
                if request.headers.is_empty() {
                    return Ok(());
                }
                // The values of a name stay in the same order.
                let (_, value) = &mut changed.headers[at.index(request.headers.len())];
                let Some(other) = change(value, at, by) else { return Ok(()) };
                *value = other;
                for (name, _) in &request.headers {
                    headers.remove(name.as_str());
                }
                for (name, value) in &changed.headers {
                    let name: HeaderName = name.parse().unwrap();
                    headers.append(name, HeaderValue::from_str(value).unwrap());
                }
            }
            _ => {
                if request.body.is_empty() {
                    changed.body.push(b'a');
                } else {
                    changed.body[at.index(request.body.len())] ^= by as u8;
                }
            }
        }
        // Some changes do not matter, such as `/.` to `//` in a path that is normalised.
        let canonical = signature_reference::canonical_request;
        let is_equal = canonical(&request.input()) == canonical(&changed.input());
        prop_assert_eq!(changed.verify(&headers).is_ok(), is_equal);
    }

    #[test]
    fn presigned_requests_verify(request in requests(), seconds in 1..=604_800_u64, by in any::<Index>()) {
        let headers = request.header_map();
        let (key, settings) = (key(request.is_s3), settings(request.is_s3));
        let payload = if request.is_s3 { Payload::Unsigned } else { Payload::of(&request.body) };
        let expires = Duration::from_secs(seconds);
        let head = request.head(&headers);
        let query = presign(head, payload, &key, &settings, time(), expires).unwrap();
        let signed = Request { query, ..request.clone() };
        let verified = verify_presigned(&signed, &headers);
        prop_assert!(verified.is_ok(), "{:?}", verified);

        // Another digit in the query, such as in the signature or in the lifetime.
        let digits: Vec<usize> =
            signed.query.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
        let at = digits[by.index(digits.len())];
        let other = if signed.query.as_bytes()[at] == b'7' { "6" } else { "7" };
        let mut changed = signed.clone();
        changed.query.replace_range(at..=at, other);
        // It may be another escape of the same character, or no escape.
        let canonical = |request: &Request| signature_reference::canonical_request(&request.input());
        if canonical(&signed) != canonical(&changed) {
            prop_assert!(verify_presigned(&changed, &headers).is_err());
        }
    }

    #[test]
    fn arbitrary_headers_do_not_panic(
        authorization in proptest::collection::vec(any::<u8>(), 0..300),
        other in proptest::collection::vec(any::<u8>(), 0..40),
        name in select(vec!["x-amz-date", "date", "x-amz-content-sha256", "x-amz-security-token", "x-amz-region-set"]),
        path in any::<String>(),
        query in any::<String>(),
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in [("authorization", &authorization), (name, &other)] {
            if let Ok(value) = HeaderValue::from_bytes(value) {
                headers.insert(name, value);
            }
        }
        try_all(&path, &query, &headers);
    }

    #[test]
    fn damaged_headers_do_not_panic(
        changes in proptest::collection::vec((any::<Index>(), any::<u8>(), 0..3), 1..6),
        algorithm in select(vec!["AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"]),
        path in any::<String>(),
    ) {
        let request = Request {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: Vec::new(),
            is_s3: true,
        };
        let (mut headers, _) = request.sign();
        headers.insert("x-amz-region-set", HeaderValue::from_static("*"));
        let value = headers["authorization"].to_str().unwrap();
        let mut value = value.replace("AWS4-HMAC-SHA256", algorithm).into_bytes();
        damage(&mut value, &changes);
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            headers.insert("authorization", value);
        }
        try_all(&path, "", &headers);
    }

    #[test]
    fn damaged_queries_do_not_panic(
        changes in proptest::collection::vec((any::<Index>(), any::<u8>(), 0..3), 1..6),
        path in any::<String>(),
    ) {
        let headers = HeaderMap::new();
        let head = RequestHead {
            method: "GET",
            path: "/",
            query: "a=b&%zz",
            authority: Some("example.com"),
            headers: &headers,
        };
        let (payload, minute) = (Payload::Unsigned, Duration::from_secs(60));
        let query = presign(head, payload, &key(true), &Settings::S3, time(), minute).unwrap();
        let mut query = query.into_bytes();
        damage(&mut query, &changes);
        try_all(&path, &String::from_utf8_lossy(&query), &headers);
    }
}

fn verify_presigned(
    request: &Request,
    headers: &HeaderMap,
) -> Result<VerifiedRequest, SignatureError> {
    let signed = SignedRequest::parse(request.head(headers))?;
    let Payload::Sha256(hash) = Payload::of(&request.body) else {
        unreachable!()
    };
    verifier(request.is_s3).verify(&signed, &key(request.is_s3), now(), Some(&hash))
}

/// Replaces, inserts or removes bytes.
fn damage(text: &mut Vec<u8>, changes: &[(Index, u8, i32)]) {
    for (at, byte, kind) in changes {
        let at = at.index(text.len().max(1));
        match kind {
            0 => text.insert(at, *byte),
            _ if at >= text.len() => {}
            1 => text[at] = *byte,
            _ => drop(text.remove(at)),
        }
    }
}

/// Parses and verifies with every verifier, whatever the result is.
fn try_all(path: &str, query: &str, headers: &HeaderMap) {
    let head = RequestHead {
        method: "GET",
        path,
        query,
        authority: Some("example.com"),
        headers,
    };
    let Ok(request) = SignedRequest::parse(head) else {
        return;
    };
    let key = request.signing_key(&Credentials::new(request.access_key_id(), SECRET));
    for verifier in [Verifier::s3(), Verifier::new("service").with_services(&[])] {
        let verifier = verifier.with_region("us-east-1");
        drop(verifier.verify(&request, &key, now(), None));
        drop(verifier.verify(&request, &key, now(), Some(&[0; 32])));
    }
}
