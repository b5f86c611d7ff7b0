//! The user agent of requests to AWS.

use std::env::consts::OS;

use http::HeaderValue;
use http::header::{HeaderMap, USER_AGENT};

use crate::client::DEFAULT_USER_AGENT;

/// Adds the user agent in the form that services of AWS analyse, `SDK/VERSION ua/2.1 os/NAME lang/rust api/SERVICE`, and its
/// short form in `x-amz-user-agent`. A user agent that the client has set stays.
pub(super) fn add(headers: &mut HeaderMap, service: &str) {
    let is_default = |value: &HeaderValue| value == DEFAULT_USER_AGENT;
    if !headers.get(USER_AGENT).is_none_or(is_default) {
        return;
    }
    let os = match OS {
        "linux" | "macos" | "windows" | "android" | "ios" => OS,
        _ => "other",
    };
    let long = format!("{DEFAULT_USER_AGENT} ua/2.1 os/{os} lang/rust api/{service}");
    let short = format!("{DEFAULT_USER_AGENT} api/{service}");
    // A signing name that no header can have is an error of the signature.
    if let (Ok(long), Ok(short)) = (HeaderValue::try_from(long), HeaderValue::try_from(short)) {
        headers.insert(USER_AGENT, long);
        headers.entry("x-amz-user-agent").or_insert(short);
    }
}
