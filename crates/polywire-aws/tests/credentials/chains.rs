//! From profiles to sources. The facts are those of the published tests of AWS's SDKs.

use polywire_aws::credentials::{ChainError, NamedSource, ProfileChain, ProfileSet, ProfileSource};

/// The chain of the profile `A`: the source, then the names of the roles.
fn chain(config: &str) -> String {
    let profiles = ProfileSet::parse(config, "").unwrap();
    let chain = match ProfileChain::resolve(&profiles, "A") {
        Ok(chain) => chain,
        Err(error) => return format!("error: {error}"),
    };
    let source = match &chain.source {
        ProfileSource::Keys(keys) => {
            format!("keys {}:{}", keys.access_key_id(), keys.secret_access_key())
        }
        ProfileSource::Named(source) => format!("{source:?}"),
        ProfileSource::Process { command } => format!("process {command}"),
        ProfileSource::Sso(sso) => format!(
            "sso {} {} {} {}",
            sso.start_url, sso.region, sso.account_id, sso.role_name
        ),
        ProfileSource::WebIdentity {
            role_arn,
            token_file,
            session_name,
        } => {
            format!("web {role_arn} {token_file} {session_name:?}")
        }
        other => panic!("{other:?}"),
    };
    let roles = chain
        .roles
        .iter()
        .map(|role| format!(" -> {}", role.role_arn));
    source + &roles.collect::<String>()
}

const KEYS_B: &str = "[profile B]\naws_access_key_id = b\naws_secret_access_key = s\n";

#[test]
fn roles_are_assumed_with_the_credentials_of_their_source() {
    let role = "[profile A]\nrole_arn = RA\nsource_profile = B\n";
    assert_eq!(chain(&format!("{role}{KEYS_B}")), "keys b:s -> RA");
    // Keys of the selected profile are ignored, those of a source are used.
    let keys = "aws_access_key_id = a\naws_secret_access_key = t\n";
    assert_eq!(chain(&format!("{role}{keys}{KEYS_B}")), "keys b:s -> RA");
    let both = "role_arn = RB\nsource_profile = C\n[profile C]\naws_access_key_id = c\naws_secret_access_key = u\n";
    assert_eq!(
        chain(&format!("{role}{keys}{KEYS_B}{both}")),
        "keys b:s -> RA"
    );
    assert_eq!(
        chain(&format!("{role}[profile B]\n{both}")),
        "keys c:u -> RB -> RA"
    );
    // A profile can be its own source.
    let own = "[profile A]\nrole_arn = RA\nsource_profile = A\n";
    assert_eq!(chain(&format!("{own}{keys}")), "keys a:t -> RA");
    assert_eq!(
        chain(own),
        "error: the profile `A` has no `aws_access_key_id`"
    );
    let web = "[profile B]\nrole_arn = RB\nweb_identity_token_file = /t\nrole_session_name = n\n";
    assert_eq!(
        chain(&format!("{role}{web}")),
        "web RB /t Some(\"n\") -> RA"
    );
}

#[test]
fn settings_of_roles_are_read() {
    let config = format!(
        "[profile A]\nrole_arn = RA\nsource_profile = B\nexternal_id = x\nrole_session_name = n\n\
         duration_seconds = 900\nmfa_serial = m\n{KEYS_B}"
    );
    let profiles = ProfileSet::parse(&config, "").unwrap();
    let role = &ProfileChain::resolve(&profiles, "A").unwrap().roles[0];
    assert_eq!(
        (&*role.profile, role.external_id.as_deref()),
        ("A", Some("x"))
    );
    assert_eq!(role.session_name.as_deref(), Some("n"));
    assert_eq!(
        (role.duration_seconds, role.mfa_serial.as_deref()),
        (Some(900), Some("m"))
    );
    let wrong = config.replace("900", "soon");
    assert_eq!(
        chain(&wrong),
        "error: the profile `A` has a `duration_seconds` that is not valid"
    );
}

