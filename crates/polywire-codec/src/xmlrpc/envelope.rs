//! What surrounds the values of a message on writing, and whether all of it is there.
//!
//! A message never leaves that is not whole: a call that failed is kept to be told again
//! at the end, and each place for a value has to have got one. Who writes a value at the
//! top as a whole, by [`document`](polywire_schema::Encoder::document), `serialize` or
//! a structure, notes where it ended, so that nothing is to be looked for. Only single
//! scalars and values that were written before are counted at the end, by their tags.

use polywire_schema::{Defaults, Encoder, Error, ErrorKind, Member};
use polywire_text::element_writer;

use super::XmlRpcEncoder;
use super::encode::{BEGIN_LIST, END_LIST, END_VALUE};
use super::style::Style;
use crate::checks::unbalanced;

/// What surrounds the value of a message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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
    /// A value and nothing around it: a part of a message, for
    /// [`XmlRpcEncoder::raw`].
    Value,
    /// A result among those of a `system.multicall`: an array of that one value.
    Item,
}

/// What the writer is in, for closing it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Frame {
    /// A call of one parameter.
    Call,
    /// A call whose parameters are the members of the structure at the top.
    Positional,
    /// A call whose parameters the caller begins one by one.
    Parameters,
    Response,
    Fault,
    Value,
    Item,
}

const OPEN_CALL: &[u8; 45] = b"<?xml version=\"1.0\"?><methodCall><methodName>";
const OPEN_PARAMS: &[u8; 21] = b"</methodName><params>";
const OPEN_RESPONSE: &[u8] = b"<?xml version=\"1.0\"?><methodResponse><params><param>";
const OPEN_FAULT: &[u8] = b"<?xml version=\"1.0\"?><methodResponse><fault>";
const PARAM: &[u8; 7] = b"<param>";
const NEXT_PARAM: &[u8; 15] = b"</param><param>";
const END_CALL: &[u8; 30] = b"</param></params></methodCall>";
const END_RESPONSE: &[u8; 34] = b"</param></params></methodResponse>";

impl XmlRpcEncoder {
    /// A writer that appends to `out`, so that a buffer can be used again.
    #[inline(always)]
    #[must_use]
    pub fn new(envelope: Envelope<'_>, out: Vec<u8>) -> Self {
        let mut encoder = Self {
            out,
            frame: Frame::Response,
            begin: 0,
            whole: 0,
            depth: 0,
            written: 0,
            defaults: Defaults::Server,
            style: Style::DEFAULT,
            error: None,
        };
        // What there is most of is written here, the others by a call.
        match envelope {
            Envelope::Response => encoder.out.extend_from_slice(OPEN_RESPONSE),
            Envelope::Call {
                method,
                positional: true,
            } if element_writer::push_xml(&mut encoder.out, OPEN_CALL, method, OPEN_PARAMS) => {
                encoder.frame = Frame::Positional;
            }
            _ => encoder.open(envelope),
        }
        encoder.begin = encoder.out.len();
        encoder
    }

    /// Writes what stands before the first value.
    #[inline(never)]
    fn open(&mut self, envelope: Envelope<'_>) {
        match envelope {
            Envelope::Call { method, positional } => {
                self.frame = if positional {
                    Frame::Positional
                } else {
                    Frame::Call
                };
                self.out.extend_from_slice(OPEN_CALL);
                self.escape(method, "the method name");
                self.out.extend_from_slice(OPEN_PARAMS);
                if !positional {
                    self.out.extend_from_slice(PARAM);
                }
            }
            Envelope::Response => self.out.extend_from_slice(OPEN_RESPONSE),
            Envelope::Fault => {
                self.frame = Frame::Fault;
                self.out.extend_from_slice(OPEN_FAULT);
            }
            Envelope::Value => self.frame = Frame::Value,
            Envelope::Item => {
                self.frame = Frame::Item;
                self.out.extend_from_slice(BEGIN_LIST);
            }
        }
    }

    /// Begins a positional parameter: its value comes next, whatever it is. A
    /// structure is then one parameter, and no longer all of them.
    ///
    /// Where no parameter can begin (in a value, behind a parameter without
    /// one, in what is no positional call), [`finish`](Self::finish) says so.
    #[inline(always)]
    pub fn parameter(&mut self) {
        match self.frame {
            Frame::Positional if self.out.len() == self.begin && self.depth == 0 => {
                self.frame = Frame::Parameters;
                self.out.extend_from_slice(PARAM);
            }
            Frame::Parameters if self.out.len() == self.whole => {
                self.out.extend_from_slice(NEXT_PARAM);
            }
            _ => return self.any_parameter(),
        }
        self.begin = self.out.len();
    }

