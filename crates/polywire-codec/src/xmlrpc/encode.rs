//! The XML-RPC writer.
//!
//! Each value writes its own `<value>` and `</value>`. What must stand between
//! two of them (`</member>`, `</param>`) is written by whatever comes next: if
//! the output ends in `</value>` there was one before. No text can end so,
//! since `<` is escaped in it.

use polywire_schema::{
    BigDecimal, BigInteger, Defaults, Encoder, Encoding, Error, ErrorKind, Member, Timestamp,
};
use polywire_text::{base64, escape, number};

use crate::refuse::unbalanced;

/// What surrounds the value of a message.
#[derive(Clone, Copy, Debug)]
pub enum Envelope<'a> {
    /// A call of a method. Positional: the members of the structure at the top
    /// are parameters of their own; otherwise it is one parameter.
    Call {
        /// The method's name.
        method: &'a str,
        /// Whether members are parameters.
        positional: bool,
    },
    /// A response with a result.
    Response,
    /// A response with a fault, whose value is a struct of `faultCode` and
    /// `faultString`.
    Fault,
}

/// What the writer is in, for closing it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Frame {
    /// A call of one parameter.
    Call,
    /// A call whose parameters are the members of the structure at the top.
    Positional,
    /// A call whose parameters the caller begins one by one.
    Parameters,
    Response,
    Fault,
}

/// A writer of one XML-RPC message.
#[derive(Debug)]
pub struct XmlRpcEncoder {
    out: Vec<u8>,
    frame: Frame,
    /// Structures, lists and maps that are open.
    depth: u32,
    /// Members of the structure at the top that are parameters so far.
    written: u32,
    defaults: Defaults,
    error: Option<Error>,
}

const DECLARATION: &[u8] = b"<?xml version=\"1.0\"?>";
const END_VALUE: &[u8; 8] = b"</value>";
const PARAM: &[u8] = b"<param>";

impl XmlRpcEncoder {
    /// A writer that appends to `out`, so that a buffer can be used again.
    #[must_use]
    pub fn new(envelope: Envelope<'_>, out: Vec<u8>) -> Self {
        let mut encoder = Self {
            out,
            frame: Frame::Response,
            depth: 0,
            written: 0,
            defaults: Defaults::Server,
            error: None,
        };
        encoder.out.extend_from_slice(DECLARATION);
        match envelope {
            Envelope::Call { method, positional } => {
                encoder.frame = if positional {
                    Frame::Positional
                } else {
                    Frame::Call
                };
                encoder.out.extend_from_slice(b"<methodCall><methodName>");
                encoder.escape(method, "the method name");
                encoder.out.extend_from_slice(b"</methodName><params>");
                if !positional {
                    encoder.out.extend_from_slice(b"<param>");
                }
            }
            Envelope::Response => encoder
                .out
                .extend_from_slice(b"<methodResponse><params><param>"),
            Envelope::Fault => {
                encoder.frame = Frame::Fault;
                encoder.out.extend_from_slice(b"<methodResponse><fault>");
            }
        }
        encoder
    }

    /// Sets which members that are not there are written with their default:
    /// all, unless this says other.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Begins a positional parameter: its value comes next, whatever it is. A
    /// structure is then one parameter, and no longer all of them.
    ///
    /// Where no parameter can begin (in a value, behind a parameter without
    /// one, in what is no positional call), [`finish`](Self::finish) says so.
    pub fn parameter(&mut self) {
        let positional = matches!(self.frame, Frame::Positional | Frame::Parameters);
        if !positional || self.depth > 0 || self.out.ends_with(PARAM) {
            return self.misplaced("a parameter between the values of a positional call");
        }
        self.frame = Frame::Parameters;
        self.begin_parameter();
    }

    fn begin_parameter(&mut self) {
        self.separate(b"</param>");
        self.out.extend_from_slice(PARAM);
    }

    #[cold]
    fn misplaced(&mut self, expected: &'static str) {
        self.fail(
            Error::new(ErrorKind::Unwritable)
                .in_format("XML-RPC")
                .expected(expected),
        );
    }

    /// Begins the parameter of this member, after nils for those left out.
    fn parameter_at(&mut self, at: Member<'_>) {
        while self.written < at.ordinal() {
            self.begin_parameter();
            self.null(at);
            self.written += 1;
        }
        self.written += 1;
        self.begin_parameter();
    }

