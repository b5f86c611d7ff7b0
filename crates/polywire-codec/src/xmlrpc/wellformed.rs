//! Whether a document is XML at all: for errors, which tell XML that is no XML-RPC from
//! what is no XML.

use super::cursor::Cursor;
use super::leniency::Leniency;

/// Elements in each other beyond this are not followed: more than any limit lets a
/// message have, so that who sends only start tags makes nothing grow.
const DEEPEST: usize = 2048;

/// Whether a document is well formed, by the reading that the leniency takes: every
/// element has its end, and nothing stands around the root. Goes over all of it once.
#[cold]
pub(super) fn is_well_formed(text: &str, leniency: Leniency) -> bool {
    let mut cursor = Cursor::new(text, usize::MAX, leniency);
    cursor.declaration().is_ok() && element(&mut cursor).is_some() && is_end(&mut cursor)
}

/// The root element, with all that is in it.
fn element(cursor: &mut Cursor<'_>) -> Option<()> {
    let mut open = Vec::new();
    loop {
        match cursor.start().ok()? {
            Some(tag) if !tag.empty => open.push(tag.name),
            Some(_) => {}
            None if !cursor.end(open.pop()?) => return None,
            None => {}
        }
        if open.is_empty() {
            return Some(());
        }
        if open.len() > DEEPEST {
            return None;
        }
        cursor.characters().ok()?;
    }
}

fn is_end(cursor: &mut Cursor<'_>) -> bool {
    cursor.skip_between().is_ok() && cursor.rest().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        let is_well_formed = |text: &str| is_well_formed(text, Leniency::STRICT);
        for text in [
            "<a/>",
            "<?xml version='1.0'?><!-- b --><a b='c'>d<e/><![CDATA[<f>]]>&amp;</a ><?g?>",
            "\u{feff}<html><p>1<br/>2</p></html>\n",
        ] {
            assert!(is_well_formed(text), "{text}");
        }
        for text in [
            "",
            "a",
            "<a>",
            "</a>",
            "<a></b>",
            "<a/>b",
            "<a/><b/>",
            "a<b/>",
            "<a>&b;</a>",
            "<a b=c/>",
            "<!DOCTYPE a><a/>",
            "<a>\u{1}</a>",
            "<a><!-- -- --></a>",
            "<a><b></a></b>",
        ] {
            assert!(!is_well_formed(text), "{text}");
        }
        let deep = |levels: usize| "<a>".repeat(levels) + &"</a>".repeat(levels);
        assert!(is_well_formed(&deep(DEEPEST)));
        assert!(!is_well_formed(&deep(DEEPEST + 1)));
    }
}
