//! Access keys, sessions, and mistakes of the caller.

use super::*;

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
    let debug = format!("{:?}", SignedRequest::parse(&parts).unwrap());
    assert!(
        debug.contains("AKIDEXAMPLE") && !debug.contains("token-that"),
        "{debug}"
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
