//! Requests that must be rejected, and what services answer.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::time::Duration;

use http::request::Parts;
use polywire_aws::signature::*;
use polywire_text::Timestamp;

const SECRET: &str = "a secret that must not leak";
const TOKEN: &str = "a-token-that-must-not-leak";

fn credentials() -> Credentials {
    Credentials::new("AKIDEXAMPLE", SECRET)
}

fn time() -> SigningTime {
    SigningTime::parse("20150830T123600Z").unwrap()
}

fn now() -> Timestamp {
    Timestamp::new(time().seconds(), 0)
}

fn key_of(credentials: &Credentials) -> SigningKey {
    SigningKey::derive(credentials, time().date(), "us-east-1", "s3")
}

fn unsigned() -> Parts {
    let request = http::Request::get("https://bucket.example.com/key?list-type=2&prefix=a%20b");
    request
        .header("x-amz-meta-a", "1")
        .body(())
        .unwrap()
        .into_parts()
        .0
}

fn signed_with(credentials: &Credentials, payload: Payload) -> Parts {
    let mut parts = unsigned();
    sign_request(
        &mut parts,
        payload,
        &key_of(credentials),
        &Settings::S3,
        time(),
    )
    .unwrap();
    parts
}

fn signed() -> Parts {
    signed_with(&credentials(), Payload::of(b""))
}

fn presigned() -> Parts {
    let mut parts = unsigned();
    let hour = Duration::from_secs(3600);
    let key = key_of(&credentials());
    presign_request(
        &mut parts,
        Payload::Unsigned,
        &key,
        &Settings::S3,
        time(),
        hour,
    )
    .unwrap();
    parts
}

fn verifier() -> Verifier {
    Verifier::s3().with_region("us-east-1")
}

fn verify_at(parts: &Parts, now: Timestamp) -> Result<VerifiedRequest, SignatureError> {
    let request = SignedRequest::parse(parts)?;
    verifier().verify(&request, &request.signing_key(&credentials()), now, None)
}

fn error(parts: &Parts) -> SignatureError {
    let error = verify_at(parts, now()).unwrap_err();
    let texts = format!("{error} {error:?}");
    assert!(!texts.contains(SECRET) && !texts.contains(TOKEN), "{texts}");
    error
}

#[track_caller]
fn assert_error(parts: &Parts, kind: ErrorKind, s3: &str, status: u16) {
    let error = error(parts);
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(error.code(ErrorDialect::S3), s3);
    assert_eq!(error.status(ErrorDialect::S3).as_u16(), status);
}

fn with_header(mut parts: Parts, name: &'static str, value: &str) -> Parts {
    parts.headers.insert(name, value.parse().unwrap());
    parts
}

fn authorization(change: impl Fn(&str) -> String) -> Parts {
    let parts = signed();
    let value = change(parts.headers["authorization"].to_str().unwrap());
    with_header(parts, "authorization", &value)
}

fn query(change: impl Fn(&str) -> String) -> Parts {
    let mut parts = presigned();
    parts.uri = change(&parts.uri.to_string()).parse().unwrap();
    parts
}

#[test]
fn genuine_requests() {
    verify_at(&signed(), now()).unwrap();
    verify_at(&presigned(), now()).unwrap();
    // Without spaces after commas, as some clients write it.
    verify_at(&authorization(|value| value.replace(", ", ",")), now()).unwrap();
}

#[test]
fn missing() {
    assert_error(&unsigned(), ErrorKind::Missing, "AccessDenied", 403);
    let missing = error(&unsigned());
    for (dialect, code, status) in [
        (
            ErrorDialect::AwsJson,
            "MissingAuthenticationTokenException",
            400,
        ),
        (
            ErrorDialect::RestJson,
            "MissingAuthenticationTokenException",
            403,
        ),
        (ErrorDialect::Query, "MissingAuthenticationToken", 403),
    ] {
        assert_eq!(missing.code(dialect), code);
        assert_eq!(missing.status(dialect).as_u16(), status);
    }
}

