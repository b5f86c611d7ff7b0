//! What surrounds the values of a message: calls, responses and faults.

use std::borrow::Cow;

use polywire_text::{element_reader, utf8};

use polywire_schema::{
    Body, Budget, Error, ErrorKind, Limits, Member, Name, Schema, Seq, Text, TokenReader,
};

use super::collections::OPEN;
use super::cursor::Cursor;
use super::value::is_space;
use super::{XmlRpcDecoder, XmlRpcProfile, encoding};
use crate::checks;

/// What stands behind the last parameter of nearly all calls.
const END_CALL: &[u8; 30] = b"</param></params></methodCall>";

/// Whether a response holds a result or a fault: there will be nothing else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply {
    /// The value is the result.
    Result,
    /// The value is a fault's struct.
    Fault,
}

/// Where the reader is in the frame of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Frame {
    /// In a call, before its parameters or between them.
    Parameters,
    /// In a call, behind the last parameter.
    ParametersEnded,
    /// In an array whose items are the parameters of a call.
    Array,
    /// In the value of a response.
    Response,
    /// In the value of a fault.
    Fault,
    /// In a value with nothing around it.
    Value,
}

impl Frame {
    /// Whether parameters may still come.
    pub(super) const fn has_parameters(self) -> bool {
        matches!(self, Self::Parameters | Self::Array)
    }
}

