//! The text of scalars.

use std::borrow::Cow;

use polywire_schema::{Blob, Error, Member, Text, Timestamp, TimestampFormat};
use polywire_text::escape::{self, XmlPlace, XmlReading};
use polywire_text::number::{Integer, decimal_prefix, integer_prefix, parse_f32, parse_f64};
use polywire_text::timestamp::ReadPolicy;
use polywire_text::{Malformed, base64};

use super::XmlDecoder;
use super::cursor::{ATTRIBUTE, CONTENT, UNCHECKED_ROOT};
use crate::keep;

const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

impl<'de> XmlDecoder<'de> {
    /// The text of a scalar of any length, and its offset.
    #[inline]
    fn scalar(&mut self, at: Member<'_>) -> Result<(Cow<'de, str>, usize), Error> {
        let start = self.cursor.at;
        if self.cursor.value_kind == CONTENT {
            return Ok((self.cursor.characters()?, start));
        }
        self.special_scalar(at)
    }

    #[inline(never)]
    fn special_scalar(&mut self, at: Member<'_>) -> Result<(Cow<'de, str>, usize), Error> {
        if self.cursor.value_kind & UNCHECKED_ROOT != 0 {
            self.check_root_name(at)?;
        }
        let start = self.cursor.at;
        match std::mem::replace(&mut self.cursor.value_kind, CONTENT) {
            CONTENT => Ok((self.cursor.characters()?, start)),
            ATTRIBUTE => {
                let place = self.cursor.attribute_value;
                let value = self.cursor.slice(place);
                // Attributes were checked with their tag.
                let value = escape::unescape_xml(value, XmlPlace::Attribute, XmlReading::Strict)
                    .map_err(|malformed| self.cursor.malformed_error(&malformed))?;
                Ok((value, place.start))
            }
            _ => Ok((Cow::Borrowed(""), start)),
        }
    }