#[test]
fn both_forms() {
    let header = signed().headers["authorization"]
        .to_str()
        .unwrap()
        .to_owned();
    let parts = with_header(presigned(), "authorization", &header);
    assert_error(&parts, ErrorKind::BothForms, "InvalidArgument", 400);
}

#[test]
fn malformed_headers() {
    let code = "AuthorizationHeaderMalformed";
    let changes: [fn(&str) -> String; 14] = [
        |value| value.replace("Credential=", "Credentials="),
        |value| value.replace("Credential=AKIDEXAMPLE", "Credential="),
        |value| value.replace("aws4_request", "aws3_request"),
        |value| value.replace("/20150830/", "/2015-08-30/"),
        |value| value.replace("/20150830/", "/"),
        |value| value.replace("/s3/", "//"),
        |value| value.replace("host;", "Host;"),
        |value| value.replace("host;", "host;host;"),
        |value| value.replace("host;x-amz-content-sha256", "x-amz-content-sha256;host"),
        |value| value.replace("SignedHeaders=host", "SignedHeaders=;host"),
        |value| value.split(", Signature").next().unwrap().to_owned(),
        |value| format!("{value}, Signature=00"),
        |value| format!("{value}0"),
        |value| {
            value
                .to_ascii_uppercase()
                .replace("CREDENTIAL", "Credential")
        },
    ];
    for change in changes {
        assert_error(&authorization(change), ErrorKind::Malformed, code, 400);
    }
    let long = authorization(|value| value.replace("AKIDEXAMPLE", &"A".repeat(129)));
    assert_error(&long, ErrorKind::Malformed, code, 400);
    let long = authorization(|value| format!("{value}{}", " ".repeat(8192)));
    verify_at(&long, now()).unwrap();
    let long = authorization(|value| value.replace(", Sig", &format!(",{}Sig", " ".repeat(8192))));
    assert_error(&long, ErrorKind::Malformed, code, 400);
    let names: String = (100..230).map(|at| format!("a{at};")).collect();
    let many = authorization(|value| value.replace("host;", &format!("{names}host;")));
    assert_error(&many, ErrorKind::Malformed, code, 400);
    let json = error(&many);
    assert_eq!(
        json.code(ErrorDialect::AwsJson),
        "IncompleteSignatureException"
    );
    assert_eq!(json.code(ErrorDialect::Query), "IncompleteSignature");
    assert_eq!(json.status(ErrorDialect::Query).as_u16(), 400);
}

#[test]
fn signed_header_that_is_missing() {
    let mut parts = signed();
    parts.headers.remove("x-amz-meta-a");
    assert_error(
        &parts,
        ErrorKind::Malformed,
        "AuthorizationHeaderMalformed",
        400,
    );
}

#[test]
fn malformed_queries() {
    let code = "AuthorizationQueryParametersError";
    let changes: [fn(&str) -> String; 8] = [
        |uri| uri.replace("&X-Amz-Expires=3600", ""),
        |uri| uri.replace("&X-Amz-Date=20150830T123600Z", ""),
        |uri| uri.replace("20150830T123600Z", "2015"),
        |uri| uri.replace("X-Amz-Algorithm=AWS4-HMAC-SHA256&", ""),
        |uri| uri.replace("&X-Amz-SignedHeaders=host", "&X-Amz-SignedHeaders=;host"),
        |uri| uri.replace("%2Faws4_request", "%2Faws4"),
        |uri| uri.replace("%2F", "%zz"),
        |uri| uri.split("&X-Amz-Signature").next().unwrap().to_owned(),
    ];
    for change in changes {
        assert_error(&query(change), ErrorKind::Malformed, code, 400);
    }
    for expires in ["", "604801", "-1", "1e3", "99999999999999999999999"] {
        let parts = query(|uri| uri.replace("=3600", &format!("={expires}")));
        assert_error(&parts, ErrorKind::InvalidExpiry, code, 400);
    }
    // The name of the duplicate is encoded.
    for duplicate in [
        "X-Amz-Signature=00",
        "X-Amz-Sign%61ture=00",
        "X-Amz-Date=20150830T123600Z",
    ] {
        let parts = query(|uri| format!("{uri}&{duplicate}"));
        assert_error(&parts, ErrorKind::Duplicate, code, 400);
    }
}

