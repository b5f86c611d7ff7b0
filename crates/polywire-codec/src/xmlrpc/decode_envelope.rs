//! The parts of a message around values: the tags of calls, and the end of every message.
//!
//! See "Payload format" and "Response format" in the specification. The start of a response is in
//! `response.rs`.

use std::borrow::Cow;

use polywire_text::{element_reader, utf8};

use polywire_schema::{
    Body, Budget, Error, ErrorKind, Limits, Member, Name, Schema, Seq, Text, TokenReader,
};

use super::collections::ALL_ENDS;
use super::cursor::Cursor;
use super::tags::{END_CALL, END_RESPONSE, OPEN_CALL, OPEN_PARAMS};
use super::value::{is_space, trimmed};
use super::{XmlRpcDecoder, XmlRpcProfile, encoding};
use crate::checks;

/// The kind of a response. No further kinds will be added.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply {
    /// The value is the result.
    Result,
    /// The value is the struct of a fault.
    Fault,
}

/// The section of a message that the decoder is in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Section {
    /// In `<params>` of a call.
    Parameters,
    /// After the last parameter of a call, or after the end of a message.
    End,
    /// In an array whose items are the parameters of a call of `system.multicall`.
    ParameterArray,
    /// In the result of a response.
    Response,
    /// In the fault of a response.
    Fault,
    /// In a value that is read without its message.
    Value,
}

impl Section {
    /// Whether parameters may follow.
    pub(super) const fn has_parameters(self) -> bool {
        matches!(self, Self::Parameters | Self::ParameterArray)
    }
}

impl<'de> XmlRpcDecoder<'de> {
    /// Creates a decoder at the offset `at` of a text. Strings can share the memory of the body that
    /// contains the text, if there is one.
    #[inline(always)]
    pub(super) fn new(
        (text, body): (&'de str, Option<&'de Body>),
        at: usize,
        section: Section,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Self {
        let mut cursor = Cursor::new(text, limits.string(), profile.leniency);
        cursor.at = at;
        Self {
            cursor,
            body,
            section,
            parameters: 0,
            empty_value: false,
            array_ends: ALL_ENDS,
            budget: Budget::new(limits),
            profile,
            ignored: None,
            items_hint: 0,
            members_hint: 0,
            name: Cow::Borrowed(""),
            #[cfg(feature = "serde")]
            plain_name: None,
            scratch: Text::default(),
        }
    }

    /// Reads a call up to its parameters. Returns the name of the method, without white space around
    /// it, and a decoder for the parameters.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, is longer than [`Limits::bytes`], or does not begin with a call.
    #[inline(always)]
    pub fn call(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Cow<'de, str>, Self), Error> {
        let text = text_of(body, limits)?;
        Self::begin_call((text, Some(body)), profile, limits)
    }

    /// Like [`XmlRpcDecoder::call`], for text.
    ///
    /// # Errors
    ///
    /// The text is longer than [`Limits::bytes`], or does not begin with a call.
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
        // The decoder is created last, so that it is not moved.
        if let Some((method, start)) = element_reader::xml_text(source.0, 0, OPEN_CALL, OPEN_PARAMS)
            && method.len() <= limits.string()
        {
            let at = start + method.len() + OPEN_PARAMS.len();
            let decoder = Self::new(source, at, Section::Parameters, profile, limits);
            return Ok((Cow::Borrowed(trimmed_str(method)), decoder));
        }
        let mut cursor = Cursor::new(source.0, limits.string(), profile.leniency);
        let (method, section) = cursor.begin_call()?;
        Ok((
            method,
            Self::new(source, cursor.at, section, profile, limits),
        ))
    }

    /// Creates a decoder for a value that was taken from a message. `body` begins after `<value>` and
    /// ends with `</value>`, like the ranges of [`MulticallResult`](super::MulticallResult).
    ///
    /// `offset` is the offset of `body` in the message, in bytes. Offsets of errors are relative to
    /// the message.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, or is longer than [`Limits::bytes`].
    pub fn value(
        body: &'de Body,
        offset: usize,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let source = (text_of(body, limits)?, Some(body));
        let mut decoder = Self::new(source, 0, Section::Value, profile, limits);
        decoder.cursor.base = offset;
        // The range of `<value/>` is empty.
        decoder.empty_value = body.is_empty();
        Ok(decoder)
    }

