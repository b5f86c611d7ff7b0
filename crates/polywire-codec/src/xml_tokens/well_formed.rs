//! Whether a document is XML, to distinguish XML that is not of the format from what is not XML.

use super::{Dialect, Tokens};

/// The greatest depth of elements that is followed. No limit lets a message have more. It bounds
/// the memory that start tags take.
const MAX_DEPTH: usize = 2048;

impl<D: Dialect> Tokens<'_, D> {
    /// Whether the document is well formed: each element has its end, and nothing surrounds the
    /// root.
    #[cold]
    pub(crate) fn is_well_formed(&self) -> bool {
        let mut tokens = Self::new(self.text, self.dialect);
        tokens.declaration().is_ok() && tokens.root().is_some() && tokens.is_at_end()
    }

    /// Reads the root element with its content.
    fn root(&mut self) -> Option<()> {
        let mut open = Vec::new();
        loop {
            match self.start().ok()? {
                Some(tag) if !tag.empty => open.push(tag.name),
                Some(_) => {}
                None if !self.end(open.pop()?) => return None,
                None => {}
            }
            if open.is_empty() {
                return Some(());
            }
            if open.len() > MAX_DEPTH {
                return None;
            }
            self.text_before_tag().ok()?;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_between().is_ok() && self.rest().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Strict;

    impl Dialect for Strict {
        const FORMAT: &'static str = "XML";

        fn path(_: &str, _: usize) -> String {
            String::new()
        }
    }

    #[test]
    fn documents() {
        let is_well_formed = |text: &str| Tokens::new(text, Strict).is_well_formed();
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
        assert!(is_well_formed(&deep(MAX_DEPTH)));
        assert!(!is_well_formed(&deep(MAX_DEPTH + 1)));
    }
}
