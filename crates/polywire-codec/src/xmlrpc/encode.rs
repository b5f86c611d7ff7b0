//! The XML-RPC encoder.
//!
//! Each value writes its own `<value>` and `</value>`. The tags between two values (`</member>`,
//! `</param>`) are written before the second one: if the output ends with `</value>`, there was a
//! first one. Text cannot end with `</value>`, because `<` is escaped in it.

use polywire_schema::{
    BigDecimal, BigInteger, Defaults, Encoder, Error, ErrorKind, Member, NameEncoding, Text,
    Timestamp, Value,
};
use polywire_text::number::Spelling;
use polywire_text::timestamp::{Fraction, WritePolicy};
use polywire_text::{base64, element_writer, number};

use super::encode_envelope::EnvelopeKind;
use super::style::{Nil, Style};
use super::tags::{END_ARRAY, END_STRING, END_STRUCT, FIRST_NAME, NEXT_NAME};
use crate::checks::unbalanced;

/// An encoder for one XML-RPC message, or for one value of it.
#[derive(Debug)]
pub struct XmlRpcEncoder {
    pub(super) out: Vec<u8>,
    pub(super) envelope: EnvelopeKind,
    /// The offset in `out` of the current or next top-level value.
    pub(super) value_start: usize,
    /// The offset in `out` after the last top-level value that was written as a whole.
    pub(super) value_end: usize,
    /// The number of open structures, lists and maps.
    pub(super) depth: u32,
    /// The number of members of the top-level structure that were written as parameters.
    pub(super) parameter_count: u32,
    pub(super) defaults: Defaults,
    pub(super) style: Style,
    /// The first error of any function.
    pub(super) error: Option<Error>,
}

const BEGIN_STRUCT: &[u8; 8] = b"<struct>";
pub(super) const END_VALUE: &[u8; 8] = b"</value>";
// Each element declares the namespace of Apache's extensions, so that other messages do not contain
// the declaration.
const PREFIXED_NIL: &[u8] =
    b"<value><ex:nil xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\"/></value>";
const PREFIXED_I8: &[u8] =
    b"<value><ex:i8 xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\">";
pub(super) const OPEN_STRING: &[u8; 15] = b"<value><string>";
pub(super) const CLOSE_NAME: &[u8; 7] = b"</name>";
pub(super) const BEGIN_LIST: &[u8] = b"<value><array><data>";

impl XmlRpcEncoder {
    /// Sets which absent members are written with their default. Initially all.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets the style of values. It does not affect the name of the method, which
    /// [`new`](Self::new) has written.
    #[must_use]
    pub const fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The settings for the reference implementation: the style, the defaults, and whether the members
    /// of the next structure are parameters.
    #[cfg(feature = "reference")]
    pub(crate) fn settings(&self) -> (Style, Defaults, bool) {
        let positional = self.depth == 0 && self.envelope == EnvelopeKind::Positional;
        (self.style, self.defaults, positional)
    }

