//! Selectors: an error with a place, or a selector that survives being written
//! and matches the same shapes whichever way it is evaluated.

use std::sync::LazyLock;

use polywire_model::{Loader, Model, Selector};

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let text = include_str!("service.smithy");
    let assembled = Loader::new().add_text("service.smithy", text).assemble();
    assembled.unwrap().model
});

pub(crate) fn any(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Selector::parse(text) {
        Ok(selector) => {
            let written = selector.to_string();
            assert_eq!(
                Selector::parse(&written).as_ref(),
                Ok(&selector),
                "{written}"
            );
            matches_alike(&selector);
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset()));
            let shown = error.to_string();
            assert!(
                !shown.contains(|c: char| c.is_control() && c != '\n'),
                "{shown:?}"
            );
        }
    }
}

/// All shapes at once, one shape at a time as a variable wants it, and as a test
/// of each shape.
fn matches_alike(selector: &Selector) {
    let Some(found) = ids(&selector.to_string()) else {
        return;
    };
    for other in [
        format!("$first(*) {selector}"),
        format!(":in(:root({selector}))"),
        format!(":is({selector})"),
    ] {
        // What stands around it may be too deep, or too much work.
        if let Some(others) = ids(&other) {
            assert_eq!(others, found, "{other}");
        }
    }
    if let Ok(matches) = selector.matches(&MODEL) {
        let mut matched: Vec<_> = matches.iter().map(|m| m.selected().id().as_str()).collect();
        matched.dedup();
        assert_eq!(matched, found);
    }
}

fn ids(selector: &str) -> Option<Vec<&'static str>> {
    let selector = Selector::parse(selector).ok()?;
    let found = selector.select(&MODEL).ok()?;
    Some(found.iter().map(|found| found.id().as_str()).collect())
}