#[test]
fn duplicate_headers() {
    let names = [
        "authorization",
        "x-amz-date",
        "x-amz-content-sha256",
        "x-amz-security-token",
        "host",
    ];
    for name in names {
        let mut parts = signed();
        let value = parts.headers.get(name).cloned();
        let value = value.unwrap_or_else(|| "bucket.example.com".parse().unwrap());
        parts.headers.insert(name, value.clone());
        parts.headers.append(name, value);
        assert_error(
            &parts,
            ErrorKind::Duplicate,
            "AuthorizationHeaderMalformed",
            400,
        );
    }
}

#[test]
fn unsupported_algorithms() {
    for value in [
        "AWS AKIDEXAMPLE:frJIUN8DYpKDtOLCwo//yllqDzg=",
        "Basic YTpi",
        "",
        "AWS4-HMAC-SHA256-X a",
    ] {
        let parts = with_header(signed(), "authorization", value);
        assert_error(
            &parts,
            ErrorKind::UnsupportedAlgorithm,
            "InvalidRequest",
            400,
        );
    }
    let mut parts = unsigned();
    let uri = "https://b.example.com/key?AWSAccessKeyId=AKIDEXAMPLE&Signature=a%3D&Expires=1";
    parts.uri = uri.parse().unwrap();
    assert_error(
        &parts,
        ErrorKind::UnsupportedAlgorithm,
        "InvalidRequest",
        400,
    );
}

#[test]
fn wrong_scopes() {
    for (from, to) in [
        ("/us-east-1/", "/eu-west-1/"),
        ("/s3/", "/sqs/"),
        ("/20150830/", "/20150829/"),
    ] {
        let parts = authorization(|value| value.replace(from, to));
        assert_error(
            &parts,
            ErrorKind::WrongScope,
            "AuthorizationHeaderMalformed",
            400,
        );
        let scope = error(&parts);
        assert_eq!(
            scope.code(ErrorDialect::AwsJson),
            "InvalidSignatureException"
        );
        assert_eq!(scope.code(ErrorDialect::Query), "SignatureDoesNotMatch");
    }
    let parts = query(|uri| uri.replace("us-east-1", "eu-west-1"));
    assert_error(
        &parts,
        ErrorKind::WrongScope,
        "AuthorizationQueryParametersError",
        400,
    );
    assert_eq!(error(&parts).form(), Form::Query);
}

#[test]
fn dates() {
    let mut parts = signed();
    parts.headers.remove("x-amz-date");
    assert_error(&parts, ErrorKind::MissingDate, "AccessDenied", 403);
    let parts = with_header(signed(), "x-amz-date", "2015-08-30T12:36:00Z");
    assert_error(&parts, ErrorKind::MissingDate, "AccessDenied", 403);

    // `Date` of HTTP instead of `x-amz-date`. The signature does not depend on its format.
    let mut parts = unsigned();
    let key = key_of(&credentials());
    parts
        .headers
        .insert("date", "Sun, 30 Aug 2015 12:36:00 GMT".parse().unwrap());
    let payload = Payload::of(b"");
    insert_headers(&mut parts.headers, payload, &key, &Settings::S3, time()).unwrap();
    parts.headers.remove("x-amz-date");
    let (_, value) = polywire_aws::signature::authorization(
        (&parts).into(),
        payload,
        &key,
        &Settings::S3,
        time(),
    )
    .unwrap();
    parts.headers.insert("authorization", value);
    verify_at(&parts, now()).unwrap();
}

