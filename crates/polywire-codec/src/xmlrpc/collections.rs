//! Arrays and structs: their tags, items and members.

use std::borrow::Cow;

use polywire_schema::{Error, Event, Seq};

use super::XmlRpcDecoder;
use super::leniency::Duplicates;
use super::tags::{BEGIN_ARRAY, END_ARRAY, END_STRUCT, FIRST_NAME, NEXT_NAME};
use super::value::Type;
use crate::xml_tokens::Start;

impl Start<'_> {
    /// Which end tags of an array or struct with this start tag remain: its [`Seq::mark`].
    pub(super) fn remaining_ends(&self) -> u64 {
        match self.empty {
            true => ONLY_VALUE_END,
            false if self.name.starts_with("ex:") => PREFIXED,
            false => ALL_ENDS,
        }
    }
}

// Values of `Seq::mark`: which end tags of an array or struct remain.

/// All end tags.
pub(super) const ALL_ENDS: u64 = 0;
/// After `<array><data/>`, or without `<data>`: all but `</data>`.
pub(super) const NO_DATA_END: u64 = 1;
/// After `<array/>` or `<struct/>`: only `</value>`.
pub(super) const ONLY_VALUE_END: u64 = 2;
/// A flag for `<ex:array>` and `<ex:struct>`.
pub(super) const PREFIXED: u64 = 4;

pub(super) const NAME_TO_VALUE: &[u8; 14] = b"</name><value>";

impl<'de> XmlRpcDecoder<'de> {
    /// Enters a level of nesting.
    #[inline]
    pub(super) fn enter_collection(&mut self) -> Result<(), Error> {
        self.budget.enter().map_err(|limit| self.limit_error(limit))
    }

    /// Reads the end tags of an array or struct, and its `</value>`.
    fn end_collection(&mut self, tags: &[&'static str]) -> Result<(), Error> {
        for tag in tags {
            self.cursor
                .expect_end(tag, "the end tag of the array or struct")?;
        }
        self.end_value()?;
        self.budget.leave();
        Ok(())
    }

    /// Begins an array after its start tag.
    pub(super) fn begin_array(&mut self, ends: u64) -> Result<Seq, Error> {
        self.enter_collection()?;
        self.begin_data(ends)
    }

    /// Like [`begin_array`](Self::begin_array), but does not enter a level of nesting.
    fn begin_data(&mut self, ends: u64) -> Result<Seq, Error> {
        let has_data = ends != ONLY_VALUE_END
            && !self.cursor.is_at_end()?
            && self.cursor.expect_start("data", "<data>")?;
        let ends = match has_data || ends == ONLY_VALUE_END {
            true => ends,
            false => ends | NO_DATA_END,
        };
        Ok(Seq {
            mark: ends,
            ..Seq::default()
        })
    }

    /// Reads the start tag of an array, and begins it. `expected` is for the error of another type.
    #[inline(always)]
    pub(super) fn read_array_start(
        &mut self,
        expected: impl FnOnce() -> &'static str,
    ) -> Result<Seq, Error> {
        if !self.empty_value && self.cursor.skip(BEGIN_ARRAY) {
            self.enter_collection()?;
            return Ok(Seq::default());
        }
        self.slow_array_start(expected)
    }

    /// [`Self::read_array_start`] for a tag in any form.
    #[inline(never)]
    fn slow_array_start(&mut self, expected: impl FnOnce() -> &'static str) -> Result<Seq, Error> {
        let start = self.cursor.at;
        match self.value_type()? {
            (Type::Array, tag) => self.begin_array(tag.remaining_ends()),
            _ => Err(self.wrong_type(start, expected())),
        }
    }

    /// Begins a struct after the start tag of an empty array, if the leniency `array_structs` is on.
    /// Otherwise returns `None`, and the cursor is somewhere in the array.
    #[inline(never)]
    pub(super) fn begin_struct_from_empty_array(&mut self, tag: Start<'_>) -> Option<Seq> {
        if !self.cursor.dialect.array_structs() {
            return None;
        }
        let budget = self.budget.mark();
        match self.read_empty_array(tag) {
            // Only `</value>` remains.
            Ok(()) => Some(Seq {
                mark: ONLY_VALUE_END,
                ..Seq::default()
            }),
            Err(_) => {
                self.budget.back_to(budget);
                None
            }
        }
    }

    /// Reads an empty array after its start tag, up to its end tag.
    fn read_empty_array(&mut self, tag: Start<'_>) -> Result<(), Error> {
        const EXPECTED: &str = "the end tag of an empty array";

        let array = self.begin_array(tag.remaining_ends())?;
        if array.mark == ONLY_VALUE_END {
            return Ok(());
        }
        if array.mark & NO_DATA_END == 0 {
            self.cursor.expect_end("data", EXPECTED)?;
        }
        self.cursor.expect_end(tag.name, EXPECTED)
    }

    /// Begins a struct after its start tag. Rejects other types. `start` is the offset of the value.
    #[inline]
    pub(super) fn begin_struct_value(
        &mut self,
        (kind, tag): (Type, Start<'_>),
        start: usize,
        expected: &'static str,
    ) -> Result<Seq, Error> {
        if kind == Type::Struct {
            return self.begin_struct(tag.remaining_ends());
        }
        let empty = match kind {
            Type::Array => self.begin_struct_from_empty_array(tag),
            _ => None,
        };
        empty.ok_or_else(|| self.wrong_type(start, expected))
    }

    /// Reads up to the next item of an array. `false` after the end of the array.
    #[inline(always)]
    pub(super) fn next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.mark == ALL_ENDS && self.cursor.skip(b"<value>") {
            seq.count += 1;
            self.count_item()?;
            return Ok(true);
        }
        self.slow_next_item(seq)
    }

    /// [`Self::next_item`] for tags in any form, and for the end of the array.
    #[inline(never)]
    fn slow_next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.mark == ALL_ENDS && self.cursor.skip(END_ARRAY) {
            self.budget.leave();
            return Ok(false);
        }
        let end = match seq.mark & PREFIXED {
            0 => "array",
            _ => "ex:array",
        };
        match seq.mark & !PREFIXED {
            ALL_ENDS => {}
            ONLY_VALUE_END => {
                self.end_collection(&[])?;
                return Ok(false);
            }
            _ => {
                self.end_collection(&[end])?;
                return Ok(false);
            }
        }
        match self.cursor.start()? {
            Some(start) if start.name == "value" => self.empty_value = start.empty,
            Some(_) => return Err(self.cursor.wrong_tag("<value> or </data>")),
            None => {
                self.end_collection(&["data", end])?;
                return Ok(false);
            }
        }
        seq.count += 1;
        self.count_item()?;
        Ok(true)
    }