    /// Like [`value`](Self::value), for an array whose items are the parameters of a call, such as the
    /// range of a [`MulticallEntry`](super::MulticallEntry). [`parameter`](Self::parameter) reads up
    /// to the next one.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value), or the value is not an array.
    pub fn parameters_of(
        body: &'de Body,
        offset: usize,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut decoder = Self::value(body, offset, profile, limits)?;
        decoder.array_ends = decoder.read_array_start(|| "an array")?.mark;
        decoder.section = Section::ParameterArray;
        Ok(decoder)
    }

    /// The number of the current parameter of a call, from 1. `None` before the first parameter and
    /// after the last one.
    #[must_use]
    pub const fn current_parameter(&self) -> Option<u32> {
        match self.section {
            Section::Parameters | Section::ParameterArray if self.parameters > 0 => {
                Some(self.parameters)
            }
            _ => None,
        }
    }

    /// Reads up to the value of the next parameter of a call. The value of the previous parameter must
    /// have been read. Returns `false` after the last parameter.
    ///
    /// # Errors
    ///
    /// The next element is not a parameter, or there are more parameters than the limit for items.
    #[inline(always)]
    pub fn parameter(&mut self) -> Result<bool, Error> {
        if self.section == Section::Parameters {
            let found = match self.parameters {
                0 => self.cursor.skip(b"<param><value>"),
                // Most calls have one parameter.
                _ if is_end(self.cursor.rest(), END_CALL) => {
                    self.cursor.at = self.cursor.text.len();
                    self.section = Section::End;
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
        self.slow_parameter()
    }

    /// [`Self::parameter`] for tags in any form, and for the end of the call.
    #[inline(never)]
    fn slow_parameter(&mut self) -> Result<bool, Error> {
        if self.section == Section::ParameterArray {
            return self.array_parameter();
        }
        if self.section != Section::Parameters {
            return Ok(false);
        }
        let cursor = &mut self.cursor;
        if self.parameters > 0 && cursor.skip(END_CALL) {
            self.section = Section::End;
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
                self.section = Section::End;
                Ok(false)
            }
        }
    }

    /// [`Self::parameter`] in [`Section::ParameterArray`].
    fn array_parameter(&mut self) -> Result<bool, Error> {
        let mut seq = Seq {
            mark: self.array_ends,
            count: self.parameters,
            ..Seq::default()
        };
        let found = self.next_item(&mut seq)?;
        self.parameters = seq.count;
        if !found {
            self.section = Section::End;
        }
        Ok(found)
    }

    /// Whether no parameter of a call was read yet.
    #[cfg(feature = "reference")]
    pub(crate) fn is_before_parameters(&self) -> bool {
        let in_call = self.section.has_parameters() || self.section == Section::End;
        in_call && self.parameters == 0
    }

    /// The text of the message, the offset of the current value (`None` for `<value/>`), the rest of
    /// the limits, and the profile.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de str, Option<usize>, Limits, XmlRpcProfile) {
        let start = (!self.empty_value).then_some(self.cursor.at);
        (self.cursor.text, start, self.budget.left(), self.profile)
    }

    /// Continues at the end of a value that another decoder has read. `None` stands for `<value/>`.
    #[cfg(feature = "reference")]
    pub(crate) fn go_to(&mut self, end: Option<usize>) {
        self.empty_value = false;
        self.cursor.at = end.unwrap_or(self.cursor.at);
    }

    /// Reads up to the value of the member `name` of a struct, such as a structure in a fault. Returns
    /// `false` if there is no such member. Do not call [`finish`](Self::finish) afterwards: the rest
    /// of the struct is not read.
    ///
    /// # Errors
    ///
    /// The value is not a struct, or a member before `name` is malformed.
    pub fn enter(&mut self, name: &str) -> Result<bool, Error> {
        let mut seq = self.read_struct_start(Member::DOCUMENT)?;
        while let Some(member) = self.next_member(&mut seq)? {
            if member == name {
                return Ok(true);
            }
            self.count_item()?;
            self.skip_value()?;
        }
        Ok(false)
    }

    /// Checks that the message ends after its value or its last parameter. If `finish` is called
    /// again, it returns the same result.
    ///
    /// # Errors
    ///
    /// The message does not end: there is another parameter, a missing or wrong end tag, or content
    /// after the root element. The position of the decoder is then unchanged.
    #[inline(always)]
    pub fn finish(&mut self) -> Result<(), Error> {
        // The end tags in plain form.
        let rest = self.cursor.rest();
        let ended = match self.section {
            Section::End => rest.is_empty(),
            Section::Parameters => self.parameters > 0 && is_end(rest, END_CALL),
            Section::Response => is_end(rest, END_RESPONSE),
            _ => false,
        };
        if !ended {
            return self.slow_finish();
        }
        self.cursor.at = self.cursor.text.len();
        self.section = Section::End;
        Ok(())
    }

    /// [`Self::finish`] for end tags in any form.
    #[inline(never)]
    fn slow_finish(&mut self) -> Result<(), Error> {
        let (at, empty_value, budget) = (self.cursor.at, self.empty_value, self.budget.mark());
        let (section, parameters) = (self.section, self.parameters);
        let ended = self.read_end();
        match ended {
            Ok(()) => self.section = Section::End,
            Err(_) => {
                (self.cursor.at, self.empty_value) = (at, empty_value);
                (self.section, self.parameters) = (section, parameters);
                self.budget.back_to(budget);
            }
        }
        ended
    }

    /// Reads the end tags of the message.
    fn read_end(&mut self) -> Result<(), Error> {
        match self.section {
            Section::Parameters | Section::ParameterArray => {
                if self.parameter()? {
                    let expected = "the end of the call: too many parameters";
                    return Err(self.error(ErrorKind::Unknown, expected));
                }
            }
            Section::End | Section::Value => {}
            Section::Response => {
                self.cursor.expect_end("param", "</param>")?;
                self.cursor.expect_end("params", "</params>")?;
                self.cursor
                    .expect_end("methodResponse", "</methodResponse>")?;
            }
            Section::Fault => {
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

    /// The member of the structure that the current positional parameter stands for.
    pub(super) fn positional_member(
        &mut self,
        shape: Schema<'_>,
        seq: &mut Seq,
    ) -> Result<Name, Error> {
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
    /// Reads a call in any form, up to its parameters. Returns the name of the method and the section
    /// that follows.
    #[inline(never)]
    fn begin_call(&mut self) -> Result<(Cow<'de, str>, Section), Error> {
        self.declaration()?;
        self.expect_open("methodCall", "<methodCall>")?;
        self.expect_open("methodName", "<methodName>")?;
        let method = self.characters()?;
        self.expect_end("methodName", "</methodName>")?;
        // A call without parameters needs no `<params>`.
        let section = match self.start()? {
            None => {
                self.expect_end("methodCall", "<params> or </methodCall>")?;
                Section::End
            }
            Some(start) if start.name == "params" && start.empty => {
                self.expect_end("methodCall", "</methodCall>")?;
                Section::End
            }
            Some(start) if start.name == "params" => Section::Parameters,
            Some(_) => return Err(self.wrong_tag("<params> or </methodCall>")),
        };
        Ok((trimmed(method), section))
    }
}

/// Whether the rest of the message is `end`.
#[inline(always)]
fn is_end<const LEN: usize>(rest: &[u8], end: &[u8; LEN]) -> bool {
    rest.len() == LEN && rest.first_chunk() == Some(end)
}

/// Checks the length and the UTF-8 of a body.
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

/// Removes white space at both ends. Fast if there is none.
#[inline]
fn trimmed_str(text: &str) -> &str {
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| *byte <= b' ');
    match edge(text.as_bytes().first()) || edge(text.as_bytes().last()) {
        true => text.trim_matches(is_space),
        false => text,
    }
}
