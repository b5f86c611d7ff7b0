//! Variables of the environment, and the order of providers.

use polywire_aws::credentials::{
    DEFAULT_CHAIN, ProfileSet, Provider, from_environment, instance_metadata,
};

fn lookup<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + Copy + 'a {
    move |name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

#[test]
fn credentials_are_read_from_variables() {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("AWS_SESSION_TOKEN", "hunter3"),
        ("AWS_CREDENTIAL_EXPIRATION", "2030-01-01T00:00:00Z"),
        ("AWS_ACCOUNT_ID", "1"),
    ];
    let found = from_environment(lookup(&variables)).unwrap().unwrap();
    assert_eq!(
        (found.access_key_id(), found.secret_access_key()),
        ("AKID", "hunter2")
    );
    assert_eq!(
        (found.session_token(), found.account_id()),
        (Some("hunter3"), Some("1"))
    );
    assert_eq!(found.expiry().unwrap().seconds(), 1_893_456_000);
    let found = from_environment(lookup(&variables[..2])).unwrap().unwrap();
    assert_eq!((found.session_token(), found.expiry()), (None, None));
}

#[test]
fn half_of_the_credentials_is_an_error() {
    let error = from_environment(lookup(&[("AWS_SECRET_ACCESS_KEY", "hunter2")])).unwrap_err();
    assert_eq!(error.name(), "AWS_ACCESS_KEY_ID");
    assert!(!error.to_string().contains("hunter2"));
    let variables = [
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_CREDENTIAL_EXPIRATION", "soon"),
    ];
    let error = from_environment(lookup(&variables)).unwrap_err();
    assert_eq!(error.name(), "AWS_CREDENTIAL_EXPIRATION");
    let empty = [("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")];
    assert_eq!(from_environment(lookup(&empty)), Ok(None));
}

#[test]
fn the_first_provider_that_is_configured_is_asked() {
    let keys = "[default]\naws_access_key_id = a\naws_secret_access_key = b\n";
    let region = "[default]\nregion = eu-north-1\n";
    let first = |variables: &[(&str, &str)], config: &str| {
        let profiles = ProfileSet::parse(config, "").unwrap();
        let mut chain = DEFAULT_CHAIN.into_iter();
        chain.find(|provider| provider.is_configured(lookup(variables), &profiles))
    };
    let web = ("AWS_WEB_IDENTITY_TOKEN_FILE", "/t");
    let container = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost");
    assert_eq!(
        first(&[("AWS_ACCESS_KEY_ID", "a"), web], keys),
        Some(Provider::Environment)
    );
    assert_eq!(first(&[web, container], keys), Some(Provider::Profile));
    assert_eq!(first(&[("AWS_PROFILE", "x")], ""), Some(Provider::Profile));
    assert_eq!(
        first(&[web, container], region),
        Some(Provider::WebIdentity)
    );
    assert_eq!(first(&[container], region), Some(Provider::Container));
    assert_eq!(first(&[], region), Some(Provider::InstanceMetadata));
    assert_eq!(
        first(&[("AWS_EC2_METADATA_DISABLED", "TRUE")], region),
        None
    );
}

#[test]
fn names_of_roles_are_checked() {
    assert_eq!(
        instance_metadata::role_name("my-role\nother\n"),
        Some("my-role")
    );
    for body in ["", "\n", "a/b", "a b", "../x", &"a".repeat(65)] {
        assert_eq!(instance_metadata::role_name(body), None, "{body}");
    }
}
