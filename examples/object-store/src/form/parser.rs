//! An incremental parser of `multipart/form-data`: RFC 7578. It does no I/O: bytes go in, events come out.
//!
//! <https://www.rfc-editor.org/rfc/rfc7578>

use bytes::{Buf, Bytes, BytesMut};
use memchr::memmem;

use crate::error::Error;

/// The most bytes of the head of a part.
const HEAD: usize = 8 * 1024;
/// The most bytes of all fields before the file, by S3's rules.
const FIELDS: usize = 20 * 1024;

/// What the parser found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Event {
    Field {
        name: String,
        value: String,
    },
    /// The field `file` begins. The bytes follow.
    File {
        filename: String,
        content_type: Option<String>,
    },
    /// Bytes of the file.
    Bytes(Bytes),
    /// The end of the file. S3 ignores what follows.
    End,
}

/// A parser of one body.
#[derive(Debug)]
pub(super) struct Parser {
    /// The line break and the boundary before each part.
    delimiter: Vec<u8>,
    buffer: BytesMut,
    state: State,
    /// The number of bytes of fields so far.
    fields: usize,
}

#[derive(Debug)]
enum State {
    /// Before the first boundary.
    Preamble,
    /// After a boundary.
    Boundary,
    Head,
    Field(String),
    File,
    Done,
}

impl Parser {
    /// A parser for the boundary of a `Content-Type`.
    pub(super) fn new(boundary: &str) -> Self {
        Self {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            // The first boundary may be at the start of the body.
            buffer: BytesMut::from(&b"\r\n"[..]),
            state: State::Preamble,
            fields: 0,
        }
    }

    /// Adds bytes of the body.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if !matches!(self.state, State::Done) {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next event. `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// The body is malformed, has no file, or its fields are too long.
    pub(super) fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            match &mut self.state {
                State::Preamble => match memmem::find(&self.buffer, &self.delimiter) {
                    Some(at) => {
                        self.buffer.advance(at + self.delimiter.len());
                        self.state = State::Boundary;
                    }
                    None => {
                        self.skip_preamble();
                        return Ok(None);
                    }
                },
                State::Boundary => {
                    if self.buffer.starts_with(b"--") {
                        return Err(Error::InvalidArgument(
                            "POST requires exactly one file upload per request.",
                        ));
                    }
                    let Some(at) = memmem::find(&self.buffer, b"\r\n") else {
                        return self.wait(HEAD, "The boundary is malformed.");
                    };
                    // RFC 2046 allows spaces after a boundary. The line break stays: a part may have an empty head.
                    if !self.buffer[..at].iter().all(|byte| b" \t".contains(byte)) {
                        return Err(Error::MalformedPostRequest("The boundary is malformed."));
                    }
                    self.buffer.advance(at);
                    self.state = State::Head;
                }
                State::Head => {
                    let Some(at) = memmem::find(&self.buffer, b"\r\n\r\n") else {
                        return self.wait(HEAD, "The head of a part is too long.");
                    };
                    let head = self.buffer.split_to(at);
                    self.buffer.advance(4);
                    self.fields += head.len();
                    if let Some(event) = self.begin(&String::from_utf8_lossy(&head))? {
                        return Ok(Some(event));
                    }
                }
                State::Field(name) => {
                    let Some(at) = memmem::find(&self.buffer, &self.delimiter) else {
                        let used = self.fields;
                        return self.wait(FIELDS.saturating_sub(used), FIELDS_TOO_LONG);
                    };
                    let name = std::mem::take(name);
                    let value = self.buffer.split_to(at);
                    self.buffer.advance(self.delimiter.len());
                    self.state = State::Boundary;
                    self.fields += value.len();
                    if self.fields > FIELDS {
                        return Err(Error::MalformedPostRequest(FIELDS_TOO_LONG));
                    }
                    let value = String::from_utf8_lossy(&value).into_owned();
                    return Ok(Some(Event::Field { name, value }));
                }
                State::File => return Ok(self.file()),
                State::Done => return Ok(None),
            }
        }
    }

    /// Waits for more bytes, unless there are too many already.
    fn wait(&self, most: usize, reason: &'static str) -> Result<Option<Event>, Error> {
        match self.buffer.len() > most + self.delimiter.len() {
            true => Err(Error::MalformedPostRequest(reason)),
            false => Ok(None),
        }
    }

    /// Drops what cannot be the start of a boundary.
    fn skip_preamble(&mut self) {
        let keep = self.delimiter.len() - 1;
        let extra = self.buffer.len().saturating_sub(keep);
        self.buffer.advance(extra);
    }

    /// Begins a part.
    fn begin(&mut self, head: &str) -> Result<Option<Event>, Error> {
        let mut disposition = None;
        let mut content_type = None;
        for line in head.split("\r\n") {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            match name.trim().to_ascii_lowercase().as_str() {
                "content-disposition" => disposition = Some(value.trim()),
                "content-type" => content_type = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let wrong = Error::MalformedPostRequest("A part has no name.");
        let disposition = disposition.ok_or(wrong)?;
        let name = parameter(disposition, "name").ok_or(wrong)?;
        if !name.eq_ignore_ascii_case("file") {
            self.state = State::Field(name);
            return Ok(None);
        }
        self.state = State::File;
        Ok(Some(Event::File {
            filename: parameter(disposition, "filename").unwrap_or_default(),
            content_type,
        }))
    }

    fn file(&mut self) -> Option<Event> {
        if let Some(at) = memmem::find(&self.buffer, &self.delimiter) {
            if at > 0 {
                return Some(Event::Bytes(self.buffer.split_to(at).freeze()));
            }
            self.buffer.clear();
            self.state = State::Done;
            return Some(Event::End);
        }
        let len = self.buffer.len().checked_sub(self.delimiter.len() - 1)?;
        (len > 0).then(|| Event::Bytes(self.buffer.split_to(len).freeze()))
    }
}

const FIELDS_TOO_LONG: &str = "The fields before the file are too long.";

/// A parameter of a header: `name="value"`, with `%22` or `\"` for a quotation mark.
fn parameter(header: &str, name: &str) -> Option<String> {
    let mut rest = header.split_once(';')?.1;
    loop {
        let (key, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let (found, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted_text(quoted)?,
            None => {
                let end = value.find(';').unwrap_or(value.len());
                (value[..end].trim().to_owned(), &value[end..])
            }
        };
        if key
            .trim_matches([';', ' ', '\t'])
            .eq_ignore_ascii_case(name)
        {
            return Some(found);
        }
        rest = after;
    }
}

/// The text up to the closing quotation mark, and what follows.
fn quoted_text(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((text.replace("%22", "\""), &quoted[at + 1..])),
            '\\' => {
                // Browsers do not escape backslashes, for example of paths.
                if quoted[at + 1..].starts_with('"') {
                    characters.next();
                    text.push('"');
                } else {
                    text.push('\\');
                }
            }
            character => text.push(character),
        }
    }
    None
}

