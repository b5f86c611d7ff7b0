//! Writes strings and names with characters that must be escaped, or that XML forbids.

use polywire_schema::{Encoder as _, Error, ErrorKind, Member};
use polywire_text::escape::{self, XmlPlace};

use super::XmlRpcEncoder;
use super::encode::{CLOSE_NAME, END_VALUE, OPEN_STRING};
use super::style::{ForbiddenText, Style};
use super::tags::{END_STRING, FIRST_NAME};

impl XmlRpcEncoder {
    /// Writes escaped text. `what` is the path for the error of a forbidden character.
    pub(super) fn escape(&mut self, text: &str, what: &str) {
        if let Err(malformed) = escape::push_xml(&mut self.out, text) {
            self.fail_forbidden(text, malformed.offset, what);
        }
    }

    /// Writes any string.
    #[inline(never)]
    pub(super) fn slow_string(&mut self, at: Member<'_>, value: &str) {
        if self.style != Style::DEFAULT {
            return self.styled_string(at, value);
        }
        self.out.extend_from_slice(OPEN_STRING);
        if let Err(malformed) = escape::push_xml(&mut self.out, value) {
            self.fail_forbidden(value, malformed.offset, &format!("{at:?}"));
        }
        self.out.extend_from_slice(END_STRING);
    }

    /// Writes any string in a style other than the default.
    #[inline(never)]
    fn styled_string(&mut self, at: Member<'_>, value: &str) {
        let start = self.out.len();
        let (open, close): (&[u8], &[u8]) = match self.style.untyped_strings {
            true => (b"<value>", END_VALUE),
            false => (OPEN_STRING, END_STRING),
        };
        self.out.extend_from_slice(open);
        let forbidden = self.style.forbidden;
        let pushed = escape::push_xml_bytes(
            &mut self.out,
            value.as_bytes(),
            XmlPlace::Text,
            forbidden.escape_policy(),
        );
        match pushed {
            Ok(()) => self.out.extend_from_slice(close),
            Err(_) if forbidden == ForbiddenText::Base64 => {
                self.out.truncate(start);
                self.blob(at, value.as_bytes());
            }
            Err(malformed) => self.fail_forbidden(value, malformed.offset, &format!("{at:?}")),
        }
    }

    /// Writes any name of a member.
    #[inline(never)]
    pub(super) fn slow_key(&mut self, at: Member<'_>, key: &str) {
        self.close_previous(b"</member>");
        self.out.extend_from_slice(FIRST_NAME);
        if let Err(malformed) = escape::push_xml(&mut self.out, key) {
            self.fail_forbidden(key, malformed.offset, &format!("a key of {at:?}"));
        }
        self.out.extend_from_slice(CLOSE_NAME);
    }

    /// Stores the error for a forbidden character at `offset` in `text`. `what` is its path.
    #[cold]
    fn fail_forbidden(&mut self, text: &str, offset: usize, what: &str) {
        let found = text.get(offset..).and_then(|rest| rest.chars().next());
        let error = Error::new(ErrorKind::Unwritable)
            .in_format("XML-RPC")
            .expected("text of characters that XML 1.0 allows (send other bytes as a blob)")
            .found(found.map_or_else(String::new, |character| {
                format!(
                    "U+{:04X} at byte {offset} of the text",
                    u32::from(character)
                )
            }))
            .at_path(what);
        self.fail(error);
    }
}