    /// As [`Self::parameter`], where it is to be looked at what stands before.
    #[inline(never)]
    fn any_parameter(&mut self) {
        let positional = match self.frame {
            Frame::Parameters => true,
            // Behind the members of a structure.
            Frame::Positional => self.written > 0,
            _ => false,
        };
        if !positional || self.depth > 0 || self.out.len() == self.begin {
            return self.misplaced("a parameter between the values of a positional call");
        }
        self.settle();
        self.frame = Frame::Parameters;
        self.out.extend_from_slice(NEXT_PARAM);
        self.begin = self.out.len();
    }

    /// Begins the parameter of this member, after nils for those left out.
    pub(super) fn parameter_at(&mut self, at: Member<'_>) {
        while self.written < at.ordinal() {
            self.begin_member();
            self.null(at);
        }
        self.begin_member();
    }

    fn begin_member(&mut self) {
        self.written += 1;
        match self.is_behind_value() {
            true => self.out.extend_from_slice(NEXT_PARAM),
            false if self.written == 1 => self.out.extend_from_slice(PARAM),
            false => self.misplaced("a value for each parameter"),
        }
        self.begin = self.out.len();
    }

    #[cold]
    pub(super) fn misplaced(&mut self, expected: &'static str) {
        self.fail(misplaced(expected));
    }

    /// Whether nothing stands yet where a value at the top has to.
    #[inline(always)]
    pub(super) fn is_at_top(&self) -> bool {
        self.out.len() == self.begin
    }

    /// Notes that a value ends here that began at the top.
    #[inline(always)]
    pub(super) fn ended_at_top(&mut self) {
        self.whole = self.out.len();
    }

    /// The message.
    ///
    /// # Errors
    ///
    /// The first error that a call met, those included that it told its caller. A
    /// response, a fault, a parameter or an item has no value, or more than one.
    #[inline(always)]
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if self.depth != 0 || self.error.is_some() || self.out.len() != self.whole {
            return self.close();
        }
        // Each of its own length, which is then no call.
        match self.frame {
            Frame::Parameters => self.out.extend_from_slice(END_CALL),
            Frame::Response => self.out.extend_from_slice(END_RESPONSE),
            _ => return self.close(),
        }
        Ok(self.out)
    }

    /// As [`Self::finish`], whatever the message is.
    #[inline(never)]
    fn close(mut self) -> Result<Vec<u8>, Error> {
        if self.depth != 0 {
            self.fail(unbalanced("XML-RPC"));
        }
        let close: &[u8] = match self.frame {
            Frame::Positional if self.written > 0 => {
                if !self.is_behind_value() {
                    self.misplaced("the value of the last parameter");
                }
                END_CALL
            }
            Frame::Positional => {
                if !self.is_at_top() {
                    self.misplaced("the beginning of a parameter before its value");
                }
                b"</params></methodCall>"
            }
            frame => {
                self.settle();
                match frame {
                    Frame::Response => END_RESPONSE,
                    Frame::Fault => b"</fault></methodResponse>",
                    Frame::Value => b"",
                    Frame::Item => END_LIST,
                    Frame::Call | Frame::Parameters | Frame::Positional => END_CALL,
                }
            }
        };
        match self.error {
            None => {
                self.out.extend_from_slice(close);
                Ok(self.out)
            }
            Some(error) => Err(error),
        }
    }

    /// Sees to it that one value stands where one at the top has to.
    fn settle(&mut self) {
        if self.error.is_some() || (self.out.len() == self.whole && self.whole > self.begin) {
            return;
        }
        let count = values_in(&self.out[self.begin..]);
        if count != 1 {
            let expected = match self.frame {
                Frame::Call | Frame::Parameters | Frame::Positional => "one value in a parameter",
                Frame::Response => "one value in a response",
                Frame::Fault => "one value in a fault",
                Frame::Value => "one value",
                Frame::Item => "one value in an item",
            };
            let found = match count {
                0 => "none".to_owned(),
                count => count.to_string(),
            };
            self.fail(misplaced(expected).found(found));
        }
    }

    /// Whether a value stands before what comes next.
    #[inline(always)]
    pub(super) fn is_behind_value(&self) -> bool {
        self.out.last_chunk::<8>() == Some(END_VALUE)
    }
}

#[cold]
fn misplaced(expected: &'static str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("XML-RPC")
        .expected(expected)
}

/// How many values stand here beside each other. In no text is a `<`, so that all of
/// them are of tags.
fn values_in(written: &[u8]) -> usize {
    let (mut count, mut depth) = (0, 0_usize);
    for at in memchr::memchr_iter(b'<', written) {
        let tag = &written[at..];
        if tag.starts_with(b"<value>") {
            count += usize::from(depth == 0);
            depth += 1;
        } else if tag.starts_with(END_VALUE) {
            depth = depth.saturating_sub(1);
        }
    }
    count
}
