//! `docs/nostr.md` shows the program `examples/feed.rs`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[test]
fn the_page_shows_the_program() {
    let page = include_str!("../../../docs/nostr.md");
    let program = include_str!("../examples/feed.rs");
    let shown = &program[program.find("use ").unwrap()..];
    assert!(page.contains(shown), "the page should have:\n{shown}");
}