#[test]
fn named_sources_are_read() {
    for (name, source) in [
        ("Ec2InstanceMetadata", NamedSource::Ec2InstanceMetadata),
        ("EcsContainer", NamedSource::EcsContainer),
        ("Environment", NamedSource::Environment),
    ] {
        let config = format!("[profile A]\nrole_arn = RA\ncredential_source = {name}\n");
        assert_eq!(chain(&config), format!("{source:?} -> RA"));
    }
    assert_eq!(
        chain("[profile A]\nrole_arn = RA\ncredential_source = Elsewhere\n"),
        "error: the profile `A` has a `credential_source` that is not valid"
    );
}

#[test]
fn profiles_without_roles_have_several_sources() {
    for (config, expected) in [
        (
            "aws_access_key_id = a\naws_secret_access_key = b",
            "keys a:b",
        ),
        ("credential_process = /bin/p --x", "process /bin/p --x"),
        (
            "web_identity_token_file = /t\nrole_arn = R",
            "web R /t None",
        ),
        (
            "sso_account_id = 1\nsso_role_name = r\nsso_start_url = u\nsso_region = g",
            "sso u g 1 r",
        ),
        (
            "sso_account_id = 1\nsso_role_name = r\nsso_session = s\n[sso-session s]\nsso_start_url = v\nsso_region = h",
            "sso v h 1 r",
        ),
    ] {
        assert_eq!(chain(&format!("[profile A]\n{config}\n")), expected);
    }
}

#[test]
fn errors_name_profiles_and_properties() {
    let role = "[profile A]\nrole_arn = RA\nsource_profile = B\n";
    for (config, expected) in [
        (String::new(), "there is no profile `A`"),
        (
            "[profile A]".to_owned(),
            "the profile `A` has no credentials",
        ),
        (
            "[profile A]\nrole_arn = R".to_owned(),
            "the profile `A` has no `source_profile`",
        ),
        (
            "[profile A]\nweb_identity_token_file = t".to_owned(),
            "the profile `A` has no `role_arn`",
        ),
        (
            format!("{role}credential_source = Environment\n{KEYS_B}"),
            "the profile `A` has both `source_profile` and `credential_source`",
        ),
        (role.to_owned(), "there is no profile `B`"),
        (
            format!("{role}[profile B]"),
            "the profile `B` has no credentials",
        ),
        (
            format!("{role}[profile B]\naws_access_key_id = b"),
            "the profile `B` has no `aws_secret_access_key`",
        ),
        (
            format!("{role}[profile B]\naws_secret_access_key = b"),
            "the profile `B` has no `aws_access_key_id`",
        ),
        (
            "[profile A]\nsso_account_id = 1".to_owned(),
            "the profile `A` has no `sso_start_url`",
        ),
        (
            "[profile A]\nsso_account_id = 1\nsso_session = s".to_owned(),
            "the profile `A` has a `sso_session` that is not valid",
        ),
    ] {
        assert_eq!(chain(&config), format!("error: {expected}"));
    }
}

#[test]
fn cycles_are_errors() {
    let cycle =
        "role_arn = RA\nsource_profile = B\n[profile B]\nrole_arn = RB\nsource_profile = A\n";
    let error = "error: the sources of the profile `A` lead back to itself";
    assert_eq!(chain(&format!("[profile A]\n{cycle}")), error);
    let keys = "aws_access_key_id = a\naws_secret_access_key = t\n";
    assert_eq!(chain(&format!("[profile A]\n{keys}{cycle}")), error);
}

#[test]
fn debug_does_not_show_secrets() {
    let config = "[profile A]\ncredential_process = tool --password hunter2\n\
                  [profile B]\naws_access_key_id = a\naws_secret_access_key = hunter2\naws_session_token = hunter2\n";
    let profiles = ProfileSet::parse(config, "").unwrap();
    for name in ["A", "B"] {
        let chain = ProfileChain::resolve(&profiles, name).unwrap();
        assert!(!format!("{chain:?}").contains("hunter2"));
    }
    let error = ProfileChain::resolve(&profiles, "C").unwrap_err();
    assert_eq!(
        error,
        ChainError::NoProfile {
            profile: "C".to_owned()
        }
    );
}
