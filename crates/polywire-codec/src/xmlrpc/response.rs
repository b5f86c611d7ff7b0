//! The start of a response: "Response format" in the specification.

use polywire_schema::{Body, Error, Limits};

use super::cursor::Cursor;
use super::decode_envelope::{Reply, Section, text_of};
use super::tags::{RESPONSE_TO_VALUE, UNDECLARED_RESPONSE_TO_VALUE};
use super::{XmlRpcDecoder, XmlRpcProfile};
use crate::checks;

impl<'de> XmlRpcDecoder<'de> {
    /// Reads a response up to its value. Returns its kind, and a decoder for the value.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, is longer than [`Limits::bytes`], or does not begin with a response.
    #[inline(always)]
    pub fn response(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        let text = text_of(body, limits)?;
        Self::begin_response((text, Some(body)), profile, limits)
    }

    /// Like [`XmlRpcDecoder::response`], for text.
    ///
    /// # Errors
    ///
    /// The text is longer than [`Limits::bytes`], or does not begin with a response.
    pub fn response_from_str(
        text: &'de str,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        checks::message_len(text.len(), limits, "XML-RPC")?;
        Self::begin_response((text, None), profile, limits)
    }

    #[inline(always)]
    fn begin_response(
        source: (&'de str, Option<&'de Body>),
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        if source.0.starts_with(RESPONSE_TO_VALUE) {
            let start = RESPONSE_TO_VALUE.len();
            let decoder = Self::new(source, start, Section::Response, profile, limits);
            return Ok((Reply::Result, decoder));
        }
        Self::new(source, 0, Section::Response, profile, limits).slow_begin_response()
    }

    /// Reads the start of a response in any form.
    #[inline(never)]
    fn slow_begin_response(mut self) -> Result<(Reply, Self), Error> {
        let cursor = &mut self.cursor;
        cursor.declaration()?;
        if cursor.skip(UNDECLARED_RESPONSE_TO_VALUE.as_bytes()) {
            return Ok((Reply::Result, self));
        }
        let start = cursor.at;
        cursor.expect_open("methodResponse", "<methodResponse>")?;
        let lenient = self.profile.leniency.missing_params();
        let reply = match cursor.start()? {
            Some(tag) if tag.name == "params" && !tag.empty => {
                if lenient && !self.has_parameter() {
                    self.cursor.at = start;
                    return self.nil_response();
                }
                self.cursor.expect_open("param", "<param>")?;
                Reply::Result
            }
            Some(tag) if tag.name == "fault" && !tag.empty => {
                self.section = Section::Fault;
                Reply::Fault
            }
            Some(tag) if lenient && tag.name == "params" => {
                self.cursor.at = start;
                return self.nil_response();
            }
            Some(tag) if tag.name == "params" => return Err(cursor.empty_tag("<params>")),
            Some(tag) if tag.name == "fault" => return Err(cursor.empty_tag("<fault>")),
            Some(_) => return Err(cursor.wrong_tag("<params> or <fault>")),
            None if lenient => {
                self.cursor.at = start;
                return self.nil_response();
            }
            None => return Err(cursor.unexpected("<params> or <fault>")),
        };
        self.empty_value = !self.cursor.expect_start("value", "<value>")?;
        Ok((reply, self))
    }

    /// Whether the next element is a `<param>` that contains an element. Nothing is read.
    fn has_parameter(&mut self) -> bool {
        let start = self.cursor.at;
        let tag = self.cursor.start();
        let found = matches!(tag, Ok(Some(tag)) if tag.name == "param" && !tag.empty)
            && matches!(self.cursor.start(), Ok(Some(_)));
        self.cursor.at = start;
        found
    }

    /// Reads a response without a value, for the leniency `missing_params`. The returned decoder reads
    /// nil.
    #[cold]
    fn nil_response(mut self) -> Result<(Reply, Self), Error> {
        const NIL: &str = "<methodResponse><params><param><value><nil/></value></param></params>\
            </methodResponse>";
        let cursor = &mut self.cursor;
        cursor.expect_open("methodResponse", "<methodResponse>")?;
        if let Some(tag) = cursor.start()?
            && !tag.empty
        {
            match cursor.start()? {
                Some(tag) if tag.name != "param" => {
                    return Err(cursor.wrong_tag("<param> or </params>"));
                }
                Some(tag) if !tag.empty => cursor.expect_end("param", "</param>")?,
                _ => {}
            }
            cursor.expect_end("params", "</params>")?;
        }
        cursor.expect_end("methodResponse", "</methodResponse>")?;
        self.section = Section::Value;
        self.finish()?;
        let mut decoder = Self {
            cursor: Cursor::new(NIL, self.cursor.max_text, self.profile.leniency),
            section: Section::Response,
            body: None,
            ..self
        };
        decoder.cursor.at = UNDECLARED_RESPONSE_TO_VALUE.len();
        Ok((Reply::Result, decoder))
    }
}
