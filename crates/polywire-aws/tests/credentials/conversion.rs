//! Credentials of providers as signatures need them.

use polywire_aws::credentials::from_environment;
use polywire_aws::signature::Credentials;
use polywire_text::Timestamp;

#[test]
fn nothing_is_lost() {
    let found = from_environment(|name| {
        let value = match name {
            "AWS_ACCESS_KEY_ID" => "AKID",
            "AWS_SECRET_ACCESS_KEY" => "secret",
            "AWS_SESSION_TOKEN" => "token",
            "AWS_CREDENTIAL_EXPIRATION" => "2030-01-01T00:00:00Z",
            "AWS_ACCOUNT_ID" => "123456789012",
            _ => return None,
        };
        Some(value.to_owned())
    });
    let credentials = Credentials::from(&found.unwrap().unwrap());
    assert_eq!(credentials.access_key_id(), "AKID");
    assert_eq!(credentials.secret_access_key(), "secret");
    assert_eq!(credentials.session_token(), Some("token"));
    let expiry = Timestamp::parse_date_time("2030-01-01T00:00:00Z").unwrap();
    assert_eq!(credentials.expiry(), Some(expiry));
    assert_eq!(credentials.account_id(), Some("123456789012"));
}
