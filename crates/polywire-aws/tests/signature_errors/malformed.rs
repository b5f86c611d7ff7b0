//! Signatures that cannot be read.

use super::*;

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
    assert!(error(&many).to_string().contains("more than 128 names"));
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
