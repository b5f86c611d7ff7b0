//! The scope of a signature: day, region and service.

use std::fmt;

use super::Date;

/// The last part of each scope.
pub(super) const TERMINATOR: &str = "aws4_request";

/// Day, region and service for which a signature is valid.
///
/// ```text
/// scope = date "/" region "/" service "/aws4_request"     Version 4
///       / date "/" service "/aws4_request"                Version 4A
/// ```
///
/// A scope of Version 4A has no region: the header or query parameter `X-Amz-Region-Set` has a
/// comma-separated list of them, in which `*` matches any characters.
///
/// ```
/// use polywire_aws::signature::{Date, Scope};
///
/// let scope = Scope::new(Date::parse("20150830").unwrap(), "us-east-1", "s3");
/// assert_eq!(scope.as_str(), "20150830/us-east-1/s3/aws4_request");
/// ```
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Scope {
    text: Box<str>,
    date: Date,
    region_len: usize,
    service_len: usize,
}

impl Scope {
    /// A scope of Version 4. Region and service must not contain `/`; the scope would be read
    /// differently by servers.
    #[must_use]
    pub fn new(date: Date, region: &str, service: &str) -> Self {
        Self {
            text: join(&[date.as_str(), region, service, TERMINATOR]),
            date,
            region_len: region.len(),
            service_len: service.len(),
        }
    }

    /// A scope of Version 4A.
    #[must_use]
    pub fn new_v4a(date: Date, service: &str) -> Self {
        Self {
            text: join(&[date.as_str(), service, TERMINATOR]),
            date,
            region_len: 0,
            service_len: service.len(),
        }
    }

    /// The whole scope.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The day, in UTC.
    #[must_use]
    pub fn date(&self) -> Date {
        self.date
    }

    /// The region; empty for Version 4A.
    #[must_use]
    pub fn region(&self) -> &str {
        if self.region_len == 0 {
            ""
        } else {
            &self.text[9..9 + self.region_len]
        }
    }

    /// The signing name of the service.
    #[must_use]
    pub fn service(&self) -> &str {
        let end = self.text.len() - TERMINATOR.len() - 1;
        &self.text[end - self.service_len..end]
    }
}

/// Joins the parts with slashes.
fn join(parts: &[&str]) -> Box<str> {
    parts.join("/").into()
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
