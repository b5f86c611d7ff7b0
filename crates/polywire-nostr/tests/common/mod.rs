//! Events for tests.
#![allow(dead_code, reason = "each test target uses some of the functions")]

/// Returns an event as JSON. `tags` is JSON text.
pub(crate) fn event(id: u8, author: u8, created_at: u64, kind: u16, tags: &str) -> String {
    format!(
        r#"{{"id":"{}","pubkey":"{}","created_at":{created_at},"kind":{kind},"tags":{tags},"content":"","sig":"{}"}}"#,
        key(id),
        key(author),
        key(0).repeat(2),
    )
}

/// Returns 64 hexadecimal digits: 31 times `ab`, then the number.
pub(crate) fn key(number: u8) -> String {
    format!("{}{number:02x}", "ab".repeat(31))
}
