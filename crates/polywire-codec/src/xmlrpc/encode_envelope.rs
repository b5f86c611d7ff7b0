//! Writes the tags around values, and checks that a message is complete.
//!
//! `finish` returns no incomplete message. It returns the first error of any function, and checks that
//! a response, fault, parameter or result of `system.multicall` has exactly one value. Functions that
//! write a whole top-level value ([`document`](polywire_schema::Encoder::document), `serialize`,
//! structures) store its end in `value_end`. The values of other functions (scalars, `raw`) are counted
//! by their tags.

use polywire_schema::{Defaults, Encoder, Error, ErrorKind, Member};
use polywire_text::element_writer;

use super::XmlRpcEncoder;
use super::encode::{BEGIN_LIST, END_VALUE};
use super::style::Style;
use super::tags::{END_ARRAY, END_CALL, END_RESPONSE, OPEN_CALL, OPEN_PARAMS, OPEN_RESPONSE};
use crate::checks::unbalanced;

/// The tags around the value of a message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Envelope<'a> {
    /// A call of a method ("Payload format" in the specification).
    Call {
        /// The name of the method.
        method: &'a str,
        /// Whether the members of the top-level structure are parameters. Otherwise the value is the
        /// only parameter.
        positional: bool,
    },
    /// A response with a result ("Response format").
    Response,
    /// A response with a fault ("Response format"). The value is a struct with the members `faultCode`
    /// and `faultString`.
    Fault,
    /// A value without a message, for [`XmlRpcEncoder::raw`].
    Value,
    /// A result of `system.multicall`, for [`XmlRpcEncoder::raw`]: an array with the value as its only
    /// item.
    MulticallResult,
}

/// The kind of an envelope, which determines the tags between and after values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EnvelopeKind {
    /// A call with one parameter.
    Call,
    /// A call whose parameters are the members of the top-level structure.
    Positional,
    /// A call whose parameters the caller begins with `parameter`.
    Parameters,
    Response,
    Fault,
    Value,
    MulticallResult,
}

const OPEN_FAULT: &[u8] = b"<?xml version=\"1.0\"?><methodResponse><fault>";
const PARAM: &[u8; 7] = b"<param>";
const NEXT_PARAM: &[u8; 15] = b"</param><param>";

impl XmlRpcEncoder {
    /// Creates an encoder that appends to `out`.
    #[inline(always)]
    #[must_use]
    pub fn new(envelope: Envelope<'_>, out: Vec<u8>) -> Self {
        let mut encoder = Self {
            out,
            envelope: EnvelopeKind::Response,
            value_start: 0,
            value_end: 0,
            depth: 0,
            parameter_count: 0,
            defaults: Defaults::Server,
            style: Style::DEFAULT,
            error: None,
        };
        // The most frequent envelopes are inlined.
        match envelope {
            Envelope::Response => encoder.out.extend_from_slice(OPEN_RESPONSE),
            Envelope::Call {
                method,
                positional: true,
            } if element_writer::push_xml(&mut encoder.out, OPEN_CALL, method, OPEN_PARAMS) => {
                encoder.envelope = EnvelopeKind::Positional;
            }
            _ => encoder.open(envelope),
        }
        encoder.value_start = encoder.out.len();
        encoder
    }

