//! Parsing of filters.

use polywire_text::{Text, utf8};

use super::{Filter, FilterLimits, TagLetter};
use crate::json::{RawString, Reader};
use crate::{Error, EventId, Member, Profile, PublicKey, Reason};

/// Parses text that consists of one filter.
pub(super) fn filter(
    json: &[u8],
    profile: Profile,
    limits: &FilterLimits,
) -> Result<Filter, Error> {
    let text = utf8::validate(json).map_err(|error| Error::new(Reason::NotUtf8, error.offset))?;
    let mut reader = Reader::new(text, profile);
    reader.skip_space();
    let mut remaining = *limits;
    let filter = read(&mut reader, &mut remaining)?;
    reader.end()?;
    Ok(filter)
}

/// Reads a filter at the cursor. Subtracts its number of items from `limits.items`, which is the
/// limit for the whole message.
pub(crate) fn read(reader: &mut Reader<'_>, limits: &mut FilterLimits) -> Result<Filter, Error> {
    if !reader.take(b'{') {
        return Err(reader.wrong_type());
    }
    reader.skip_space();
    let mut filter = Filter::new();
    let mut more = !reader.take(b'}');
    while more {
        let key_at = reader.at();
        let key = reader.key()?.decode();
        let member = match key.as_bytes() {
            b"ids" => Member::Ids,
            b"authors" => Member::Authors,
            b"kinds" => Member::Kinds,
            b"since" => Member::Since,
            b"until" => Member::Until,
            b"limit" => Member::Limit,
            b"search" => Member::Search,
            [b'#', ..] => Member::Tag,
            _ => return Err(Error::new(Reason::UnknownMember, key_at)),
        };
        let result = match (member, key.as_bytes()) {
            (Member::Tag, &[_, letter]) => filter.read_tag(reader, letter, key_at, limits),
            (Member::Tag, _) => Err(Error::new(Reason::TagName, key_at)),
            (member, _) => filter.read_member(reader, member, key_at, limits),
        };
        result.map_err(|error| error.in_member(member))?;
        more = reader.next_item(b'}')?;
    }
    Ok(filter)
}

impl Filter {
    fn read_member(
        &mut self,
        reader: &mut Reader<'_>,
        member: Member,
        key_at: usize,
        limits: &mut FilterLimits,
    ) -> Result<(), Error> {
        let duplicate = match member {
            Member::Ids => self.ids.is_some(),
            Member::Authors => self.authors.is_some(),
            Member::Kinds => self.kinds.is_some(),
            Member::Since => self.since.is_some(),
            Member::Until => self.until.is_some(),
            Member::Limit => self.limit.is_some(),
            _ => self.search.is_some(),
        };
        if duplicate && !reader.profile().duplicate_keys {
            return Err(Error::new(Reason::DuplicateKey, key_at));
        }
        match member {
            Member::Ids => {
                let ids = list(reader, limits, |reader| {
                    key(reader).map(EventId::from_bytes)
                })?;
                self.ids = Some(ids);
            }
            Member::Authors => {
                let authors = list(reader, limits, |reader| {
                    key(reader).map(PublicKey::from_bytes)
                })?;
                self.authors = Some(authors);
            }
            Member::Kinds => {
                let kinds = list(reader, limits, |reader| {
                    // The cast is lossless: the maximum is `u16::MAX`.
                    reader
                        .unsigned(u64::from(u16::MAX))
                        .map(|(kind, _)| kind as u16)
                })?;
                self.kinds = Some(kinds);
            }
            Member::Since => self.since = Some(reader.unsigned(Self::MAX_NUMBER)?.0),
            Member::Until => self.until = Some(reader.unsigned(Self::MAX_NUMBER)?.0),
            Member::Limit => self.limit = Some(reader.unsigned(Self::MAX_NUMBER)?.0),
            _ => self.search = Some(text(reader, limits.search_bytes)?.1),
        }
        Ok(())
    }

    fn read_tag(
        &mut self,
        reader: &mut Reader<'_>,
        letter: u8,
        key_at: usize,
        limits: &mut FilterLimits,
    ) -> Result<(), Error> {
        let Some(letter) = TagLetter::from_byte(letter) else {
            return Err(Error::new(Reason::TagName, key_at));
        };
        if self.tag(letter).is_some() {
            if !reader.profile().duplicate_keys {
                return Err(Error::new(Reason::DuplicateKey, key_at));
            }
        } else if self.tags.len() == limits.tag_conditions {
            return Err(Error::new(Reason::TooManyItems, key_at));
        }
        let tag_value_bytes = limits.tag_value_bytes;
        let values = list(reader, limits, |reader| {
            let start = reader.at();
            let (raw, value) = text(reader, tag_value_bytes)?;
            let error = |(reason, at)| Error::new(reason, start + raw.offset(at));
            letter.check(&value).map_err(error)?;
            Ok(value)
        })?;
        self.set_tag(letter, values);
        Ok(())
    }
}

/// Reads an array, and subtracts its number of items from `limits.items`.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    limits: &mut FilterLimits,
    mut item: impl FnMut(&mut Reader<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    if !reader.take(b'[') {
        return Err(reader.wrong_type());
    }
    reader.skip_space();
    let mut list = Vec::new();
    let mut more = !reader.take(b']');
    while more {
        limits.items = match limits.items.checked_sub(1) {
            Some(items) => items,
            None => return Err(reader.error(Reason::TooManyItems)),
        };
        list.push(item(reader)?);
        more = reader.next_item(b']')?;
    }
    Ok(list)
}

/// Reads 64 lower-case hexadecimal digits.
///
/// Upper case is an error in every profile: matching compares digits exactly (NIP-01).
fn key(reader: &mut Reader<'_>) -> Result<[u8; 32], Error> {
    reader.lower_hex()
}

/// Reads a string of at most `max` bytes after decoding.
fn text<'a>(reader: &mut Reader<'a>, max: usize) -> Result<(RawString<'a>, Text), Error> {
    let start = reader.at();
    let raw = reader.string()?;
    let text = raw.decode();
    if text.len() > max {
        return Err(Error::new(Reason::TooManyBytes, start));
    }
    Ok((raw, Text::from(text)))
}