/// The boundary of a `Content-Type`, if it is that of a form.
pub(super) fn boundary(content_type: &str) -> Option<String> {
    let (kind, _) = content_type.split_once(';')?;
    let is_form = kind.trim().eq_ignore_ascii_case("multipart/form-data");
    let boundary = parameter(content_type, "boundary").filter(|_| is_form)?;
    (1..=70).contains(&boundary.len()).then_some(boundary)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "ignored\r\n--B\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\na/${filename}\r\n--B  \r\ncontent-disposition: form-data; name=\"empty\"\r\n\r\n\r\n--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x \\\"y%22.txt\"\r\nContent-Type: text/plain\r\n\r\nline\r\n--not the boundary\r\n\r\n--B\r\nContent-Disposition: form-data; name=\"late\"\r\n\r\nx\r\n--B--\r\n";

    /// The events of a body that arrives in pieces of this size, with adjacent bytes joined.
    fn events(body: &[u8], size: usize) -> Result<Vec<Event>, Error> {
        let mut parser = Parser::new("B");
        let mut events = Vec::new();
        for piece in body.chunks(size) {
            parser.feed(piece);
            while let Some(event) = parser.next()? {
                match (events.last_mut(), event) {
                    (Some(Event::Bytes(old)), Event::Bytes(new)) => {
                        *old = [&old[..], &new[..]].concat().into();
                    }
                    (_, event) => events.push(event),
                }
            }
        }
        Ok(events)
    }

    #[test]
    fn events_do_not_depend_on_pieces() {
        let whole = events(BODY.as_bytes(), BODY.len()).unwrap();
        let field = |name: &str, value: &str| Event::Field {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(
            whole,
            [
                field("key", "a/${filename}"),
                field("empty", ""),
                Event::File {
                    filename: "x \"y\".txt".to_owned(),
                    content_type: Some("text/plain".to_owned()),
                },
                Event::Bytes(Bytes::from_static(b"line\r\n--not the boundary\r\n")),
                Event::End,
            ]
        );
        for size in 1..64 {
            assert_eq!(events(BODY.as_bytes(), size).unwrap(), whole, "{size}");
        }
    }

    #[test]
    fn incomplete_bodies_have_no_end() {
        let end = BODY
            .find("\r\n\r\n--B\r\nContent-Disposition: form-data; name=\"late\"")
            .unwrap();
        for len in 0..end + 7 {
            let events = events(&BODY.as_bytes()[..len], 7).unwrap();
            assert!(!events.contains(&Event::End), "{len}");
        }
    }

    #[test]
    fn malformed_bodies() {
        let head = "--B\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\n";
        for body in [
            "--B--".to_owned(),
            "--Bx\r\n".to_owned(),
            "--B\r\nX: y\r\n\r\n".to_owned(),
            format!("{head}{}", "x".repeat(FIELDS + 100)),
            format!("--B\r\nX: {}", "x".repeat(HEAD + 100)),
            format!("{head}value\r\n--B--"),
        ] {
            assert!(
                events(body.as_bytes(), 100).is_err(),
                "{}",
                &body[..body.len().min(50)]
            );
        }
    }

    #[test]
    fn boundaries() {
        let found = |text| boundary(text);
        assert_eq!(
            found("multipart/form-data; boundary=B").as_deref(),
            Some("B")
        );
        let quoted = "Multipart/Form-Data; charset=x; boundary=\"a b\"";
        assert_eq!(found(quoted).as_deref(), Some("a b"));
        for wrong in [
            "multipart/form-data",
            "multipart/mixed; boundary=B",
            "text/plain",
        ] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
    }
}