    /// Begins a struct after its start tag.
    #[inline]
    pub(super) fn begin_struct(&mut self, ends: u64) -> Result<Seq, Error> {
        self.enter_collection()?;
        self.begin_members(ends)
    }

    /// Like [`begin_struct`](Self::begin_struct), but does not enter a level of nesting.
    #[inline]
    fn begin_members(&mut self, ends: u64) -> Result<Seq, Error> {
        if ends != ONLY_VALUE_END && self.profile.duplicates != Duplicates::Reject {
            self.find_ignored_members(ends)?;
        }
        Ok(Seq {
            mark: ends,
            ..Seq::default()
        })
    }

    /// Reads the name of the next member of a struct, up to its value. `None` after the end of the
    /// struct.
    #[inline]
    pub(super) fn next_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if let Some(name) = self.plain_member(seq) {
            return Ok(Some(Cow::Borrowed(name)));
        }
        self.slow_next_member(seq)
    }

    /// Reads the name of the next member in plain form, up to its value. Returns `None`, with nothing
    /// read, for anything else.
    #[inline(always)]
    pub(super) fn plain_member(&mut self, seq: &mut Seq) -> Option<&'de str> {
        if !self.is_plain(seq) {
            return None;
        }
        let name = match seq.count {
            0 => self.plain_first_member()?,
            _ => self.plain_following_member()?,
        };
        seq.count += 1;
        Some(name)
    }

    /// Whether members can be read in plain form: no end tag is missing or has a prefix, and no member
    /// is ignored as a duplicate.
    #[inline(always)]
    pub(super) fn is_plain(&self, seq: &Seq) -> bool {
        seq.mark == ALL_ENDS && self.profile.duplicates == Duplicates::Reject
    }

    /// Reads the name of the first member in plain form.
    #[inline(never)]
    fn plain_first_member(&mut self) -> Option<&'de str> {
        self.cursor.text_between(0, FIRST_NAME, NAME_TO_VALUE)
    }

    /// Reads the end tag of a member and the name of the next one, in plain form.
    #[inline(always)]
    fn plain_following_member(&mut self) -> Option<&'de str> {
        self.cursor.text_between(0, NEXT_NAME, NAME_TO_VALUE)
    }

    /// Reads the end tags of the last member and of the struct in plain form. Returns `false`, with
    /// nothing read, for anything else.
    #[inline(always)]
    pub(super) fn plain_struct_end(&mut self, seq: &Seq) -> bool {
        let ended = seq.count > 0 && seq.mark == ALL_ENDS && self.cursor.skip(END_STRUCT);
        if ended {
            self.budget.leave();
        }
        ended
    }

    /// The offset of the name of the next member, if the tags before it are in plain form.
    #[inline(always)]
    pub(super) fn plain_name_start(&self, seq: &Seq) -> Option<usize> {
        let rest = self.cursor.rest();
        if !self.is_plain(seq) {
            return None;
        }
        let len = match seq.count {
            0 if rest.starts_with(FIRST_NAME) => FIRST_NAME.len(),
            0 => return None,
            _ if rest.starts_with(NEXT_NAME) => NEXT_NAME.len(),
            _ => return None,
        };
        Some(self.cursor.at + len)
    }

    /// [`Self::next_member`] for tags in any form, and for the end of the struct. Skips members that
    /// are ignored as duplicates.
    #[inline(never)]
    fn slow_next_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if self.plain_struct_end(seq) {
            return Ok(None);
        }
        loop {
            let start = self.cursor.at;
            let Some(name) = self.read_member(seq)? else {
                return Ok(None);
            };
            if !self.is_ignored(start) {
                return Ok(Some(name));
            }
            self.count_item()?;
            self.skip_value()?;
        }
    }

    /// Reads the name of the next member, also if the member is ignored.
    fn read_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if seq.count > 0 {
            self.end_member()?;
        }
        if seq.mark == ONLY_VALUE_END {
            self.end_collection(&[])?;
            return Ok(None);
        }
        match self.cursor.start()? {
            Some(start) if start.name == "member" && !start.empty => {}
            Some(start) if start.name == "member" => return Err(self.cursor.empty_tag("<member>")),
            Some(_) => return Err(self.cursor.wrong_tag("<member> or </struct>")),
            None => {
                let end = match seq.mark {
                    PREFIXED => "ex:struct",
                    _ => "struct",
                };
                self.end_collection(&[end])?;
                return Ok(None);
            }
        }
        seq.count += 1;
        let name = if self.cursor.expect_start("name", "<name>")? {
            let name = self.cursor.characters()?;
            self.cursor.expect_end("name", "</name>")?;
            name
        } else {
            Cow::Borrowed("")
        };
        self.empty_value = !self.cursor.expect_start("value", "<value>")?;
        Ok(Some(name))
    }

    /// Reads `</member>`.
    #[inline]
    fn end_member(&mut self) -> Result<(), Error> {
        if self.cursor.skip(b"</member>") {
            return Ok(());
        }
        self.cursor.expect_end("member", "</member>")
    }

    /// Like [`any`](polywire_schema::Decoder::any), for a value that the caller skips: an array or
    /// struct enters a level of nesting, but does not count as an item.
    pub(super) fn begin_skipped_value(&mut self) -> Result<Event, Error> {
        let (kind, tag) = self.value_type()?;
        if !matches!(kind, Type::Array | Type::Struct) {
            return self.scalar_value(kind, tag).map(Event::Scalar);
        }
        self.budget
            .enter_uncounted()
            .map_err(|limit| self.limit_error(limit))?;
        match kind {
            Type::Array => self.begin_data(tag.remaining_ends()).map(Event::List),
            _ => self.begin_members(tag.remaining_ends()).map(Event::Map),
        }
    }

    /// Skips a value, which must be valid.
    pub(super) fn skip_value(&mut self) -> Result<(), Error> {
        match self.begin_skipped_value()? {
            Event::List(mut seq) => {
                while self.next_item(&mut seq)? {
                    self.skip_value()?;
                }
            }
            Event::Map(mut seq) => {
                while self.next_member(&mut seq)?.is_some() {
                    self.count_item()?;
                    self.skip_value()?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}
