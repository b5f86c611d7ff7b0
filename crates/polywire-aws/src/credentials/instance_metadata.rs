//! The requests of the instance metadata service, version 2
//! ([documentation](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html)).
//!
//! 1. `PUT` [`TOKEN_PATH`] with the header [`TOKEN_TTL_HEADER`]; the body of the answer is a token.
//! 2. `GET` [`ROLE_PATH`] with the token in [`TOKEN_HEADER`]; [`role_name`] reads the body.
//! 3. `GET` [`ROLE_PATH`] and the name, with the token; [`from_instance_metadata`](super::from_instance_metadata)
//!    reads it.
//!
//! ```
//! use polywire_aws::credentials::instance_metadata::{ROLE_PATH, role_name};
//!
//! let role = role_name("web-server\n").unwrap();
//! assert_eq!(format!("{ROLE_PATH}{role}"), "/latest/meta-data/iam/security-credentials/web-server");
//! assert_eq!(role_name("<html>"), None);
//! ```

/// The endpoint with IPv4, without `AWS_EC2_METADATA_SERVICE_ENDPOINT`.
pub const ENDPOINT_V4: &str = "http://169.254.169.254";
/// The endpoint with IPv6, if `AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE` is `IPv6`.
pub const ENDPOINT_V6: &str = "http://[fd00:ec2::254]";
/// The path of tokens.
pub const TOKEN_PATH: &str = "/latest/api/token";
/// The header of requests for a token: how long it is valid, in seconds.
pub const TOKEN_TTL_HEADER: &str = "x-aws-ec2-metadata-token-ttl-seconds";
/// The usual value of [`TOKEN_TTL_HEADER`], which is also the largest: six hours.
pub const TOKEN_TTL_SECONDS: u32 = 21_600;
/// The header of other requests: the token.
pub const TOKEN_HEADER: &str = "x-aws-ec2-metadata-token";
/// The path of the name of the role, and with the name of its credentials.
pub const ROLE_PATH: &str = "/latest/meta-data/iam/security-credentials/";

/// The name of the role of the instance: the first line. `None` if it is not the name of a role, which has up to 64
/// letters, digits and characters of `+=,.@-_`.
#[must_use]
pub fn role_name(body: &str) -> Option<&str> {
    let name = body.lines().next()?.trim();
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@-_".contains(&byte);
    let is_name = (1..=64).contains(&name.len()) && name.bytes().all(is_allowed);
    is_name.then_some(name)
}