    /// Writes the tags before the first value.
    #[inline(never)]
    fn open(&mut self, envelope: Envelope<'_>) {
        match envelope {
            Envelope::Call { method, positional } => {
                self.envelope = if positional {
                    EnvelopeKind::Positional
                } else {
                    EnvelopeKind::Call
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
                self.envelope = EnvelopeKind::Fault;
                self.out.extend_from_slice(OPEN_FAULT);
            }
            Envelope::Value => self.envelope = EnvelopeKind::Value,
            Envelope::MulticallResult => {
                self.envelope = EnvelopeKind::MulticallResult;
                self.out.extend_from_slice(BEGIN_LIST);
            }
        }
    }

    /// Begins a positional parameter. The caller writes its value next. If it is a structure, the
    /// structure is this parameter, instead of containing the parameters.
    ///
    /// [`finish`](Self::finish) returns an error if the call is not positional, a value is incomplete,
    /// or the previous parameter has no value.
    #[inline(always)]
    pub fn parameter(&mut self) {
        match self.envelope {
            EnvelopeKind::Positional if self.out.len() == self.value_start && self.depth == 0 => {
                self.envelope = EnvelopeKind::Parameters;
                self.out.extend_from_slice(PARAM);
            }
            EnvelopeKind::Parameters if self.out.len() == self.value_end => {
                self.out.extend_from_slice(NEXT_PARAM);
            }
            _ => return self.slow_parameter(),
        }
        self.value_start = self.out.len();
    }

    /// [`Self::parameter`] for a parameter whose predecessor must be checked.
    #[inline(never)]
    fn slow_parameter(&mut self) {
        let positional = match self.envelope {
            EnvelopeKind::Parameters => true,
            // After the members of a structure.
            EnvelopeKind::Positional => self.parameter_count > 0,
            _ => false,
        };
        if !positional || self.depth > 0 || self.out.len() == self.value_start {
            return self.fail_misplaced("a parameter after a complete value of a positional call");
        }
        self.check_one_value();
        self.envelope = EnvelopeKind::Parameters;
        self.out.extend_from_slice(NEXT_PARAM);
        self.value_start = self.out.len();
    }

    /// Begins the parameter for a member, after a nil for each member that was omitted before it.
    pub(super) fn parameter_at(&mut self, at: Member<'_>) {
        while self.parameter_count < at.ordinal() {
            self.begin_member_parameter();
            self.null(at);
        }
        self.begin_member_parameter();
    }

    /// Begins the parameter for the next member.
    fn begin_member_parameter(&mut self) {
        self.parameter_count += 1;
        match self.ends_with_value() {
            true => self.out.extend_from_slice(NEXT_PARAM),
            false if self.parameter_count == 1 => self.out.extend_from_slice(PARAM),
            false => self.fail_misplaced("a value for each parameter"),
        }
        self.value_start = self.out.len();
    }

    /// Stores the error for a value or tag at the wrong place.
    #[cold]
    pub(super) fn fail_misplaced(&mut self, expected: &'static str) {
        self.fail(misplaced(expected));
    }

    /// Whether the next value is a top-level value, and nothing of it was written.
    #[inline(always)]
    pub(super) fn is_at_value_start(&self) -> bool {
        self.out.len() == self.value_start
    }

    /// Stores the end of a top-level value.
    #[inline(always)]
    pub(super) fn mark_value_end(&mut self) {
        self.value_end = self.out.len();
    }

    /// Returns `out` with the message.
    ///
    /// # Errors
    ///
    /// The first error of any function, also if the function returned it. Or a response, fault,
    /// parameter or result of `system.multicall` does not have exactly one value.
    #[inline(always)]
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if self.depth != 0 || self.error.is_some() || self.out.len() != self.value_end {
            return self.slow_finish();
        }
        // The length is constant in each arm, so that `extend_from_slice` does not call `memcpy`.
        match self.envelope {
            EnvelopeKind::Parameters => self.out.extend_from_slice(END_CALL),
            EnvelopeKind::Response => self.out.extend_from_slice(END_RESPONSE),
            _ => return self.slow_finish(),
        }
        Ok(self.out)
    }

    /// [`Self::finish`] for any message.
    #[inline(never)]
    fn slow_finish(mut self) -> Result<Vec<u8>, Error> {
        if self.depth != 0 {
            self.fail(unbalanced("XML-RPC"));
        }
        let close: &[u8] = match self.envelope {
            EnvelopeKind::Positional if self.parameter_count > 0 => {
                if !self.ends_with_value() {
                    self.fail_misplaced("the value of the last parameter");
                }
                END_CALL
            }
            EnvelopeKind::Positional => {
                if !self.is_at_value_start() {
                    self.fail_misplaced("the beginning of a parameter before its value");
                }
                b"</params></methodCall>"
            }
            envelope => {
                self.check_one_value();
                match envelope {
                    EnvelopeKind::Response => END_RESPONSE,
                    EnvelopeKind::Fault => b"</fault></methodResponse>",
                    EnvelopeKind::Value => b"",
                    EnvelopeKind::MulticallResult => END_ARRAY,
                    EnvelopeKind::Call | EnvelopeKind::Parameters | EnvelopeKind::Positional => {
                        END_CALL
                    }
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

    /// Checks that exactly one top-level value was written since `value_start`.
    fn check_one_value(&mut self) {
        if self.error.is_some()
            || (self.out.len() == self.value_end && self.value_end > self.value_start)
        {
            return;
        }
        let count = values_in(&self.out[self.value_start..]);
        if count != 1 {
            let expected = match self.envelope {
                EnvelopeKind::Call | EnvelopeKind::Parameters | EnvelopeKind::Positional => {
                    "one value in a parameter"
                }
                EnvelopeKind::Response => "one value in a response",
                EnvelopeKind::Fault => "one value in a fault",
                EnvelopeKind::Value => "one value",
                EnvelopeKind::MulticallResult => "one value in an item",
            };
            let found = match count {
                0 => "none".to_owned(),
                count => count.to_string(),
            };
            self.fail(misplaced(expected).found(found));
        }
    }

    /// Whether the output ends with a value.
    #[inline(always)]
    pub(super) fn ends_with_value(&self) -> bool {
        self.out.last_chunk::<8>() == Some(END_VALUE)
    }
}

#[cold]
fn misplaced(expected: &'static str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("XML-RPC")
        .expected(expected)
}

/// The number of top-level values. Each `<` begins a tag, because text contains no `<`.
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
