//! Answers of processes and endpoints.

use polywire_aws::credentials::{
    AnswerError, CredentialSet, EndpointError, container_endpoint, from_container,
    from_instance_metadata, from_process,
};
use polywire_text::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

type Parse = fn(&[u8], Timestamp) -> Result<CredentialSet, AnswerError>;

fn now() -> Timestamp {
    Timestamp::parse_date_time("2026-11-29T12:00:00Z").unwrap()
}

fn process() -> Value {
    json!({
        "Version": 1,
        "AccessKeyId": "AKID",
        "SecretAccessKey": "hunter2",
        "SessionToken": "hunter3",
        "Expiration": "2026-11-29T18:00:00Z",
        "AccountId": "123456789012",
    })
}

fn endpoint() -> Value {
    json!({
        "Code": "Success",
        "LastUpdated": "2026-11-29T11:00:00Z",
        "Type": "AWS-HMAC",
        "AccessKeyId": "AKID",
        "SecretAccessKey": "hunter2",
        "Token": "hunter3",
        "Expiration": "2026-11-29T18:00:00Z",
        "AccountId": "123456789012",
    })
}

fn instance(body: &[u8], now: Timestamp) -> Result<CredentialSet, AnswerError> {
    from_instance_metadata(body, Some(now))
}

fn all() -> [(Parse, Value); 3] {
    [
        (from_process, process()),
        (from_container, endpoint()),
        (instance, endpoint()),
    ]
}

fn parse(parse: Parse, answer: &Value) -> Result<CredentialSet, AnswerError> {
    parse(answer.to_string().as_bytes(), now())
}

#[test]
fn complete_answers_are_read() {
    for (function, answer) in all() {
        let found = parse(function, &answer).unwrap();
        assert_eq!(found.access_key_id(), "AKID");
        assert_eq!(found.secret_access_key(), "hunter2");
        assert_eq!(found.session_token(), Some("hunter3"));
        assert_eq!(found.account_id(), Some("123456789012"));
        let expiry = Timestamp::parse_date_time("2026-11-29T18:00:00Z").unwrap();
        assert_eq!(found.expiry(), Some(expiry));
        assert!(!found.is_expired(now()) && found.is_expired(expiry));
        assert!(!format!("{found:?}").contains("hunter"));
    }
}

#[test]
fn missing_and_wrong_members_are_named() {
    for (function, answer) in all() {
        for name in ["AccessKeyId", "SecretAccessKey"] {
            for value in [Value::Null, json!(1), json!(""), json!(["hunter2"])] {
                let mut answer = answer.clone();
                answer[name] = value;
                assert_eq!(parse(function, &answer), Err(AnswerError::Member { name }));
            }
        }
        let mut answer = answer.clone();
        answer["Expiration"] = json!("soon");
        assert_eq!(
            parse(function, &answer),
            Err(AnswerError::Member { name: "Expiration" })
        );
    }
    // Only processes can give credentials that do not expire.
    for name in ["Token", "Expiration"] {
        for function in [from_container as Parse, instance as Parse] {
            let mut answer = endpoint();
            answer[name].take();
            assert_eq!(parse(function, &answer), Err(AnswerError::Member { name }));
        }
    }
    let plain = json!({ "Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b" });
    let found = parse(from_process, &plain).unwrap();
    assert_eq!((found.session_token(), found.expiry()), (None, None));
}

#[test]
fn expired_credentials_are_errors() {
    for (function, mut answer) in all() {
        answer["Expiration"] = json!("2026-11-29T12:00:00Z");
        assert_eq!(
            parse(function, &answer),
            Err(AnswerError::Expired { expiry: now() })
        );
    }
    // Unless the caller accepts them.
    let mut answer = endpoint();
    answer["Expiration"] = json!("2020-01-01T00:00:00Z");
    assert!(from_instance_metadata(answer.to_string().as_bytes(), None).is_ok());
}

#[test]
fn processes_have_version_1() {
    for version in [Value::Null, json!(2), json!("1"), json!(1.5)] {
        let mut answer = process();
        answer["Version"] = version;
        assert_eq!(parse(from_process, &answer), Err(AnswerError::Version));
    }
}

#[test]
fn errors_of_services_have_a_code() {
    let rejected = |code: &str| {
        Err(AnswerError::Rejected {
            code: code.to_owned(),
        })
    };
    let answer = json!({ "code": "InvalidAuthToken", "message": "hunter2" });
    assert_eq!(parse(from_container, &answer), rejected("InvalidAuthToken"));
    let answer = json!({ "Code": "AssumeRoleUnauthorizedAccess", "Message": "hunter2" });
    assert_eq!(
        parse(instance, &answer),
        rejected("AssumeRoleUnauthorizedAccess")
    );
    let answer = json!({ "Code": "a\nb" });
    assert_eq!(parse(instance, &answer), rejected("unknown"));
}

#[test]
fn errors_do_not_show_the_answer() {
    for text in [
        "",
        "hunter2",
        "[\"hunter2\"]",
        "{\"SecretAccessKey\": hunter2}",
        "\"hunter2\"",
    ] {
        for (function, _) in all() {
            let error = function(text.as_bytes(), now()).unwrap_err();
            assert_eq!(error, AnswerError::Malformed);
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}

#[test]
fn container_endpoints_are_checked() {
    let full = |uri: &'static str| container_endpoint(None, Some(uri));
    for uri in [
        "https://example.com/x",
        "http://localhost:80/x",
        "http://127.9.9.9/x",
        "http://[::1]:8080/x",
        "http://169.254.170.2/x",
        "http://169.254.170.23/v1/credentials",
        "http://[fd00:ec2::23]/v1/credentials",
    ] {
        assert_eq!(full(uri), Ok(Some(uri.to_owned())));
    }
    for uri in [
        "http://example.com/",
        "http://169.254.170.3/",
        "http://localhost.example.com/",
        "http://[::2]/",
    ] {
        assert_eq!(full(uri), Err(EndpointError::Insecure), "{uri}");
    }
    for uri in ["", "/x", "ftp://localhost/", "localhost", "http://"] {
        assert_eq!(full(uri), Err(EndpointError::Malformed), "{uri}");
    }
    assert_eq!(container_endpoint(None, None), Ok(None));
    let relative = container_endpoint(Some("/a?b=c"), Some("http://example.com/"));
    assert_eq!(relative, Ok(Some("http://169.254.170.2/a?b=c".to_owned())));
    // Otherwise the host would be another.
    assert_eq!(
        container_endpoint(Some(".example.com/"), None),
        Err(EndpointError::Malformed)
    );
    assert_eq!(
        container_endpoint(Some("@example.com/"), None),
        Err(EndpointError::Malformed)
    );
}

proptest! {
    #[test]
    fn arbitrary_answers_do_not_panic(bytes in any::<Vec<u8>>(), text in ".{0,40}") {
        for (function, mut answer) in all() {
            let _ = function(&bytes, now());
            answer["Expiration"] = json!(text);
            let _ = parse(function, &answer);
        }
        let _ = container_endpoint(Some(&text), None);
        let _ = container_endpoint(None, Some(&text));
    }
}
