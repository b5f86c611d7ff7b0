//! Events for tests.
#![allow(dead_code, reason = "not every test uses everything")]

/// The event of an author, with the JSON text of its tags.
pub(crate) fn event(id: u8, author: u8, created_at: u64, kind: u16, tags: &str) -> String {
    format!(
        r#"{{"id":"{}","pubkey":"{}","created_at":{created_at},"kind":{kind},"tags":{tags},"content":"","sig":"{}"}}"#,
        key(id),
        key(author),
        key(0).repeat(2),
    )
}

/// 64 hexadecimal digits: `ab` many times, and the number.
pub(crate) fn key(number: u8) -> String {
    format!("{}{number:02x}", "ab".repeat(31))
}
