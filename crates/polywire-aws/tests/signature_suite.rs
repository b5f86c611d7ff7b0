//! AWS's signing test suite: every case, signed and verified, in the header and as presigned URL.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

mod signature_cases;

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_aws::signature::*;
use polywire_text::Timestamp;
use signature_cases::{Case, Request, cases};

/// What a case says about its signature.
struct Context {
    credentials: Credentials,
    time: SigningTime,
    region: String,
    service: String,
    settings: Settings,
    signs_body: bool,
    expires: Duration,
}

impl Context {
    /// Two cases have no context: theirs is in the expected request.
    fn of(case: &Case) -> Self {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let Some(context) = case.json("context") else {
            let expected = Request::parse(case.part("header-signed-request"));
            let signed = SignedRequest::parse(expected.head()).unwrap();
            // In one case, the date is only in the canonical request.
            let canonical = case.part("header-canonical-request");
            let (_, time) = canonical.split_once("x-amz-date:").unwrap();
            return Self {
                credentials: Credentials::new(signed.access_key_id(), secret),
                time: SigningTime::parse(&time[..16]).unwrap(),
                region: signed.scope().region().to_owned(),
                service: signed.scope().service().to_owned(),
                settings: Settings::STANDARD,
                signs_body: false,
                expires: Duration::ZERO,
            };
        };
        let text = |name: &str| context[name].as_str().unwrap();
        let credentials = &context["credentials"];
        let (id, secret) = (
            &credentials["access_key_id"],
            &credentials["secret_access_key"],
        );
        let mut own = Credentials::new(id.as_str().unwrap(), secret.as_str().unwrap());
        if let Some(token) = credentials["token"].as_str() {
            own = own.with_session_token(token);
        }
        let signs_body = context["sign_body"].as_bool().unwrap();
        Self {
            credentials: own,
            time: SigningTime::new(Timestamp::parse_date_time(text("timestamp")).unwrap()).unwrap(),
            region: text("region").to_owned(),
            service: text("service").to_owned(),
            settings: Settings {
                path: PathRule {
                    normalize: context["normalize"].as_bool().unwrap(),
                    ..PathRule::STANDARD
                },
                content_sha256: signs_body,
                sign_session_token: context["omit_session_token"] != true,
            },
            signs_body,
            expires: Duration::from_secs(context["expiration_in_seconds"].as_u64().unwrap()),
        }
    }

    fn key(&self, algorithm: Algorithm) -> SigningKey {
        let date = self.time.date();
        match algorithm {
            #[cfg(feature = "sigv4a")]
            Algorithm::V4a => {
                SigningKey::derive_v4a(&self.credentials, date, &self.region, &self.service)
            }
            _ => SigningKey::derive(&self.credentials, date, &self.region, &self.service),
        }
    }

    /// The suite signs the hash of nothing for bodies that it does not sign.
    fn payload<'a>(&self, request: &'a Request) -> &'a [u8] {
        if self.signs_body { &request.body } else { b"" }
    }

    fn verify(
        &self,
        request: &Request,
        key: &SigningKey,
    ) -> Result<VerifiedRequest, SignatureError> {
        let Payload::Sha256(hash) = Payload::of(self.payload(request)) else {
            unreachable!()
        };
        Verifier::new(&self.service)
            .with_region(&self.region)
            .with_path_rule(self.settings.path)
            .with_unsigned_session_token(!self.settings.sign_session_token)
            .verify(
                &SignedRequest::parse(request.head())?,
                key,
                Timestamp::new(self.time.seconds() + 60, 0),
                Some(&hash),
            )
    }

    /// The canonical request and the string to sign that the verifier computes: it returns them if a
    /// signature does not match.
    fn canonical(&self, request: &Request, key: &SigningKey) -> (String, String) {
        let credentials = Credentials::new(self.credentials.access_key_id(), "another secret");
        let other = Self {
            credentials,
            region: self.region.clone(),
            service: self.service.clone(),
            ..*self
        };
        let error = self
            .verify(request, &other.key(key.algorithm()))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            text(error.canonical_request()),
            text(error.string_to_sign()),
        )
    }
}

