//! Reads the files of AWS's signing test suite.

use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_aws::signature::RequestHead;

/// A case: the text of each of its files.
pub(crate) struct Case {
    pub(crate) name: String,
    parts: Vec<(String, String)>,
}

impl Case {
    pub(crate) fn find(&self, part: &str) -> Option<&str> {
        let found = self.parts.iter().find(|(name, _)| name == part);
        found.map(|(_, text)| text.as_str())
    }

    pub(crate) fn part(&self, part: &str) -> &str {
        self.find(part)
            .unwrap_or_else(|| panic!("{} has no {part}", self.name))
    }

    pub(crate) fn json(&self, part: &str) -> Option<serde_json::Value> {
        self.find(part)
            .map(|text| serde_json::from_str(text).unwrap())
    }
}

/// The cases of a data file, whose parts are separated by lines that begin with `@@ `.
pub(crate) fn cases(file: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    // The first piece is the comment.
    for piece in file.split("@@ ").skip(1) {
        let (title, text) = piece.split_once('\n').unwrap();
        if let Some(name) = title.strip_prefix("case ") {
            let name = name.to_owned();
            cases.push(Case {
                name,
                parts: Vec::new(),
            });
        } else {
            let text = text.trim_end().to_owned();
            cases
                .last_mut()
                .unwrap()
                .parts
                .push((title.to_owned(), text));
        }
    }
    cases
}

/// A request as it is on a connection.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let (line, headers) = head.split_once('\n').unwrap();
        let (method, target) = line.split_once(' ').unwrap();
        let target = target.trim_end_matches(" HTTP/1.1");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        // HTTP parsers replace the line break of a folded value by spaces, RFC 9112, section 5.2.
        let unfolded = headers.replace("\n ", "  ");
        let headers = unfolded.lines().map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            let name: HeaderName = name.parse().unwrap();
            (name, HeaderValue::from_str(value.trim()).unwrap())
        });
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: HeaderMap::new(),
            body: body.as_bytes().to_vec(),
        };
        for (name, value) in headers {
            request.headers.append(name, value);
        }
        request
    }

    pub(crate) fn head(&self) -> RequestHead<'_> {
        RequestHead {
            method: &self.method,
            path: &self.path,
            query: &self.query,
            authority: None,
            headers: &self.headers,
        }
    }
}