    /// The text of a scalar without surrounding white space, and its offset.
    fn trimmed(&mut self, at: Member<'_>) -> Result<(Cow<'de, str>, usize), Error> {
        let (text, start) = self.scalar(at)?;
        let front = text.len() - text.trim_start_matches(SPACE).len();
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(SPACE)),
            Cow::Owned(text) => Cow::Owned(text.trim_matches(SPACE).to_owned()),
        };
        Ok((text, start + front))
    }

    pub(super) fn string(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        let (text, start) = self.scalar(at)?;
        match self.budget.string(text.len()) {
            Ok(()) => Ok(text),
            Err(limit) => {
                self.cursor.at = start;
                Err(self.limit_error(limit))
            }
        }
    }

    #[inline(never)]
    pub(super) fn text_value(&mut self, at: Member<'_>) -> Result<Text, Error> {
        // A short string without references.
        let cursor = &mut self.cursor;
        if cursor.value_kind == CONTENT
            && !cursor.has_cdata_end
            && let Some((text, len, tag)) = Text::xml_prefix(cursor.text, cursor.at)
            && cursor.is_end(tag, cursor.name)
            && self.budget.fits(len)
        {
            cursor.at += len + cursor.name.len + "</>".len();
            return Ok(text);
        }
        self.slow_text(at)
    }

    #[inline(never)]
    fn slow_text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        let text = self.string(at)?;
        Ok(keep::text(self.body, text))
    }

    /// The digits of a big number, which the value stores.
    pub(super) fn digits(&mut self, at: Member<'_>) -> Result<(Text, usize), Error> {
        let (text, start) = self.trimmed(at)?;
        if let Err(limit) = self.budget.string(text.len()) {
            self.cursor.at = start;
            return Err(self.limit_error(limit));
        }
        let text = match text.strip_prefix('+') {
            Some(digits) if !digits.starts_with('-') => Text::from(digits),
            _ => keep::text(self.body, text),
        };
        Ok((text, start))
    }

    #[inline]
    pub(super) fn boolean_value(&mut self, at: Member<'_>) -> Result<bool, Error> {
        if self.cursor.value_kind == CONTENT {
            for (word, value) in [("true", true), ("false", false)] {
                if self.cursor.rest().starts_with(word.as_bytes())
                    && let Some(end) = self
                        .cursor
                        .plain_end(self.cursor.at + word.len(), self.cursor.name)
                {
                    self.cursor.at = end;
                    return Ok(value);
                }
            }
        }
        self.slow_boolean(at)
    }

    #[inline(never)]
    fn slow_boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
        let (text, start) = self.trimmed(at)?;
        match &*text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.invalid_value(start, "true or false")),
        }
    }

    #[inline]
    pub(super) fn integer_value(&mut self, at: Member<'_>) -> Result<i64, Error> {
        if self.cursor.value_kind == CONTENT
            && let Integer::Small(value, len) = integer_prefix(self.cursor.rest())
            && let Some(end) = self
                .cursor
                .plain_end(self.cursor.at + len, self.cursor.name)
        {
            let (least, most) = at.kind().integer_range();
            if (least..=most).contains(&value) {
                self.cursor.at = end;
                return Ok(value);
            }
        }
        self.slow_integer(at)
    }

    #[inline(never)]
    fn slow_integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let (text, start) = self.trimmed(at)?;
        let (least, most) = at.kind().integer_range();
        match text.parse() {
            Ok(value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(self.invalid_value(start, at.kind().describe())),
        }
    }

    pub(super) fn float_value(&mut self, at: Member<'_>) -> Result<f32, Error> {
        let (text, start) = self.trimmed(at)?;
        parse_f32(text.as_bytes()).map_err(|malformed| self.float_error(start, &malformed))
    }

    #[inline]
    pub(super) fn double_value(&mut self, at: Member<'_>) -> Result<f64, Error> {
        if self.cursor.value_kind == CONTENT
            && let Some((value, len)) = decimal_prefix(self.cursor.rest())
            && let Some(end) = self
                .cursor
                .plain_end(self.cursor.at + len, self.cursor.name)
        {
            self.cursor.at = end;
            return Ok(value);
        }
        self.slow_double(at)
    }

    #[inline(never)]
    fn slow_double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        let (text, start) = self.trimmed(at)?;
        parse_f64(text.as_bytes()).map_err(|malformed| self.float_error(start, &malformed))
    }

    #[cold]
    fn float_error(&mut self, start: usize, malformed: &Malformed) -> Error {
        let expected = match malformed.offset {
            0 => malformed.expected,
            _ => "a decimal number",
        };
        self.invalid_value(start, expected)
    }

    pub(super) fn blob_value(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        let (text, start) = self.scalar(at)?;
        base64::STANDARD
            .decode_with_white_space(text.as_bytes())
            .map_err(|malformed| self.invalid_value(start, malformed.expected))
    }

    #[inline]
    pub(super) fn timestamp_value(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let format = at
            .timestamp_format()
            .unwrap_or(self.profile.timestamp_format);
        if format == TimestampFormat::DateTime
            && self.cursor.value_kind == CONTENT
            && let Some((instant, len)) = self.last_date.utc_prefix(self.cursor.rest())
            && let Some(end) = self
                .cursor
                .plain_end(self.cursor.at + len, self.cursor.name)
        {
            self.cursor.at = end;
            return Ok(instant);
        }
        self.slow_timestamp(at, format)
    }

    #[inline(never)]
    fn slow_timestamp(
        &mut self,
        at: Member<'_>,
        format: TimestampFormat,
    ) -> Result<Timestamp, Error> {
        let policy = ReadPolicy::new().utc(self.profile.rules.strict);
        let (text, start) = self.trimmed(at)?;
        let read = match format {
            TimestampFormat::EpochSeconds => Timestamp::parse_epoch_seconds(&text),
            TimestampFormat::DateTime => Timestamp::parse_date_time_with(&*text, policy),
            TimestampFormat::HttpDate => Timestamp::parse_http_date(&text),
        };
        read.map_err(|malformed| {
            let escaped = matches!(text, Cow::Owned(_));
            let offset = if escaped { 0 } else { malformed.offset };
            self.invalid_value(start + offset, malformed.expected)
        })
    }
}
