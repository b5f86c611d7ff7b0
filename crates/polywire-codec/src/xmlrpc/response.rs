//! The beginning of a response.

use polywire_schema::{Body, Error, Limits};

use super::cursor::Cursor;
use super::frame::{Frame, Reply, text_of};
use super::{XmlRpcDecoder, XmlRpcProfile};
use crate::checks;

impl<'de> XmlRpcDecoder<'de> {
    /// Begins to read a response: whether it is a result or a fault, and a
    /// reader that stands at its value.
    ///
    /// # Errors
    ///
    /// The body is no response, or beyond the limits.
    #[inline(always)]
    pub fn response(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        let text = text_of(body, limits)?;
        Self::begin_response((text, Some(body)), profile, limits)
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
        checks::message_len(text.len(), limits, "XML-RPC")?;
        Self::begin_response((text, None), profile, limits)
    }

    #[inline(always)]
    pub(super) fn begin_response(
        source: (&'de str, Option<&'de Body>),
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        const USUAL: &str = "<?xml version=\"1.0\"?><methodResponse><params><param><value>";

        if source.0.starts_with(USUAL) {
            let reader = Self::new(source, USUAL.len(), Frame::Response, profile, limits);
            return Ok((Reply::Result, reader));
        }
        Self::new(source, 0, Frame::Response, profile, limits).begin_spelled_response()
    }

    #[inline(never)]
    pub(super) fn begin_spelled_response(mut self) -> Result<(Reply, Self), Error> {
        let cursor = &mut self.cursor;
        cursor.declaration()?;
        if cursor.skip(b"<methodResponse><params><param><value>") {
            return Ok((Reply::Result, self));
        }
        let start = cursor.at;
        cursor.expect_open("methodResponse", "<methodResponse>")?;
        let lenient = self.profile.leniency.missing_params();
        let reply = match cursor.start()? {
            Some(tag) if tag.name == "params" && !tag.empty => {
                if lenient && !self.has_parameter() {
                    self.cursor.at = start;
                    return self.nothing();
                }
                self.cursor.expect_open("param", "<param>")?;
                Reply::Result
            }
            Some(tag) if tag.name == "fault" && !tag.empty => {
                self.frame = Frame::Fault;
                Reply::Fault
            }
            Some(tag) if lenient && tag.name == "params" => {
                self.cursor.at = start;
                return self.nothing();
            }
            Some(tag) if tag.name == "params" => return Err(cursor.empty_tag("<params>")),
            Some(tag) if tag.name == "fault" => return Err(cursor.empty_tag("<fault>")),
            Some(_) => return Err(cursor.wrong_tag("<params> or <fault>")),
            None if lenient => {
                self.cursor.at = start;
                return self.nothing();
            }
            None => return Err(cursor.unexpected("<params> or <fault>")),
        };
        self.empty_value = !self.cursor.expect_start("value", "<value>")?;
        Ok((reply, self))
    }

    /// Whether a parameter with something in it comes next.
    pub(super) fn has_parameter(&mut self) -> bool {
        let start = self.cursor.at;
        let tag = self.cursor.start();
        let found = matches!(tag, Ok(Some(tag)) if tag.name == "param" && !tag.empty)
            && matches!(self.cursor.start(), Ok(Some(_)));
        self.cursor.at = start;
        found
    }

    /// Reads a response without a value, as nil.
    #[cold]
    pub(super) fn nothing(mut self) -> Result<(Reply, Self), Error> {
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
        self.frame = Frame::Value;
        self.finish()?;
        let mut decoder = Self {
            cursor: Cursor::new(NIL, self.cursor.longest, self.profile.leniency),
            frame: Frame::Response,
            body: None,
            ..self
        };
        let len = b"<methodResponse><params><param><value>".len();
        decoder.cursor.at = len;
        Ok((Reply::Result, decoder))
    }
}
