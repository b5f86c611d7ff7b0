//! The bodies that are measured: `bench/xmlrpc` of the data folder.

/// One kind of content, as a call and as the response that echoes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    /// The letter of the tables.
    pub(super) letter: &'static str,
    /// What it is, for people.
    pub(super) words: &'static str,
    /// The files' name without the ending.
    stem: &'static str,
}

impl Content {
    const fn new(letter: &'static str, words: &'static str, stem: &'static str) -> Self {
        Self {
            letter,
            words,
            stem,
        }
    }

    /// The file of one side.
    pub(super) fn file(self, side: Side) -> String {
        format!("bench/xmlrpc/{}.{}.xml", self.stem, side.word())
    }
}

/// All of them, in the order of the tables.
pub(super) const CONTENTS: [Content; 7] = [
    Content::new("a", "Hello", "a_echo_hello"),
    Content::new("b", "1000 short ints", "b_int_array_1000"),
    Content::new("b2", "1000 wide ints", "b2_wide_int_array_1000"),
    Content::new("c", "struct of 10, 3 deep", "c_struct10_nested3"),
    Content::new("d", "1000 structs of 5", "d_array_1000_struct5"),
    Content::new("e", "64 KiB of base64", "e_base64_64k"),
    Content::new("f", "100 KB of text", "f_string_100k_5pct_escapes"),
];

/// The method of all calls.
pub(super) const METHOD: &str = "echo";

/// Which of the two messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Side {
    Request,
    Response,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Request, Self::Response];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

/// The name of a case: `c request, read Value: struct of 10, 3 deep`.
pub(super) fn name(content: Content, side: Side, what: &str) -> String {
    let (letter, words) = (content.letter, content.words);
    format!("{letter} {}, {what}: {words}", side.word())
}
