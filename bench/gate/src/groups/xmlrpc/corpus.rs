//! The measured bodies: `bench/xmlrpc` of the data folder.

/// One kind of content, as a call and as the response that echoes it.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// The letter that the names of the cases begin with.
    pub letter: &'static str,
    /// What the message holds, in words.
    pub words: &'static str,
    /// The first part of the files' names.
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

    /// The file of one of the messages.
    pub fn file(self, side: Side) -> String {
        format!("bench/xmlrpc/{}.{}.xml", self.stem, side.word())
    }
}

/// All contents.
pub const CONTENTS: [Content; 6] = [
    Content::new("a", "Hello", "a_echo_hello"),
    Content::new("b", "1000 short ints", "b_int_array_1000"),
    Content::new("c", "struct of 10, 3 deep", "c_struct10_nested3"),
    Content::new("d", "1000 structs of 5", "d_array_1000_struct5"),
    Content::new("e", "64 KiB of base64", "e_base64_64k"),
    Content::new("f", "100 KB of text", "f_string_100k_5pct_escapes"),
];

/// The messages that have cases: all requests, and the responses of the smallest and of the largest
/// document. A response differs from a request only in its first and last tags.
pub fn messages() -> impl Iterator<Item = (Content, Side)> {
    let with_response = |content: &Content| matches!(content.letter, "a" | "d");
    let requests = CONTENTS.into_iter().map(|content| (content, Side::Request));
    let responses = CONTENTS.into_iter().filter(with_response);
    requests.chain(responses.map(|content| (content, Side::Response)))
}

/// The method of all calls.
pub const METHOD: &str = "echo";

/// Which of the two messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The call.
    Request,
    /// The answer.
    Response,
}

impl Side {
    /// As the names of cases and files have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

/// The name of a case: `c request, read Value: struct of 10, 3 deep`.
pub fn name(content: Content, side: Side, what: &str) -> String {
    let (letter, words) = (content.letter, content.words);
    format!("{letter} {}, {what}: {words}", side.word())
}