    /// Inserts complete values that encoders with [`Envelope::Value`](super::Envelope::Value) or
    /// [`Envelope::MulticallResult`](super::Envelope::MulticallResult) have written.
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};
    /// use polywire_schema::{Encoder, Member};
    ///
    /// let mut result = XmlRpcEncoder::new(Envelope::MulticallResult, Vec::new());
    /// result.integer(Member::DOCUMENT, 7);
    /// let result = result.finish()?;
    ///
    /// let mut response = XmlRpcEncoder::new(Envelope::Response, Vec::new());
    /// response.begin_list(Member::DOCUMENT, 1);
    /// response.raw(&result);
    /// response.end_list(Member::DOCUMENT);
    /// let response = String::from_utf8(response.finish()?)?;
    /// assert!(response.contains(
    ///     "<array><data><value><array><data><value><int>7</int></value></data></array></value>"
    /// ));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn raw(&mut self, values: &[u8]) {
        self.out.extend_from_slice(values);
    }

    /// Writes a blob from a reader as `base64`, in pieces of 12 KiB.
    ///
    /// # Errors
    ///
    /// An error of the reader. [`finish`](Self::finish) then returns an error, too.
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};
    ///
    /// let file = std::io::Cursor::new(b"the content of a file");
    /// let mut response = XmlRpcEncoder::new(Envelope::Value, Vec::new());
    /// response.blob_from(file)?;
    /// assert_eq!(
    ///     response.finish().unwrap(),
    ///     b"<value><base64>dGhlIGNvbnRlbnQgb2YgYSBmaWxl</base64></value>"
    /// );
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn blob_from(&mut self, mut reader: impl std::io::Read) -> std::io::Result<()> {
        // A multiple of three bytes, so that only the last piece is padded.
        let mut piece = [0; 12 * 1024];
        self.out.extend_from_slice(b"<value><base64>");
        let mut held = 0;
        loop {
            match reader.read(&mut piece[held..]) {
                Ok(0) => break,
                Ok(count) => held += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.fail_misplaced("a reader that can be read to its end");
                    return Err(error);
                }
            }
            if held == piece.len() {
                base64::push(&mut self.out, &piece);
                held = 0;
            }
        }
        base64::push(&mut self.out, &piece[..held]);
        self.out.extend_from_slice(b"</base64></value>");
        Ok(())
    }

    /// Writes the end tag of the previous member, if there is one.
    #[inline]
    pub(super) fn close_previous(&mut self, close: &[u8]) {
        if self.ends_with_value() {
            self.out.extend_from_slice(close);
        } else {
            self.check_first_member();
        }
    }

    /// Checks that a name without a value before it is the first name of its struct. Otherwise the
    /// previous name has no value.
    #[inline]
    fn check_first_member(&mut self) {
        if self.out.last_chunk::<8>() != Some(BEGIN_STRUCT) {
            self.fail_misplaced("a value after each name");
        }
    }

    /// Writes an integer of more than 32 bits. Not inlined, to keep the code for short integers small.
    #[inline(never)]
    fn long_integer(&mut self, value: i64) {
        if self.style.prefixed_i8 {
            self.scalar(PREFIXED_I8, b"</ex:i8></value>", |out| {
                number::push(out, value);
            });
        } else {
            element_writer::push_i64(&mut self.out, b"<value><i8>", value, b"</i8></value>");
        }
    }

    #[inline]
    fn scalar(&mut self, open: &[u8], close: &[u8], push: impl FnOnce(&mut Vec<u8>)) {
        self.out.extend_from_slice(open);
        push(&mut self.out);
        self.out.extend_from_slice(close);
    }

    /// Enters a structure, list or map.
    #[inline(always)]
    fn enter(&mut self) {
        if self.depth == 0 {
            self.check_value_start();
        }
        self.depth += 1;
    }

    /// Checks that a top-level structure, list or map is the only top-level value.
    #[inline(never)]
    fn check_value_start(&mut self) {
        if !self.is_at_value_start() {
            self.fail_misplaced("only one value");
        }
    }

    /// Stores the end of a structure, list or map, if it is a top-level value.
    #[inline(always)]
    fn mark_container_end(&mut self) {
        if self.depth == 0 {
            self.mark_value_end();
        }
    }

    /// Leaves a structure, list or map. `false` if there is none.
    #[inline]
    fn leave(&mut self) -> bool {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                true
            }
            None => {
                self.fail(unbalanced("XML-RPC"));
                false
            }
        }
    }

    /// Begins a structure or map.
    #[inline]
    fn begin_struct(&mut self) {
        self.enter();
        self.out.extend_from_slice(b"<value><struct>");
    }

    /// Writes the end of a struct without members.
    #[inline(never)]
    fn end_empty_struct(&mut self) {
        if self.out.last_chunk::<8>() != Some(BEGIN_STRUCT) {
            self.fail_misplaced("a value after the name of each member");
        }
        self.out.extend_from_slice(b"</struct></value>");
    }

    /// Ends a structure or map.
    #[inline(always)]
    fn end_struct(&mut self) {
        if !self.leave() {
            return;
        }
        match self.ends_with_value() {
            true => self.out.extend_from_slice(END_STRUCT),
            false => self.end_empty_struct(),
        }
        self.mark_container_end();
    }
}