    /// The message.
    ///
    /// # Errors
    ///
    /// The first error that a call met.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if self.depth != 0 {
            self.fail(unbalanced("XML-RPC"));
        }
        if self.out.ends_with(PARAM) {
            self.misplaced("the value of the last parameter");
        }
        if self.frame == Frame::Positional && self.written == 0 && self.out.ends_with(END_VALUE) {
            self.misplaced("the beginning of a parameter before its value");
        }
        let close: &[u8] = match self.frame {
            Frame::Call => b"</param></params></methodCall>",
            Frame::Positional | Frame::Parameters => {
                self.separate(b"</param>");
                b"</params></methodCall>"
            }
            Frame::Response => b"</param></params></methodResponse>",
            Frame::Fault => b"</fault></methodResponse>",
        };
        self.out.extend_from_slice(close);
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    /// Closes what the value before belonged to, if there was one.
    #[inline]
    fn separate(&mut self, close: &[u8]) {
        if self.out.last_chunk::<8>() == Some(END_VALUE) {
            self.out.extend_from_slice(close);
        }
    }

    fn escape(&mut self, text: &str, what: &str) {
        if let Err(malformed) = escape::push_xml(&mut self.out, text) {
            self.forbidden(text, malformed.offset, what);
        }
    }

    #[cold]
    fn forbidden(&mut self, text: &str, offset: usize, what: &str) {
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

    #[inline]
    fn scalar(&mut self, open: &[u8], close: &[u8], push: impl FnOnce(&mut Vec<u8>)) {
        self.out.extend_from_slice(open);
        push(&mut self.out);
        self.out.extend_from_slice(close);
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
        self.depth += 1;
        self.out.extend_from_slice(b"<value><struct>");
    }

    #[inline]
    fn end_struct(&mut self) {
        if !self.leave() {
            return;
        }
        self.separate(b"</member>");
        self.out.extend_from_slice(b"</struct></value>");
    }
}

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
        let run = at.run(Encoding::XmlRpc);
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
        self.depth += 1;
        self.out.extend_from_slice(b"<value><array><data>");
    }

    #[inline(always)]
    fn end_list(&mut self, _: Member<'_>) {
        if self.leave() {
            self.out.extend_from_slice(b"</data></array></value>");
        }
    }

    #[inline]
    fn begin_map(&mut self, _: Member<'_>, _: usize) {
        self.begin_struct();
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        self.separate(b"</member>");
        self.out.extend_from_slice(b"<member><name>");
        if let Err(malformed) = escape::push_xml(&mut self.out, key) {
            self.forbidden(key, malformed.offset, &format!("a key of {at:?}"));
        }
        self.out.extend_from_slice(b"</name>");
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
            self.scalar(b"<value><int>", b"</int></value>", |out| {
                number::push_i64(out, value);
            });
        } else {
            self.scalar(b"<value><i8>", b"</i8></value>", |out| {
                number::push_i64(out, value);
            });
        }
    }

    fn float(&mut self, _: Member<'_>, value: f32) {
        self.scalar(b"<value><double>", b"</double></value>", |out| {
            number::push_f32(out, value);
        });
    }

    fn double(&mut self, _: Member<'_>, value: f64) {
        self.scalar(b"<value><double>", b"</double></value>", |out| {
            number::push_f64(out, value);
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
        self.out.extend_from_slice(b"<value><string>");
        if let Err(malformed) = escape::push_xml(&mut self.out, value) {
            self.forbidden(value, malformed.offset, &format!("{at:?}"));
        }
        self.out.extend_from_slice(b"</string></value>");
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.scalar(b"<value><base64>", b"</base64></value>", |out| {
            base64::push(out, value);
        });
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.out.extend_from_slice(b"<value><dateTime.iso8601>");
        if let Err(malformed) = value.push_xmlrpc(&mut self.out) {
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
    fn null(&mut self, _: Member<'_>) {
        self.out.extend_from_slice(b"<value><nil/></value>");
    }

    #[cold]
    fn fills(&self, at: Member<'_>) -> bool {
        self.defaults.fills(at)
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
