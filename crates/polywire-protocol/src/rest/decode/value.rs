//! Reading the values of the current member.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, Error, ErrorKind, Event, Member, Schema, Seq, ShapeKind,
    Text, Timestamp, TimestampFormat, Value,
};
use polywire_text::{base64, number};

use super::super::binding::MemberBinding;
use super::super::body::read_without;
use super::super::header::ListItems;
use super::super::{header, timestamp};
use super::HeadDecoder;
use crate::document::Side;

impl<'de> Decoder<'de> for HeadDecoder<'_, 'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if at.is_root() {
            if self.has_repeated_headers {
                self.collect_headers();
            }
            Ok(Seq::default())
        } else {
            Err(self.invalid("no structure"))
        }
    }

    fn member(&mut self, shape: Schema<'_>, _: &mut Seq) -> Result<u32, Error> {
        if self.only_headers_left {
            return self.next_header(shape);
        }
        self.slow_member(shape)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let element = at.element();
        let first = self.header_text.take().map(Cow::Borrowed);
        let first = first.or_else(|| self.value.take());
        let values = first.into_iter().chain(self.more_values.drain(..));
        let items: Vec<_> = if self.binding.is_in_headers() {
            let items_kind = list_items(element, self.binding);
            let mut items = Vec::new();
            for value in values {
                // The values of headers are borrowed. Only those of labels and the query are decoded.
                let Cow::Borrowed(value) = value else {
                    let kind = ErrorKind::Internal;
                    return Err(error_at(self.binding, kind, "a borrowed value"));
                };
                match header::split(value, items_kind) {
                    Ok(split) => items.extend(split),
                    Err(error) => {
                        let kind = ErrorKind::InvalidValue;
                        return Err(error_at(self.binding, kind, error.expected));
                    }
                }
            }
            items
        } else {
            values.collect()
        };
        self.items = items.into_iter();
        Ok(Seq::default())
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        self.value = self.items.next();
        Ok(self.value.is_some())
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq::default())
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        let Some((key, values)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = None;
        self.more_values.clear();
        for value in values {
            self.push(value);
        }
        Ok(Some(key))
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match &*self.take_single()? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.invalid("true or false")),
        }
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let text = self.take_single()?;
        let (min, max) = at.kind().integer_range();
        match number::parse_i64(text.as_bytes()) {
            Ok(value) if (min..=max).contains(&value) && !text.starts_with('+') => Ok(value),
            _ => Err(self.invalid(at.kind().describe())),
        }
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        let text = self.take_single()?;
        number::parse_f32(text.as_bytes()).map_err(|_| self.invalid("a number"))
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        let text = self.take_single()?;
        number::parse_f64(text.as_bytes()).map_err(|_| self.invalid("a number"))
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        let text = self.take_single()?;
        text.parse().map_err(|_| self.invalid("an integer"))
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        let text = self.take_single()?;
        text.parse().map_err(|_| self.invalid("a decimal number"))
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        if let (Some(text), MemberBinding::Header { is_plain: true, .. }) =
            (self.header_text, self.binding)
        {
            self.header_text = None;
            return Ok(Text::from(text));
        }
        match self.str(at)? {
            Cow::Borrowed(text) => Ok(Text::from(text)),
            Cow::Owned(text) => Ok(Text::from(text)),
        }
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        let text = self.take_single()?;
        // In headers, strings with `@mediaType` are encoded in base64.
        if at.media_type().is_some() && matches!(self.binding, MemberBinding::Header { .. }) {
            let decoded = base64::decode(text.as_bytes());
            let decoded = decoded.map_err(|error| self.invalid(error.expected))?;
            let decoded = String::from_utf8(decoded.to_vec());
            return decoded
                .map(Cow::Owned)
                .map_err(|_| self.invalid("UTF-8 in base64"));
        }
        Ok(text)
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        let text = self.take_single()?;
        base64::decode(text.as_bytes()).map_err(|error| self.invalid(error.expected))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let text = self.take_single()?;
        let format = timestamp::format_of(at, self.binding.location());
        // Servers reject timestamps with an offset from UTC.
        let utc = self.bindings.reader() == Side::Server;
        let parsed = timestamp::parse(&text, format, utc);
        parsed.map_err(|error| self.invalid(error.expected))
    }

    fn any(&mut self) -> Result<Event, Error> {
        Ok(Event::Scalar(Value::String(Text::from(
            self.take_single()?,
        ))))
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.bindings.reader().defaults().fills_default(at)
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        // Clients also reject an initial message without a required member: an event stream begins
        // with it, and the official cases demand it.
        match self.bindings.has_event_stream {
            true => read_without(at, Side::Server),
            false => read_without(at, self.bindings.reader()),
        }
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        error_at(self.binding, kind, expected)
    }
}

/// Returns what the items of a list in a header are.
fn list_items(element: Member<'_>, binding: &MemberBinding) -> ListItems {
    match element.kind() {
        ShapeKind::String | ShapeKind::Enum => ListItems::Strings,
        ShapeKind::Timestamp
            if timestamp::format_of(element, binding.location()) == TimestampFormat::HttpDate =>
        {
            ListItems::HttpDates
        }
        _ => ListItems::Other,
    }
}

#[cold]
fn error_at(binding: &MemberBinding, kind: ErrorKind, expected: &'static str) -> Error {
    let location = match binding {
        MemberBinding::Header { name, .. } | MemberBinding::InvalidHeader(name) => {
            format!("header {name}")
        }
        MemberBinding::Prefix { name, .. } => format!("headers with the prefix {name}"),
        MemberBinding::Label { name, .. } => format!("label {name}"),
        MemberBinding::Query { name, .. } => format!("query parameter {name}"),
        MemberBinding::QueryParams => "the query".to_owned(),
        MemberBinding::StatusCode => "the status".to_owned(),
        MemberBinding::RawPayload | MemberBinding::Host | MemberBinding::Document => String::new(),
    };
    let error = Error::new(kind).in_format("HTTP").expected(expected);
    error.at_path(location)
}
