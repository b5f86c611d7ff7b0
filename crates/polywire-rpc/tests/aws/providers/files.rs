//! Profiles and processes.

use std::path::Path;
use std::time::{Duration, Instant};

use polywire_rpc::aws::providers::{EnvironmentProvider, ProcessProvider, ProfileProvider};

use super::{environment, failed, found};

#[tokio::test]
async fn keys_in_variables() {
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "SECRET"),
    ];
    let credentials = found(&EnvironmentProvider::new(environment(&keys))).await;
    assert_eq!(credentials.secret_access_key(), "SECRET");
    let text = failed(&EnvironmentProvider::new(environment(&keys[1..]))).await;
    assert!(
        text.contains("the variable AWS_ACCESS_KEY_ID is missing"),
        "{text}"
    );
    assert!(!format!("{:?}", environment(&keys)).contains("SECRET"));
}

fn write(path: &Path, text: &str) -> String {
    std::fs::write(path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn profiles_are_in_two_files() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    write(
        &home.path().join(".aws/config"),
        "[profile env]\nrole_arn = arn:x\ncredential_source = Environment\n\
         [profile role]\nrole_arn = arn:x\nsource_profile = default\n\
         [profile sso]\nsso_start_url = https://x\nsso_region = r\nsso_account_id = 1\nsso_role_name = n\n",
    );
    write(
        &home.path().join(".aws/credentials"),
        "[default]\naws_access_key_id = AKID\naws_secret_access_key = SECRET\n",
    );
    let home = home.path().to_str().unwrap();
    let home = ("HOME", home);
    let credentials = found(&ProfileProvider::new(environment(&[home]))).await;
    assert_eq!(credentials.access_key_id(), "AKID");
    for (profile, reason) in [
        (
            "none",
            "no credentials from the profile `none`: there is no profile `none`",
        ),
        ("role", "assuming the role arn:x is not supported"),
        ("sso", "IAM Identity Center is not supported"),
    ] {
        let text = failed(&ProfileProvider::new(environment(&[
            home,
            ("AWS_PROFILE", profile),
        ])))
        .await;
        assert!(text.contains(reason), "{text}");
        let own = ProfileProvider::new(environment(&[home])).with_profile(profile);
        assert!(failed(&own).await.contains(reason));
    }
}

#[tokio::test]
async fn files_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let config = write(
        &directory.path().join("config"),
        "[profile a]\naws_access_key_id = AKID\naws_secret_access_key = SECRET\n",
    );
    let home = directory.path().to_str().unwrap();
    for path in [&*config, "~/config"] {
        let variables = [
            ("AWS_CONFIG_FILE", path),
            ("AWS_PROFILE", "a"),
            ("HOME", home),
        ];
        let credentials = found(&ProfileProvider::new(environment(&variables))).await;
        assert_eq!(credentials.access_key_id(), "AKID");
    }
    let invalid = write(&directory.path().join("invalid"), "[default]\nSECRET\n");
    for (path, reason) in [(&*invalid, "line 2"), (home, "cannot")] {
        let variables = [("AWS_SHARED_CREDENTIALS_FILE", path)];
        let text = failed(&ProfileProvider::new(environment(&variables))).await;
        assert!(text.contains(reason), "{text}");
    }
}

#[cfg(unix)]
mod processes {
    use super::*;

    const OUTPUT: &str = r#"{"Version":1,"AccessKeyId":"AKID","SecretAccessKey":"SECRET"}"#;

    #[tokio::test]
    async fn programs_write_credentials() {
        let command = format!("sh -c 'echo \"$0\"' '{OUTPUT}'");
        assert_eq!(
            found(&ProcessProvider::new(&command)).await.access_key_id(),
            "AKID"
        );
        let directory = tempfile::tempdir().unwrap();
        let config = write(
            &directory.path().join("config"),
            &format!("[default]\ncredential_process = {command}\n"),
        );
        let provider = ProfileProvider::new(environment(&[("AWS_CONFIG_FILE", &config)]));
        assert_eq!(found(&provider).await.access_key_id(), "AKID");
    }

    #[tokio::test]
    async fn programs_that_fail() {
        for (command, reason) in [
            ("/no/such/program SECRET", "the program does not start"),
            (
                "sh -c 'echo SECRET; echo SECRET >&2; exit 3'",
                "exit status: 3",
            ),
            ("echo SECRET", "is not a JSON object"),
            ("echo 'SECRET", "a quote without its end"),
            ("", "the command is empty"),
            ("cat /dev/zero", "more than 65536 bytes"),
        ] {
            let text = failed(&ProcessProvider::new(command)).await;
            assert!(
                text.starts_with("no credentials from the process: "),
                "{text}"
            );
            assert!(text.contains(reason), "{text}");
        }
    }

    #[tokio::test]
    async fn programs_that_do_not_end_are_killed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("alive");
        let command = format!("sh -c 'sleep 1; echo > {}'", file.display());
        let provider = ProcessProvider::new(&command).with_time_limit(Duration::from_millis(100));
        let started = Instant::now();
        let text = failed(&provider).await;
        assert!(
            text.contains("the program ran for more than 0.1 s"),
            "{text}"
        );
        assert!(started.elapsed() < Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(1200)).await;
        assert!(!file.exists());
    }
}
