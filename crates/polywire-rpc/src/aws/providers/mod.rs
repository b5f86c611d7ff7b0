//! Where clients find their credentials: the providers of `polywire_aws::credentials` with their I/O.
//!
//! | provider | source |
//! |---|---|
//! | [`DefaultChain`] | the first of the following that is configured |
//! | [`EnvironmentProvider`] | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` |
//! | [`ProfileProvider`] | a profile in `~/.aws/config` and `~/.aws/credentials` |
//! | [`ContainerProvider`] | the endpoint of a container of ECS or EKS |
//! | [`InstanceMetadataProvider`] | the instance metadata service of EC2 |
//! | [`CachedProvider`] | another provider, whose credentials it keeps and renews |
//! | [`ProcessProvider`] | the output of a program |
//!
//! [`Credentials`](super::Credentials) are a provider of themselves. Variables come from an [`Environment`], so a test does
//! not change those of its process. Errors name the provider; neither they nor `Debug` nor the log contain secrets.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! use polywire_rpc::aws::CredentialsProvider;
//! use polywire_rpc::aws::providers::{DefaultChain, Environment};
//!
//! let environment = Environment::from_fn(|name| match name {
//!     "AWS_ACCESS_KEY_ID" => Some("AKIDEXAMPLE".to_owned()),
//!     "AWS_SECRET_ACCESS_KEY" => Some("a secret of 40 characters".to_owned()),
//!     _ => None,
//! });
//! let chain = DefaultChain::from_environment(environment);
//! assert_eq!(chain.credentials().await?.access_key_id(), "AKIDEXAMPLE");
//! # Ok(()) }
//! ```

mod cache;
mod chain;
mod container;
mod environment;
mod error;
mod http;
mod instance_metadata;
mod process;
mod profile;

use std::path::Path;

use tokio::io::AsyncReadExt;
use zeroize::Zeroizing;

pub use cache::CachedProvider;
pub use chain::DefaultChain;
pub use container::ContainerProvider;
pub use environment::{Environment, EnvironmentProvider};
pub use error::ProviderError;
pub use instance_metadata::InstanceMetadataProvider;
pub use process::ProcessProvider;
pub use profile::ProfileProvider;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The largest file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

fn boxed<T>(result: Result<T, ProviderError>) -> Result<T, BoxError> {
    result.map_err(Into::into)
}

/// Reads a file. `None` if it does not exist.
async fn read_file(path: &Path) -> Result<Option<Zeroizing<String>>, BoxError> {
    let shown = path.display();
    let file = match tokio::fs::File::open(path).await {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot open {shown}: {error}").into()),
    };
    let mut bytes = Zeroizing::new(Vec::new());
    let read = file.take(MAX_FILE + 1).read_to_end(&mut bytes).await;
    read.map_err(|error| format!("cannot read {shown}: {error}"))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("{shown} has more than {MAX_FILE} bytes").into());
    }
    let text = String::from_utf8(std::mem::take(&mut bytes));
    let text = text.map_err(|_| format!("{shown} is not in UTF-8"))?;
    Ok(Some(Zeroizing::new(text)))
}