#[test]
fn clocks() {
    let at = |seconds| Timestamp::new(time().seconds() + seconds, 0);
    for seconds in [-900, 900] {
        verify_at(&signed(), at(seconds)).unwrap();
    }
    for seconds in [-901, 901, i64::MAX / 2, i64::MIN / 2] {
        let error = verify_at(&signed(), at(seconds)).unwrap_err();
        assert_eq!(error.code(ErrorDialect::S3), "RequestTimeTooSkewed");
        assert_eq!(
            error.code(ErrorDialect::RestJson),
            "InvalidSignatureException"
        );
    }
    verify_at(&presigned(), at(-900)).unwrap();
    verify_at(&presigned(), at(3599)).unwrap();
    for (seconds, kind) in [
        (3600, ErrorKind::Expired),
        (i64::MAX / 2, ErrorKind::Expired),
        (-901, ErrorKind::NotYetValid),
        (i64::MIN / 2, ErrorKind::NotYetValid),
    ] {
        let error = verify_at(&presigned(), at(seconds)).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.code(ErrorDialect::S3), "AccessDenied");
        assert_eq!(error.status(ErrorDialect::S3).as_u16(), 403);
    }
    let request = signed();
    let request = SignedRequest::parse(&request).unwrap();
    let narrow = verifier().with_max_skew(Duration::from_secs(60));
    let key = request.signing_key(&credentials());
    assert!(narrow.verify(&request, &key, at(60), None).is_ok());
    assert!(narrow.verify(&request, &key, at(61), None).is_err());
}

#[test]
fn unsigned_headers() {
    let parts = with_header(signed(), "x-amz-acl", "public-read");
    assert_error(&parts, ErrorKind::UnsignedHeaders, "AccessDenied", 403);
    assert_eq!(error(&parts).headers_not_signed(), ["x-amz-acl"]);
    let parts = authorization(|value| value.replace("host;", ""));
    assert_eq!(error(&parts).headers_not_signed(), ["host"]);
    let parts = with_header(presigned(), "x-amz-acl", "public-read");
    assert_error(&parts, ErrorKind::UnsignedHeaders, "AccessDenied", 403);
    // Other headers may be added.
    verify_at(&with_header(signed(), "accept", "*/*"), now()).unwrap();
}

#[test]
fn payloads() {
    let mut parts = signed();
    parts.headers.remove("x-amz-content-sha256");
    let parts = with_header(
        parts,
        "authorization",
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/s3/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-meta-a, Signature=\
         0000000000000000000000000000000000000000000000000000000000000000",
    );
    assert_error(&parts, ErrorKind::MissingPayloadHash, "InvalidRequest", 400);
    for value in [
        "",
        "unsigned-payload",
        "00",
        &"0".repeat(63),
        &"A".repeat(64),
    ] {
        let parts = with_header(signed(), "x-amz-content-sha256", value);
        assert_error(
            &parts,
            ErrorKind::InvalidPayloadHash,
            "InvalidArgument",
            400,
        );
    }
    // Chunks of another version than the signature.
    let parts = signed_with(&credentials(), Payload::StreamingEcdsa);
    assert_error(
        &parts,
        ErrorKind::InvalidPayloadHash,
        "InvalidArgument",
        400,
    );
    // Unsigned payloads, if the server does not accept them.
    let parts = signed_with(&credentials(), Payload::Unsigned);
    assert_eq!(
        verify_at(&parts, now()).unwrap().payload(),
        Payload::Unsigned
    );
    let request = SignedRequest::parse(&parts).unwrap();
    let key = request.signing_key(&credentials());
    let strict = verifier().with_unsigned_payload(false);
    let error = strict.verify(&request, &key, now(), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPayloadHash);

    let verified = verify_at(&signed(), now()).unwrap();
    let Payload::Sha256(hash) = Payload::of(b"another body") else {
        unreachable!()
    };
    let error = verified.check_body(&hash).unwrap_err();
    assert_eq!(error.code(ErrorDialect::S3), "XAmzContentSHA256Mismatch");
    assert_eq!(error.status(ErrorDialect::S3).as_u16(), 400);
    let request = signed();
    let request = SignedRequest::parse(&request).unwrap();
    let error = verifier()
        .verify(&request, &key, now(), Some(&hash))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PayloadMismatch);
}