impl Encoder for XmlRpcEncoder {
    #[inline(always)]
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        if self.depth == 0 && self.envelope == EnvelopeKind::Positional {
            self.depth = 1;
            return;
        }
        self.begin_struct();
    }

    #[inline(always)]
    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth == 1 && self.envelope == EnvelopeKind::Positional {
            // Parameters have no names: a nil stands for an omitted member before this one.
            self.parameter_at(at);
            return true;
        }
        self.close_previous(b"</member>");
        let name = at.run(NameEncoding::XmlRpc);
        // The encoded name includes `<value>`, which decoders compare too. Encoders write it with the
        // value.
        name.prefix(name.len().saturating_sub(b"<value>".len()))
            .push_to(&mut self.out);
        true
    }

    #[inline(always)]
    fn end_structure(&mut self, _: Member<'_>) {
        if self.depth == 1 && self.envelope == EnvelopeKind::Positional {
            self.depth = 0;
            return;
        }
        self.end_struct();
    }

    #[inline(always)]
    fn begin_list(&mut self, _: Member<'_>, _: usize) {
        self.enter();
        self.out.extend_from_slice(BEGIN_LIST);
    }

    #[inline(always)]
    fn end_list(&mut self, _: Member<'_>) {
        if self.leave() {
            self.out.extend_from_slice(END_ARRAY);
            self.mark_container_end();
        }
    }

    #[inline]
    fn begin_map(&mut self, _: Member<'_>, _: usize) {
        self.begin_struct();
    }

    #[inline]
    fn key(&mut self, at: Member<'_>, key: &str) {
        let pushed = match self.ends_with_value() {
            true => element_writer::push_xml(&mut self.out, NEXT_NAME, key, CLOSE_NAME),
            false => {
                self.check_first_member();
                element_writer::push_xml(&mut self.out, FIRST_NAME, key, CLOSE_NAME)
            }
        };
        if !pushed {
            self.slow_key(at, key);
        }
    }

    #[inline]
    fn text_key(&mut self, at: Member<'_>, key: &Text) {
        let pushed = match self.ends_with_value() {
            true => element_writer::push_xml_text(&mut self.out, NEXT_NAME, key, CLOSE_NAME),
            false => {
                self.check_first_member();
                element_writer::push_xml_text(&mut self.out, FIRST_NAME, key, CLOSE_NAME)
            }
        };
        if !pushed {
            self.slow_key(at, key);
        }
    }

    #[inline]
    fn end_map(&mut self, _: Member<'_>) {
        self.end_struct();
    }

    #[inline]
    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.out.extend_from_slice(if value {
            b"<value><boolean>1</boolean></value>"
        } else {
            b"<value><boolean>0</boolean></value>"
        });
    }

    #[inline]
    fn integer(&mut self, _: Member<'_>, value: i64) {
        if i32::try_from(value).is_ok() {
            element_writer::push_i64(&mut self.out, b"<value><int>", value, b"</int></value>");
        } else {
            self.long_integer(value);
        }
    }

    fn float(&mut self, _: Member<'_>, value: f32) {
        self.scalar(b"<value><double>", b"</double></value>", |out| {
            push_double(out, value);
        });
    }

    fn double(&mut self, _: Member<'_>, value: f64) {
        self.scalar(b"<value><double>", b"</double></value>", |out| {
            push_double(out, value);
        });
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.string(at, value.as_str());
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.string(at, value.as_str());
    }

    #[inline]
    fn string(&mut self, at: Member<'_>, value: &str) {
        if self.style.untyped_strings
            || !element_writer::push_xml(&mut self.out, OPEN_STRING, value, END_STRING)
        {
            self.slow_string(at, value);
        }
    }

    #[inline]
    fn text(&mut self, at: Member<'_>, value: &Text) {
        if self.style.untyped_strings
            || !element_writer::push_xml_text(&mut self.out, OPEN_STRING, value, END_STRING)
        {
            self.slow_string(at, value);
        }
    }

    #[inline(always)]
    fn document(&mut self, at: Member<'_>, value: &Value) {
        let at_top = self.is_at_value_start();
        self.document_value(at, value);
        if at_top {
            self.mark_value_end();
        }
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.scalar(b"<value><base64>", b"</base64></value>", |out| {
            base64::push(out, value);
        });
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.out.extend_from_slice(b"<value><dateTime.iso8601>");
        let fraction = match self.style.fractions {
            true => Fraction::Needed,
            false => Fraction::Exactly(0),
        };
        let policy = WritePolicy::new().fraction(fraction);
        if let Err(malformed) = value.push_xmlrpc_with(&mut self.out, policy) {
            let error = Error::new(ErrorKind::Unwritable).in_format("XML-RPC");
            self.fail(
                error
                    .expected(malformed.expected)
                    .at_path(format!("{at:?}")),
            );
        }
        self.out.extend_from_slice(b"</dateTime.iso8601></value>");
    }

    #[inline]
    fn null(&mut self, at: Member<'_>) {
        match self.style.nil {
            Nil::Plain => self.out.extend_from_slice(b"<value><nil/></value>"),
            Nil::Prefixed => self.out.extend_from_slice(PREFIXED_NIL),
            Nil::Reject => {
                let error = Error::new(ErrorKind::Unwritable).in_format("XML-RPC");
                self.fail(
                    error
                        .expected("a value: this peer reads no nil (Style::nil)")
                        .at_path(format!("{at:?}")),
                );
            }
        }
    }

    #[cold]
    fn fills_default(&self, at: Member<'_>) -> bool {
        self.defaults.fills_default(at)
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

/// Appends a floating-point number in the form of the specification: sign, digits, a period, digits.
/// The specification has no form for NaN and infinities. They are written as in other formats.
fn push_double<F: number::Float>(out: &mut Vec<u8>, value: F) {
    let start = out.len();
    if number::push_float(out, value, Spelling::XML_RPC).is_err() {
        let _ = number::push_float(out, value, Spelling::SMITHY);
    } else if !out[start..].contains(&b'.') {
        out.extend_from_slice(b".0");
    }
}
