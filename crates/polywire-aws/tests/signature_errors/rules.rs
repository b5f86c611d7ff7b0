//! Signatures that break a rule of the server.

use super::*;

#[test]
fn genuine_requests() {
    verify_at(&signed(), now()).unwrap();
    verify_at(&presigned(), now()).unwrap();
    // Without spaces after commas, as some clients write it.
    verify_at(&authorization(|value| value.replace(", ", ",")), now()).unwrap();
}

/// `Host` counts if the URI has a host too.
#[test]
fn host_of_header_and_uri() {
    let mut parts = with_header(unsigned(), "host", "another.example.com");
    let key = key_of(&credentials());
    sign_request(&mut parts, Payload::of(b""), &key, &Settings::S3, time()).unwrap();
    verify_at(&parts, now()).unwrap();
    let other = with_header(parts, "host", "bucket.example.com");
    assert_error(&other, ErrorKind::Mismatch, "SignatureDoesNotMatch", 403);
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
