//! Parsing that the messages of both directions share.

use std::borrow::Cow;

use polywire_text::hex::{self, Case};
use polywire_text::utf8;

use super::{MessageLimits, SubscriptionId};
use crate::json::Reader;
use crate::{Error, EventRef, Filter, FilterLimits, Profile, Reason, event, filter};

/// A cursor over the items of a message, which is an array that begins with the message type.
pub(super) struct Items<'a, 'l> {
    pub(super) reader: Reader<'a>,
    limits: &'l MessageLimits,
    /// The remaining limits on filters.
    filter_limits: FilterLimits,
    /// The offset of the message type.
    type_at: usize,
}

impl<'a, 'l> Items<'a, 'l> {
    /// Reads the message type, and returns it with the cursor after it.
    pub(super) fn begin(
        json: &'a [u8],
        profile: Profile,
        limits: &'l MessageLimits,
    ) -> Result<(Cow<'a, str>, Self), Error> {
        let most = limits.bytes.min(u32::MAX as usize);
        if json.len() > most {
            return Err(Error::new(Reason::TooManyBytes, most));
        }
        let text =
            utf8::validate(json).map_err(|error| Error::new(Reason::NotUtf8, error.offset))?;
        let mut reader = Reader::new(text, profile);
        reader.skip_space();
        if !reader.take(b'[') {
            return Err(reader.wrong_type());
        }
        reader.skip_space();
        let type_at = reader.at();
        if reader.peek() == Some(b']') {
            return Err(reader.error(Reason::UnknownMessage));
        }
        let message_type = reader.string()?.decode();
        let items = Self {
            reader,
            limits,
            filter_limits: limits.filter,
            type_at,
        };
        Ok((message_type, items))
    }

    pub(super) fn unknown(&self) -> Error {
        Error::new(Reason::UnknownMessage, self.type_at)
    }

    /// Moves the cursor to the next item. Returns `false` after the last one.
    fn advance(&mut self) -> Result<bool, Error> {
        self.reader.next_item(b']')
    }

    /// Moves the cursor to the next item, which is required.
    pub(super) fn next(&mut self) -> Result<(), Error> {
        if self.advance()? {
            return Ok(());
        }
        Err(self.reader.error(Reason::Missing))
    }

    /// Reads the end of the message.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.reader.skip_space();
        let at = self.reader.at();
        if self.advance()? {
            return Err(Error::new(Reason::ExtraItem, at));
        }
        self.reader.end()
    }

    pub(super) fn event(&mut self) -> Result<EventRef<'a>, Error> {
        self.next()?;
        let start = self.reader.at();
        let event = event::read(&mut self.reader, &self.limits.event)?;
        if event.as_json().len() > self.limits.event.bytes {
            let at = start + self.limits.event.bytes;
            return Err(Error::new(Reason::TooManyBytes, at));
        }
        Ok(event)
    }

    pub(super) fn subscription(&mut self) -> Result<SubscriptionId<'a>, Error> {
        self.next()?;
        let start = self.reader.at();
        let id = self.reader.string()?.decode();
        SubscriptionId::new(id).map_err(|error| error.offset_by(start))
    }

    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, Error> {
        self.next()?;
        Ok(self.reader.string()?.decode())
    }

    pub(super) fn filter(&mut self) -> Result<Filter, Error> {
        self.next()?;
        filter::read(&mut self.reader, &mut self.filter_limits)
    }

    /// Reads one or more filters and the end of the message.
    pub(super) fn filters(&mut self) -> Result<Vec<Filter>, Error> {
        let mut filters = Vec::new();
        while self.advance()? {
            if filters.len() == self.limits.filter.filters {
                return Err(self.reader.error(Reason::TooManyItems));
            }
            filters.push(filter::read(&mut self.reader, &mut self.filter_limits)?);
        }
        if filters.is_empty() {
            return Err(self.reader.error(Reason::Missing));
        }
        self.reader.end()?;
        Ok(filters)
    }

    /// Reads a string of hexadecimal digits. NIP-77 does not specify their case.
    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        self.next()?;
        let start = self.reader.at();
        let raw = self.reader.string()?;
        let digits = raw.decode();
        let error = |reason, at| Error::new(reason, start + raw.offset(at));
        let mut bytes = Vec::with_capacity(digits.len() / 2);
        match hex::push_decoded(&mut bytes, digits.as_bytes(), Case::Any) {
            Ok(()) => Ok(bytes),
            Err(_) if digits.len() % 2 == 1 => Err(error(Reason::HexLength, 0)),
            Err(malformed) => Err(error(Reason::NotHex, malformed.offset)),
        }
    }

    /// Reads an optional number and the end of the message.
    pub(super) fn optional_number(&mut self) -> Result<Option<u64>, Error> {
        let number = match self.advance()? {
            false => None,
            true => {
                let (number, _) = self.reader.unsigned(u64::MAX)?;
                self.reader.skip_space();
                if self.advance()? {
                    return Err(self.reader.error(Reason::ExtraItem));
                }
                Some(number)
            }
        };
        self.reader.end()?;
        Ok(number)
    }
}