impl<'de> XmlRpcDecoder<'de> {
    /// A reader of `body`, if it is one's part, that stands `at` so many bytes behind its
    /// beginning.
    #[inline(always)]
    pub(super) fn new(
        (text, body): (&'de str, Option<&'de Body>),
        at: usize,
        frame: Frame,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Self {
        let mut cursor = Cursor::new(text, limits.string(), profile.leniency);
        cursor.at = at;
        Self {
            cursor,
            body,
            frame,
            parameters: 0,
            empty_value: false,
            array: OPEN,
            budget: Budget::new(limits),
            profile,
            dropped: None,
            items: 0,
            members: 0,
            name: Cow::Borrowed(""),
            #[cfg(feature = "serde")]
            plain_name: None,
            scratch: Text::default(),
        }
    }

    /// Begins to read a call: its method name, and a reader that stands before
    /// the parameters.
    ///
    /// # Errors
    ///
    /// The body is no call, or beyond the limits.
    #[inline(always)]
    pub fn call(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Cow<'de, str>, Self), Error> {
        let text = text_of(body, limits)?;
        Self::begin_call((text, Some(body)), profile, limits)
    }

    /// As [`XmlRpcDecoder::call`], from a text.
    ///
    /// # Errors
    ///
    /// The text is no call, or beyond the limits.
    pub fn call_from_str(
        text: &'de str,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Cow<'de, str>, Self), Error> {
        checks::message_len(text.len(), limits, "XML-RPC")?;
        Self::begin_call((text, None), profile, limits)
    }

    #[inline(always)]
    fn begin_call(
        source: (&'de str, Option<&'de Body>),
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Cow<'de, str>, Self), Error> {
        const USUAL: &[u8; 45] = b"<?xml version=\"1.0\"?><methodCall><methodName>";
        const BEHIND: &[u8; 21] = b"</methodName><params>";

        // The reader is made where it will be, when all is known.
        if let Some((method, start)) = element_reader::xml_text(source.0, 0, USUAL, BEHIND)
            && method.len() <= limits.string()
        {
            let at = start + method.len() + BEHIND.len();
            let reader = Self::new(source, at, Frame::Parameters, profile, limits);
            return Ok((Cow::Borrowed(trimmed_str(method)), reader));
        }
        let mut cursor = Cursor::new(source.0, limits.string(), profile.leniency);
        let (method, frame) = cursor.begin_call()?;
        Ok((method, Self::new(source, cursor.at, frame, profile, limits)))
    }

    /// A reader of a value that stood in a message, from behind its `<value>` to
    /// the end of its `</value>`: the part of the message that
    /// [`multicall`](Self::multicall) and its like give.
    ///
    /// `offset` is where it stood; errors count from the beginning of the message.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, or longer than the limit.
    pub fn value(
        body: &'de Body,
        offset: usize,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let source = (text_of(body, limits)?, Some(body));
        let mut decoder = Self::new(source, 0, Frame::Value, profile, limits);
        decoder.cursor.base = offset;
        // `<value/>` has no inside.
        decoder.empty_value = body.is_empty();
        Ok(decoder)
    }

    /// As [`value`](Self::value), of an array whose items are the parameters of a
    /// call: [`parameter`](Self::parameter) goes from one to the next.
    ///
    /// # Errors
    ///
    /// As of [`value`](Self::value), and the value is no array.
    pub fn parameters_of(
        body: &'de Body,
        offset: usize,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut decoder = Self::value(body, offset, profile, limits)?;
        decoder.array = decoder.begin_any_array()?.mark;
        decoder.frame = Frame::Array;
        Ok(decoder)
    }

    /// Which parameter of a call is being read, from 1; `None` before the first and
    /// behind the last.
    #[must_use]
    pub const fn current_parameter(&self) -> Option<u32> {
        match self.frame {
            Frame::Parameters | Frame::Array if self.parameters > 0 => Some(self.parameters),
            _ => None,
        }
    }

    /// Goes to the next parameter of a call; `false` behind the last.
    ///
    /// # Errors
    ///
    /// What comes is no parameter.
    #[inline(always)]
    pub fn parameter(&mut self) -> Result<bool, Error> {
        if self.frame == Frame::Parameters {
            let found = match self.parameters {
                0 => self.cursor.skip(b"<param><value>"),
                // Most calls end behind the first.
                _ if is_end(self.cursor.rest(), END_CALL) => {
                    self.cursor.at = self.cursor.text.len();
                    self.frame = Frame::ParametersEnded;
                    return Ok(false);
                }
                _ => self.cursor.skip(b"</param><param><value>"),
            };
            if found {
                self.parameters += 1;
                self.count_item()?;
                return Ok(true);
            }
        }
        self.any_parameter()
    }

    #[inline(never)]
    fn any_parameter(&mut self) -> Result<bool, Error> {
        if self.frame == Frame::Array {
            return self.array_parameter();
        }
        if self.frame != Frame::Parameters {
            return Ok(false);
        }
        let cursor = &mut self.cursor;
        if self.parameters > 0 && cursor.skip(END_CALL) {
            self.frame = Frame::ParametersEnded;
            return Ok(false);
        }
        if self.parameters > 0 {
            cursor.expect_end("param", "</param>")?;
        }
        match cursor.start()? {
            Some(start) if start.name == "param" && !start.empty => {
                self.parameters += 1;
                self.empty_value = !cursor.expect_start("value", "<value>")?;
                self.count_item()?;
                Ok(true)
            }
            Some(start) if start.name == "param" => Err(cursor.empty_tag("<param>")),
            Some(_) => Err(cursor.wrong_tag("<param> or </params>")),
            None => {
                cursor.expect_end("params", "<param> or </params>")?;
                cursor.expect_end("methodCall", "</methodCall>")?;
                self.frame = Frame::ParametersEnded;
                Ok(false)
            }
        }
    }

    /// Goes to the next item of the array that holds the parameters.
    fn array_parameter(&mut self) -> Result<bool, Error> {
        let mut seq = Seq {
            mark: self.array,
            count: self.parameters,
            ..Seq::default()
        };
        let found = self.next_item(&mut seq)?;
        self.parameters = seq.count;
        if !found {
            self.frame = Frame::ParametersEnded;
        }
        Ok(found)
    }

    /// Whether the parameters of a call come next.
    #[cfg(feature = "reference")]
    pub(crate) fn is_before_parameters(&self) -> bool {
        let in_call = self.frame.has_parameters() || self.frame == Frame::ParametersEnded;
        in_call && self.parameters == 0
    }

    /// The whole message, where the value at the reader begins (nowhere if it is `<value/>`), and
    /// what is left of the limits.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de str, Option<usize>, Limits, XmlRpcProfile) {
        let start = (!self.empty_value).then_some(self.cursor.at);
        (self.cursor.text, start, self.budget.left(), self.profile)
    }

    /// Continues after a value that another reader has read. `None` means that it was `<value/>`.
    #[cfg(feature = "reference")]
    pub(crate) fn go_to(&mut self, end: Option<usize>) {
        self.empty_value = false;
        self.cursor.at = end.unwrap_or(self.cursor.at);
    }

    /// Goes into the struct at the top of a response, to the value of one of
    /// its members; `false` if it has none such. What follows that value is
    /// not read: for the structure that a fault carries.
    ///
    /// # Errors
    ///
    /// The value is no struct, or a member before it cannot be read.
    pub fn enter(&mut self, name: &str) -> Result<bool, Error> {
        let mut seq = self.begin_map(Member::DOCUMENT)?;
        while let Some(own) = self.next_member(&mut seq)? {
            if own == name {
                return Ok(true);
            }
            self.count_item()?;
            self.skip_value()?;
        }
        Ok(false)
    }

