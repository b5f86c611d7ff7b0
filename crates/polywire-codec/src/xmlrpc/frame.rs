//! What surrounds the values of a message: calls, responses and faults.

use std::borrow::Cow;

use polywire_schema::{
    Body, Decoder, END, Error, ErrorKind, Limits, Member, Schema, Seq, ShapeKind,
};

use super::cursor::Cursor;
use super::{XmlRpcDecoder, XmlRpcProfile};
use crate::budget::Budget;
use crate::refuse;

/// Whether a response holds a result or a fault.
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
    /// In the value of a response.
    Response,
    /// In the value of a fault.
    Fault,
}

impl<'de> XmlRpcDecoder<'de> {
    pub(super) fn new(
        text: &'de str,
        frame: Frame,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        refuse::too_long(text.len(), limits, "XML-RPC")?;
        Ok(Self {
            cursor: Cursor::new(text, limits.string())?,
            body: None,
            frame,
            parameters: 0,
            empty_value: false,
            budget: Budget::new(limits),
            profile,
        })
    }

    /// Begins to read a call: its method name, and a reader that stands before
    /// the parameters.
    ///
    /// # Errors
    ///
    /// The body is no call, or beyond the limits.
    pub fn call(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Cow<'de, str>, Self), Error> {
        let text = refuse::text(body, limits, "XML-RPC")?;
        let (method, mut decoder) = Self::call_from_str(text, profile, limits)?;
        decoder.body = Some(body);
        Ok((method, decoder))
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
        let mut decoder = Self::new(text, Frame::Parameters, profile, limits)?;
        let cursor = &mut decoder.cursor;
        cursor.expect_open("methodCall", "<methodCall>")?;
        cursor.expect_open("methodName", "<methodName>")?;
        let method = cursor.characters()?;
        cursor.expect_end("methodName", "</methodName>")?;
        decoder.begin_parameters()?;
        Ok((trimmed(method), decoder))
    }

    /// Reads `<params>`, which a call without parameters may leave out.
    pub(super) fn begin_parameters(&mut self) -> Result<(), Error> {
        let cursor = &mut self.cursor;
        match cursor.start()? {
            None => {
                cursor.expect_end("methodCall", "<params> or </methodCall>")?;
                self.frame = Frame::ParametersEnded;
            }
            Some(start) if start.name == "params" => {
                if start.empty {
                    cursor.expect_end("methodCall", "</methodCall>")?;
                    self.frame = Frame::ParametersEnded;
                }
            }
            Some(_) => return Err(cursor.wrong_tag("<params> or </methodCall>")),
        }
        Ok(())
    }

    /// Begins to read a response: whether it is a result or a fault, and a
    /// reader that stands at its value.
    ///
    /// # Errors
    ///
    /// The body is no response, or beyond the limits.
    pub fn response(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        let text = refuse::text(body, limits, "XML-RPC")?;
        let (reply, mut decoder) = Self::response_from_str(text, profile, limits)?;
        decoder.body = Some(body);
        Ok((reply, decoder))
    }

    /// As [`XmlRpcDecoder::response`], from a text.
    ///
    /// # Errors
    ///
    /// The text is no response, or beyond the limits.
    pub fn response_from_str(
        text: &'de str,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        let mut decoder = Self::new(text, Frame::Response, profile, limits)?;
        let cursor = &mut decoder.cursor;
        cursor.expect_open("methodResponse", "<methodResponse>")?;
        let reply = match cursor.start()? {
            Some(start) if start.name == "params" && !start.empty => {
                cursor.expect_open("param", "<param>")?;
                Reply::Result
            }
            Some(start) if start.name == "fault" && !start.empty => {
                decoder.frame = Frame::Fault;
                Reply::Fault
            }
            Some(_) => return Err(cursor.wrong_tag("<params> or <fault>")),
            None => return Err(cursor.error(ErrorKind::Syntax, "<params> or <fault>")),
        };
        decoder.empty_value = !decoder.cursor.expect_start("value", "<value>")?;
        Ok((reply, decoder))
    }

    /// Goes to the next parameter of a call; `false` behind the last.
    ///
    /// # Errors
    ///
    /// What comes is no parameter.
    pub fn parameter(&mut self) -> Result<bool, Error> {
        if self.frame != Frame::Parameters {
            return Ok(false);
        }
        let cursor = &mut self.cursor;
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
            Some(_) => Err(cursor.wrong_tag("<param> or </params>")),
            None => {
                cursor.expect_end("params", "<param> or </params>")?;
                cursor.expect_end("methodCall", "</methodCall>")?;
                self.frame = Frame::ParametersEnded;
                Ok(false)
            }
        }
    }

    /// Goes into the struct at the top of a response, to the value of one of
    /// its members; `false` if it has none such. What follows that value is
    /// not read: for the structure that a fault carries.
    ///
    /// # Errors
    ///
    /// The value is no struct, or a member before it cannot be read.
    pub fn enter(&mut self, name: &str) -> Result<bool, Error> {
        let mut seq = self.map(Member::DOCUMENT)?;
        while let Some(own) = self.next_member(&mut seq)? {
            if own == name {
                return Ok(true);
            }
            self.count_item()?;
            self.skip_value()?;
        }
        Ok(false)
    }

    /// Sees to it that the message ends behind its value or last parameter.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn finish(&mut self) -> Result<(), Error> {
        match self.frame {
            Frame::Parameters => {
                if self.parameter()? {
                    let expected = "the end of the call: too many parameters";
                    return Err(self.error(ErrorKind::Unknown, expected));
                }
            }
            Frame::ParametersEnded => {}
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
        self.cursor.skip_between()?;
        if self.cursor.at < self.cursor.text.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the message"));
        }
        Ok(())
    }

    /// The next positional parameter that is not nil.
    pub(super) fn positional(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        loop {
            if !self.parameter()? {
                return Ok(END);
            }
            let ordinal = seq.count;
            if ordinal >= shape.len() {
                let error = self.error(ErrorKind::Unknown, "");
                return Err(error.expected(format!("at most {} parameters", shape.len())));
            }
            seq.count += 1;
            if shape.member(ordinal).kind() == ShapeKind::Document || !self.is_nil()? {
                return Ok(ordinal);
            }
        }
    }
}

/// The text without white space around it.
fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}