#[test]
fn services_without_payload_header() {
    let mut parts = unsigned();
    let key = SigningKey::derive(&credentials(), time().date(), "us-east-1", "sqs");
    let body = b"{}";
    sign_request(
        &mut parts,
        Payload::of(body),
        &key,
        &Settings::STANDARD,
        time(),
    )
    .unwrap();
    let request = SignedRequest::parse(&parts).unwrap();
    assert_eq!(request.payload(), None);
    let verifier = Verifier::new("sqs");
    let Payload::Sha256(hash) = Payload::of(body) else {
        unreachable!()
    };
    verifier.verify(&request, &key, now(), Some(&hash)).unwrap();
    let error = verifier
        .verify(&request, &key, now(), Some(&[0; 32]))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    let error = verifier.verify(&request, &key, now(), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BodyHashRequired);
    assert_eq!(error.status(ErrorDialect::AwsJson).as_u16(), 500);
}

#[test]
fn mismatch_has_what_was_signed() {
    let parts = authorization(|value| format!("{}0", &value[..value.len() - 1]));
    let parts = if verify_at(&parts, now()).is_ok() {
        authorization(|value| format!("{}1", &value[..value.len() - 1]))
    } else {
        parts
    };
    assert_error(&parts, ErrorKind::Mismatch, "SignatureDoesNotMatch", 403);
    let error = error(&parts);
    let canonical = str::from_utf8(error.canonical_request()).unwrap();
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(
        canonical,
        format!(
            "GET\n/key\nlist-type=2&prefix=a%20b\nhost:bucket.example.com\nx-amz-content-sha256:\
             {empty}\nx-amz-date:20150830T123600Z\nx-amz-meta-a:1\n\n\
             host;x-amz-content-sha256;x-amz-date;x-amz-meta-a\n{empty}"
        )
    );
    let to_sign = str::from_utf8(error.string_to_sign()).unwrap();
    let context = "20150830T123600Z\n20150830/us-east-1/s3/aws4_request";
    let hash = Payload::of(canonical.as_bytes());
    assert_eq!(to_sign, format!("AWS4-HMAC-SHA256\n{context}\n{hash}"));
    for (dialect, code, status) in [
        (ErrorDialect::AwsJson, "InvalidSignatureException", 400),
        (ErrorDialect::RestJson, "InvalidSignatureException", 403),
        (ErrorDialect::Query, "SignatureDoesNotMatch", 403),
    ] {
        assert_eq!(error.code(dialect), code);
        assert_eq!(error.status(dialect).as_u16(), status);
    }
}

#[test]
fn sessions() {
    let session = credentials().with_session_token(TOKEN).with_expiry(now());
    let verify = |parts: &Parts, key: &Credentials, now| {
        let request = SignedRequest::parse(parts)?;
        verifier().verify(&request, &request.signing_key(key), now, None)
    };
    let before = Timestamp::new(time().seconds() - 1, 0);
    let parts = signed_with(&session, Payload::of(b""));
    assert_eq!(
        SignedRequest::parse(&parts).unwrap().session_token(),
        Some(TOKEN.as_bytes())
    );
    verify(&parts, &session, before).unwrap();
    let error = verify(&parts, &session, now()).unwrap_err();
    for (dialect, code, status) in [
        (ErrorDialect::S3, "ExpiredToken", 400),
        (ErrorDialect::AwsJson, "ExpiredTokenException", 400),
        (ErrorDialect::Query, "ExpiredToken", 403),
    ] {
        assert_eq!(
            (error.code(dialect), error.status(dialect).as_u16()),
            (code, status)
        );
    }
    // No token for a session, a token for no session, and another token.
    let other = credentials().with_session_token("another-token");
    for (parts, key) in [
        (signed(), &session),
        (parts.clone(), &credentials()),
        (parts, &other),
    ] {
        let error = verify(&parts, key, before).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidToken);
        assert_eq!(error.code(ErrorDialect::S3), "InvalidToken");
        assert_eq!(
            error.code(ErrorDialect::AwsJson),
            "UnrecognizedClientException"
        );
        assert!(!format!("{error:?}").contains(TOKEN));
    }
    let mut url = unsigned();
    let hour = Duration::from_secs(3600);
    let key = key_of(&session);
    presign_request(
        &mut url,
        Payload::Unsigned,
        &key,
        &Settings::S3,
        time(),
        hour,
    )
    .unwrap();
    verify(&url, &session, before).unwrap();
    // The token must be in the query or in the header.
    let twice = with_header(url, "x-amz-security-token", TOKEN);
    let error = verify(&twice, &session, before).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    let long = with_header(signed(), "x-amz-security-token", &"a".repeat(16_385));
    assert_eq!(
        verify(&long, &session, before).unwrap_err().kind(),
        ErrorKind::InvalidToken
    );
}

