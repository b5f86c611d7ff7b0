//! The XML-RPC writer.
//!
//! Each value writes its own `<value>` and `</value>`. What must stand between
//! two of them (`</member>`, `</param>`) is written by whatever comes next: if
//! the output ends in `</value>` there was one before. No text can end so,
//! since `<` is escaped in it.

use polywire_schema::{
    BigDecimal, BigInteger, Defaults, Encoder, Error, ErrorKind, Member, NameEncoding, Text,
    Timestamp, Value,
};
use polywire_text::number::Spelling;
use polywire_text::timestamp::{Fraction, WritePolicy};
use polywire_text::{base64, element_writer, number};

use super::envelope::Frame;
use super::style::{Nil, Style};
use crate::checks::unbalanced;

/// A writer of one XML-RPC message.
#[derive(Debug)]
pub struct XmlRpcEncoder {
    pub(super) out: Vec<u8>,
    pub(super) frame: Frame,
    /// Where the value at the top begins that is written or comes next.
    pub(super) begin: usize,
    /// Where such a value ended, if it is known to be one.
    pub(super) whole: usize,
    /// Structures, lists and maps that are open.
    pub(super) depth: u32,
    /// Members of the structure at the top that are parameters so far.
    pub(super) written: u32,
    pub(super) defaults: Defaults,
    pub(super) style: Style,
    /// The first error, also of what told its caller.
    pub(super) error: Option<Error>,
}

/// How a struct begins, behind its `<value>`.
const BEGIN_STRUCT: &[u8; 8] = b"<struct>";
pub(super) const END_VALUE: &[u8; 8] = b"</value>";
// Both declare the namespace of Apache's extensions themselves, so that a message without them stays
// as it is.
const PREFIXED_NIL: &[u8] =
    b"<value><ex:nil xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\"/></value>";
const PREFIXED_I8: &[u8] =
    b"<value><ex:i8 xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\">";
pub(super) const OPEN_STRING: &[u8; 15] = b"<value><string>";
pub(super) const CLOSE_STRING: &[u8; 17] = b"</string></value>";
pub(super) const FIRST_NAME: &[u8; 14] = b"<member><name>";
pub(super) const NEXT_NAME: &[u8; 23] = b"</member><member><name>";
pub(super) const CLOSE_NAME: &[u8; 7] = b"</name>";
pub(super) const BEGIN_LIST: &[u8] = b"<value><array><data>";
pub(super) const END_LIST: &[u8] = b"</data></array></value>";

impl XmlRpcEncoder {
    /// Sets which members that are not there are written with their default:
    /// all, unless this says other.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets how values are written where there is a choice. The method's name has
    /// been written already: it takes no part.
    #[must_use]
    pub const fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// What the reference implementation needs: the style, the defaults, and whether the members
    /// of a structure are parameters of their own.
    #[cfg(feature = "reference")]
    pub(crate) fn settings(&self) -> (Style, Defaults, bool) {
        let positional = self.depth == 0 && self.frame == Frame::Positional;
        (self.style, self.defaults, positional)
    }