fn sign_header(context: &Context, request: &mut Request, key: &SigningKey) -> Signature {
    let payload = Payload::of(context.payload(request));
    let (settings, time) = (&context.settings, context.time);
    insert_headers(&mut request.headers, payload, key, settings, time).unwrap();
    let (signature, value) = authorization(request.head(), payload, key, settings, time).unwrap();
    request.headers.insert("authorization", value);
    signature
}

fn sign_query(context: &Context, request: &mut Request, key: &SigningKey) {
    let payload = Payload::of(context.payload(request));
    let (settings, time) = (&context.settings, context.time);
    let query = presign(
        request.head(),
        payload,
        key,
        settings,
        time,
        context.expires,
    )
    .unwrap();
    request.query = query;
}

fn check(case: &Case, algorithm: Algorithm) {
    let name = &case.name;
    let context = Context::of(case);
    let key = context.key(algorithm);

    let mut signed = Request::parse(case.part("request"));
    let signature = sign_header(&context, &mut signed, &key);
    context
        .verify(&signed, &key)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let (canonical, to_sign) = context.canonical(&signed, &key);
    assert_eq!(canonical, case.part("header-canonical-request"), "{name}");
    if let Some(expected) = case.find("header-string-to-sign") {
        assert_eq!(to_sign, expected, "{name}");
    }
    let Some(expected) = case.find("header-signature") else {
        return;
    };
    match algorithm {
        Algorithm::V4 => assert_eq!(signature.as_str(), expected, "{name}"),
        // Signatures of ECDSA contain a random number.
        Algorithm::V4a => {
            let expected = Signature::parse(algorithm, expected.as_bytes()).unwrap();
            assert!(key.verify(to_sign.as_bytes(), &expected), "{name}");
        }
    }
    let expected = Request::parse(case.part("header-signed-request"));
    context
        .verify(&expected, &key)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    if algorithm == Algorithm::V4 {
        let sort = |headers: &HeaderMap| {
            let pair = |(name, value): (&HeaderName, &HeaderValue)| (name.clone(), value.clone());
            let mut pairs: Vec<_> = headers.iter().map(pair).collect();
            pairs.sort_by_key(|(name, _)| name.to_string());
            pairs
        };
        assert_eq!(sort(&signed.headers), sort(&expected.headers), "{name}");
    }

    let mut signed = Request::parse(case.part("request"));
    sign_query(&context, &mut signed, &key);
    context
        .verify(&signed, &key)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let (canonical, to_sign) = context.canonical(&signed, &key);
    assert_eq!(canonical, case.part("query-canonical-request"), "{name}");
    assert_eq!(to_sign, case.part("query-string-to-sign"), "{name}");
    let expected = case.part("query-signature");
    match algorithm {
        Algorithm::V4 => {
            assert!(
                signed
                    .query
                    .ends_with(&format!("&X-Amz-Signature={expected}")),
                "{name}"
            );
        }
        Algorithm::V4a => {
            let expected = Signature::parse(algorithm, expected.as_bytes()).unwrap();
            assert!(key.verify(to_sign.as_bytes(), &expected), "{name}");
        }
    }
    let expected = Request::parse(case.part("query-signed-request"));
    context
        .verify(&expected, &key)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
}

#[test]
fn version_4() {
    let cases = cases(include_str!("data/signing-test-suite-v4.txt"));
    assert_eq!(cases.len(), 40);
    for case in &cases {
        check(case, Algorithm::V4);
    }
}

#[cfg(feature = "sigv4a")]
#[test]
fn version_4a() {
    let cases = cases(include_str!("data/signing-test-suite-v4a.txt"));
    assert_eq!(cases.len(), 38);
    for case in &cases {
        let public = case.json("public-key").unwrap();
        let key = Context::of(case).key(Algorithm::V4a);
        let (x, y) = key.public_key().unwrap();
        assert_eq!(hex(&x), public["X"], "{}", case.name);
        assert_eq!(hex(&y), public["Y"], "{}", case.name);
        check(case, Algorithm::V4a);
    }
}

#[cfg(feature = "sigv4a")]
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
