//! Where a container asks for its credentials.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

/// The host of relative URIs, and an allowed host of full ones.
const ECS: Ipv4Addr = Ipv4Addr::new(169, 254, 170, 2);
const EKS_V4: Ipv4Addr = Ipv4Addr::new(169, 254, 170, 23);
const EKS_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23);

/// Why a URI of a container endpoint cannot be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EndpointError {
    /// It is not a URI of the scheme `http` or `https`, or the relative URI does not begin with a slash.
    Malformed,
    /// The token would be sent without encryption to a host that is not one of containers.
    Insecure,
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the URI of the container endpoint is not valid",
            Self::Insecure => {
                "the container endpoint uses http, but its host is neither this machine nor one of containers"
            }
        })
    }
}

impl Error for EndpointError {}

/// The URL of the container endpoint, from the variables `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` and
/// `AWS_CONTAINER_CREDENTIALS_FULL_URI`. The relative URI wins. `None` if neither is set.
///
/// The request is a GET. Its header `authorization` is the value of `AWS_CONTAINER_AUTHORIZATION_TOKEN`, or of the
/// file that `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` names, which wins and is read for each request.
///
/// # Errors
///
/// The URI is not valid, or is `http` for a host that is not a loopback address, `localhost`, or one of the addresses
/// of ECS and EKS. Names other than `localhost` are not looked up.
///
/// ```
/// use polywire_aws::credentials::{EndpointError, container_endpoint};
///
/// let url = container_endpoint(Some("/v2/credentials/1"), None).unwrap().unwrap();
/// assert_eq!(url, "http://169.254.170.2/v2/credentials/1");
/// assert!(container_endpoint(None, Some("http://127.0.0.1:8080/")).is_ok());
/// assert_eq!(container_endpoint(None, Some("http://example.com/")), Err(EndpointError::Insecure));
/// ```
pub fn container_endpoint(
    relative_uri: Option<&str>,
    full_uri: Option<&str>,
) -> Result<Option<String>, EndpointError> {
    if let Some(relative) = relative_uri {
        let url = format!("http://{ECS}{relative}");
        let is_valid = relative.starts_with('/') && url.parse::<Uri>().is_ok();
        return match is_valid {
            true => Ok(Some(url)),
            false => Err(EndpointError::Malformed),
        };
    }
    let Some(full) = full_uri else {
        return Ok(None);
    };
    let uri: Uri = full.parse().map_err(|_| EndpointError::Malformed)?;
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) => {}
        (Some("http"), Some(host)) if is_allowed(host) => {}
        (Some("http"), Some(_)) => return Err(EndpointError::Insecure),
        _ => return Err(EndpointError::Malformed),
    }
    Ok(Some(full.to_owned()))
}

fn is_allowed(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address == ECS || address == EKS_V4,
        Ok(IpAddr::V6(address)) => address.is_loopback() || address == EKS_V6,
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}