    /// Puts values in that have been written already, each of them whole, by
    /// writers with [`Envelope::Value`](super::Envelope::Value) or
    /// [`Envelope::Item`](super::Envelope::Item).
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};
    /// use polywire_schema::{Encoder, Member};
    ///
    /// let mut item = XmlRpcEncoder::new(Envelope::Item, Vec::new());
    /// item.integer(Member::DOCUMENT, 7);
    /// let item = item.finish()?;
    ///
    /// let mut response = XmlRpcEncoder::new(Envelope::Response, Vec::new());
    /// response.begin_list(Member::DOCUMENT, 1);
    /// response.raw(&item);
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

    /// Writes a blob out of a reader, piece by piece: it need not be in memory
    /// whole.
    ///
    /// # Errors
    ///
    /// What the reader fails with; then the message cannot be finished.
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
        // Whole groups of three bytes, so that no piece but the last is padded.
        let mut piece = [0; 12 * 1024];
        self.out.extend_from_slice(b"<value><base64>");
        let mut held = 0;
        loop {
            match reader.read(&mut piece[held..]) {
                Ok(0) => break,
                Ok(count) => held += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.misplaced("a reader that can be read to its end");
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

    /// Closes what the value before belonged to, if there was one.
    #[inline]
    pub(super) fn separate(&mut self, close: &[u8]) {
        if self.is_behind_value() {
            self.out.extend_from_slice(close);
        } else {
            self.is_first_member();
        }
    }

    /// Sees to it that a name which stands behind no value is the first of its struct: else the
    /// name before it has none.
    #[inline]
    fn is_first_member(&mut self) {
        if self.out.last_chunk::<8>() != Some(BEGIN_STRUCT) {
            self.misplaced("a value behind each name");
        }
    }

    /// An integer beyond 32 bits. Not inlined, so that short integers stay cheap.
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

    /// Enters a structure, list or map. At the top none may stand behind another value.
    #[inline(always)]
    fn enter(&mut self) {
        if self.depth == 0 {
            self.enter_at_top();
        }
        self.depth += 1;
    }

    #[inline(never)]
    fn enter_at_top(&mut self) {
        if !self.is_at_top() {
            self.misplaced("one value, and no other behind it");
        }
    }

    /// Notes the end of a structure, list or map that has been left and written.
    #[inline(always)]
    fn left(&mut self) {
        if self.depth == 0 {
            self.ended_at_top();
        }
    }

    /// Leaves a structure, list or map; whether there was one.
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

    /// Structures and maps look alike.
    #[inline]
    fn begin_struct(&mut self) {
        self.enter();
        self.out.extend_from_slice(b"<value><struct>");
    }

    /// The end of a struct without a value before it, and so without a name.
    #[inline(never)]
    fn end_empty_struct(&mut self) {
        if self.out.last_chunk::<8>() != Some(BEGIN_STRUCT) {
            self.misplaced("a value behind the name of each member");
        }
        self.out.extend_from_slice(b"</struct></value>");
    }

    #[inline(always)]
    fn end_struct(&mut self) {
        if !self.leave() {
            return;
        }
        match self.is_behind_value() {
            true => self.out.extend_from_slice(b"</member></struct></value>"),
            false => self.end_empty_struct(),
        }
        self.left();
    }
}

/// Values without a schema.
impl XmlRpcEncoder {}

impl Encoder for XmlRpcEncoder {
    #[inline(always)]
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        if self.depth == 0 && self.frame == Frame::Positional {
            self.depth = 1;
            return;
        }
        self.begin_struct();
    }

    #[inline(always)]
    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth == 1 && self.frame == Frame::Positional {
            // Parameters are told apart by their place: fill the gaps.
            self.parameter_at(at);
            return true;
        }
        self.separate(b"</member>");
        let run = at.run(NameEncoding::XmlRpc);
        // The run ends in the `<value>` that readers look for; values write
        // their own.
        run.prefix(run.len().saturating_sub(b"<value>".len()))
            .push_to(&mut self.out);
        true
    }

    #[inline(always)]
    fn end_structure(&mut self, _: Member<'_>) {
        if self.depth == 1 && self.frame == Frame::Positional {
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
            self.out.extend_from_slice(END_LIST);
            self.left();
        }
    }

    #[inline]
    fn begin_map(&mut self, _: Member<'_>, _: usize) {
        self.begin_struct();
    }

    #[inline]
    fn key(&mut self, at: Member<'_>, key: &str) {
        let pushed = match self.is_behind_value() {
            true => element_writer::push_xml(&mut self.out, NEXT_NAME, key, CLOSE_NAME),
            false => {
                self.is_first_member();
                element_writer::push_xml(&mut self.out, FIRST_NAME, key, CLOSE_NAME)
            }
        };
        if !pushed {
            self.any_key(at, key);
        }
    }

    #[inline]
    fn text_key(&mut self, at: Member<'_>, key: &Text) {
        let pushed = match self.is_behind_value() {
            true => element_writer::push_xml_text(&mut self.out, NEXT_NAME, key, CLOSE_NAME),
            false => {
                self.is_first_member();
                element_writer::push_xml_text(&mut self.out, FIRST_NAME, key, CLOSE_NAME)
            }
        };
        if !pushed {
            self.any_key(at, key);
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
            || !element_writer::push_xml(&mut self.out, OPEN_STRING, value, CLOSE_STRING)
        {
            self.any_string(at, value);
        }
    }

    #[inline]
    fn text(&mut self, at: Member<'_>, value: &Text) {
        if self.style.untyped_strings
            || !element_writer::push_xml_text(&mut self.out, OPEN_STRING, value, CLOSE_STRING)
        {
            self.any_string(at, value);
        }
    }

    #[inline(always)]
    fn document(&mut self, at: Member<'_>, value: &Value) {
        let at_top = self.is_at_top();
        self.document_value(at, value);
        if at_top {
            self.ended_at_top();
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
            Nil::Refuse => {
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

/// Appends a floating-point number as the specification has it: sign, digits, a period, digits.
/// There is no form for NaN and the infinities; they are written as in the other formats.
fn push_double<F: number::Float>(out: &mut Vec<u8>, value: F) {
    let start = out.len();
    if number::push_float(out, value, Spelling::XML_RPC).is_err() {
        let _ = number::push_float(out, value, Spelling::SMITHY);
    } else if !out[start..].contains(&b'.') {
        out.extend_from_slice(b".0");
    }
}
