//! Providers of credentials against local endpoints, files and programs.

mod cache;
mod chain;
mod endpoints;
mod files;

use polywire_rpc::aws::providers::Environment;
use polywire_rpc::aws::{Credentials, CredentialsProvider};

use crate::support::within;

/// The only variables of a test.
pub(crate) fn environment(variables: &[(&str, &str)]) -> Environment {
    let own = variables.iter();
    let own: Vec<(String, String)> = own
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    Environment::from_fn(move |name| {
        let found = own.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.clone())
    })
}

async fn found(provider: &impl CredentialsProvider) -> Credentials {
    match within(provider.credentials()).await {
        Ok(credentials) => credentials,
        Err(error) => panic!("{error}"),
    }
}

/// The text of the error, which has no secrets.
async fn failed(provider: &impl CredentialsProvider) -> String {
    let text = within(provider.credentials())
        .await
        .unwrap_err()
        .to_string();
    for shown in [
        text.replace("AWS_SECRET_ACCESS_KEY", ""),
        format!("{provider:?}"),
    ] {
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    text
}