#[test]
fn session_token_outside_of_the_signature() {
    let session = credentials().with_session_token(TOKEN);
    let settings = Settings {
        sign_session_token: false,
        ..Settings::STANDARD
    };
    let key = SigningKey::derive(&session, time().date(), "us-east-1", "iotdevicegateway");
    let mut parts = unsigned();
    let minute = Duration::from_secs(60);
    presign_request(
        &mut parts,
        Payload::of(b""),
        &key,
        &settings,
        time(),
        minute,
    )
    .unwrap();
    let request = SignedRequest::parse(&parts).unwrap();
    let Payload::Sha256(empty) = Payload::of(b"") else {
        unreachable!()
    };
    let verifier = Verifier::new("iotdevicegateway");
    let error = verifier
        .verify(&request, &key, now(), Some(&empty))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    let verifier = verifier.with_unsigned_session_token(true);
    verifier
        .verify(&request, &key, now(), Some(&empty))
        .unwrap();
}

#[test]
fn unknown_access_keys() {
    let error = SignatureError::unknown_access_key();
    assert_eq!(error.code(ErrorDialect::S3), "InvalidAccessKeyId");
    assert_eq!(
        error.code(ErrorDialect::AwsJson),
        "UnrecognizedClientException"
    );
    assert_eq!(error.code(ErrorDialect::Query), "InvalidClientTokenId");
    assert_eq!(error.status(ErrorDialect::S3).as_u16(), 403);
}

#[test]
fn mistakes_of_the_caller() {
    let mut parts = unsigned();
    let tomorrow = SigningTime::parse("20150831T000000Z").unwrap();
    let key = key_of(&credentials());
    let payload = Payload::of(b"");
    let error = sign_request(&mut parts, payload, &key, &Settings::S3, tomorrow).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongKey);
    for expires in [Duration::ZERO, MAX_EXPIRY + Duration::from_nanos(1)] {
        let error =
            presign_request(&mut parts, payload, &key, &Settings::S3, time(), expires).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidExpiry);
    }
    let invalid = credentials().with_session_token("a\nb");
    let error = sign_request(
        &mut parts,
        payload,
        &key_of(&invalid),
        &Settings::S3,
        time(),
    )
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidCredentials);
    assert!(!format!("{error} {error:?}").contains("a\nb"));

    // A key for another access key or scope.
    let parts = signed();
    let request = SignedRequest::parse(&parts).unwrap();
    for (id, region) in [("AKIDOTHER", "us-east-1"), ("AKIDEXAMPLE", "eu-west-1")] {
        let other = Credentials::new(id, SECRET);
        let other = SigningKey::derive(&other, time().date(), region, "s3");
        let error = verifier()
            .verify(&request, &other, now(), None)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongKey);
        assert_eq!(error.code(ErrorDialect::S3), "InternalError");
    }
    assert!(!format!("{key:?} {:?}", credentials()).contains(SECRET));
    assert!(parts.headers["authorization"].is_sensitive());
}