    /// Sees to it that the message ends behind its value or last parameter. Asked again, it
    /// says the same.
    ///
    /// # Errors
    ///
    /// It does not; the reader then stands where it stood.
    #[inline(always)]
    pub fn finish(&mut self) -> Result<(), Error> {
        // What stands behind the last value of nearly all messages.
        let rest = self.cursor.rest();
        let ended = match self.frame {
            Frame::ParametersEnded => rest.is_empty(),
            Frame::Parameters => self.parameters > 0 && is_end(rest, END_CALL),
            Frame::Response => is_end(rest, b"</param></params></methodResponse>"),
            _ => false,
        };
        if !ended {
            return self.any_finish();
        }
        self.cursor.at = self.cursor.text.len();
        self.frame = Frame::ParametersEnded;
        Ok(())
    }

    #[inline(never)]
    fn any_finish(&mut self) -> Result<(), Error> {
        let (at, empty_value, budget) = (self.cursor.at, self.empty_value, self.budget.mark());
        let (frame, parameters) = (self.frame, self.parameters);
        let ended = self.read_end();
        match ended {
            Ok(()) => self.frame = Frame::ParametersEnded,
            Err(_) => {
                (self.cursor.at, self.empty_value) = (at, empty_value);
                (self.frame, self.parameters) = (frame, parameters);
                self.budget.back_to(budget);
            }
        }
        ended
    }

    fn read_end(&mut self) -> Result<(), Error> {
        match self.frame {
            Frame::Parameters | Frame::Array => {
                if self.parameter()? {
                    let expected = "the end of the call: too many parameters";
                    return Err(self.error(ErrorKind::Unknown, expected));
                }
            }
            Frame::ParametersEnded | Frame::Value => {}
            Frame::Response => {
                self.cursor.expect_end("param", "</param>")?;
                self.cursor.expect_end("params", "</params>")?;
                self.cursor
                    .expect_end("methodResponse", "</methodResponse>")?;
            }
            Frame::Fault => {
                self.cursor.expect_end("fault", "</fault>")?;
                self.cursor
                    .expect_end("methodResponse", "</methodResponse>")?;
            }
        }
        if self.cursor.at == self.cursor.text.len() {
            return Ok(());
        }
        self.cursor.skip_between()?;
        if self.cursor.at < self.cursor.text.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the message"));
        }
        Ok(())
    }

    /// The member of the positional parameter that was found.
    pub(super) fn positional(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<Name, Error> {
        let ordinal = seq.count;
        if ordinal >= shape.len() {
            let error = self.error(ErrorKind::Unknown, "");
            return Err(error.expected(format!("at most {} parameters", shape.len())));
        }
        seq.count += 1;
        Ok(Name::Member(ordinal))
    }
}

impl<'de> Cursor<'de> {
    /// Reads up to the parameters of a call: its method, and whether any come.
    #[inline(never)]
    fn begin_call(&mut self) -> Result<(Cow<'de, str>, Frame), Error> {
        self.declaration()?;
        self.expect_open("methodCall", "<methodCall>")?;
        self.expect_open("methodName", "<methodName>")?;
        let method = self.characters()?;
        self.expect_end("methodName", "</methodName>")?;
        // `<params>` may be left out of a call without parameters.
        let frame = match self.start()? {
            None => {
                self.expect_end("methodCall", "<params> or </methodCall>")?;
                Frame::ParametersEnded
            }
            Some(start) if start.name == "params" && start.empty => {
                self.expect_end("methodCall", "</methodCall>")?;
                Frame::ParametersEnded
            }
            Some(start) if start.name == "params" => Frame::Parameters,
            Some(_) => return Err(self.wrong_tag("<params> or </methodCall>")),
        };
        let method = match method {
            Cow::Borrowed(method) => Cow::Borrowed(method.trim_matches(is_space)),
            Cow::Owned(method) => Cow::Owned(method.trim_matches(is_space).to_owned()),
        };
        Ok((method, frame))
    }
}

/// Whether nothing is left but this.
#[inline(always)]
fn is_end<const LEN: usize>(rest: &[u8], end: &[u8; LEN]) -> bool {
    rest.len() == LEN && rest.first_chunk() == Some(end)
}

/// The text of a body that is not too long.
#[inline]
pub(super) fn text_of<'de>(body: &'de Body, limits: &Limits) -> Result<&'de str, Error> {
    checks::message_len(body.len(), limits, "XML-RPC")?;
    match utf8::ascii(body.as_bytes()) {
        Some(text) => Ok(text),
        None => {
            checks::text(body, limits, "XML-RPC").map_err(|error| encoding::not_utf8(body, error))
        }
    }
}

/// The text without white space around it, which is mostly none.
#[inline]
fn trimmed_str(text: &str) -> &str {
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| *byte <= b' ');
    match edge(text.as_bytes().first()) || edge(text.as_bytes().last()) {
        true => text.trim_matches(is_space),
        false => text,
    }
}
