//! Arrays and structs, item by item.

use std::borrow::Cow;

use polywire_schema::{Error, Event, Seq};

use super::XmlRpcDecoder;
use super::leniency::Duplicates;
use super::value::Type;
use crate::xml_tokens::Start;

impl Start<'_> {
    /// In [`Seq::mark`], the end tags of an array or struct that begins with this tag.
    pub(super) fn mark(&self) -> u64 {
        match self.empty {
            true => CLOSED,
            false if self.name.starts_with("ex:") => PREFIXED,
            false => OPEN,
        }
    }
}

/// In [`Seq::mark`], which end tags an array or struct has left.
pub(super) const OPEN: u64 = 0;
/// `<array><data/>`.
pub(super) const WITHOUT_DATA: u64 = 1;
/// `<array/>` or `<struct/>`.
pub(super) const CLOSED: u64 = 2;
/// `<ex:array>` or `<ex:struct>`, beside the others.
pub(super) const PREFIXED: u64 = 4;

pub(super) const FIRST_MEMBER: &[u8; 14] = b"<member><name>";
pub(super) const NEXT_MEMBER: &[u8; 23] = b"</member><member><name>";
pub(super) const BEHIND_NAME: &[u8; 14] = b"</name><value>";
const END_STRUCT: &[u8; 26] = b"</member></struct></value>";
const END_ARRAY: &[u8; 23] = b"</data></array></value>";

impl<'de> XmlRpcDecoder<'de> {
    #[inline]
    pub(super) fn deeper(&mut self) -> Result<(), Error> {
        self.budget.enter().map_err(|limit| self.limit_error(limit))
    }

    pub(super) fn end_collection(&mut self, tags: &[&'static str]) -> Result<(), Error> {
        for tag in tags {
            self.cursor
                .expect_end(tag, "the end tag of the array or struct")?;
        }
        self.end_value()?;
        self.budget.leave();
        Ok(())
    }

    /// Begins an array whose start tag has been read.
    pub(super) fn begin_array(&mut self, mark: u64) -> Result<Seq, Error> {
        self.deeper()?;
        self.begin_data(mark)
    }

    /// Begins the items of an array whose start tag has been read.
    fn begin_data(&mut self, mark: u64) -> Result<Seq, Error> {
        let has_data = mark != CLOSED
            && !self.cursor.is_at_end()?
            && self.cursor.expect_start("data", "<data>")?;
        let mark = match has_data || mark == CLOSED {
            true => mark,
            false => mark | WITHOUT_DATA,
        };
        Ok(Seq {
            mark,
            ..Seq::default()
        })
    }

    /// Begins an array, whose start tag comes next.
    #[inline(always)]
    pub(super) fn begin_any_array(&mut self) -> Result<Seq, Error> {
        if !self.empty_value && self.cursor.skip(b"<array><data>") {
            self.deeper()?;
            return Ok(Seq::default());
        }
        self.begin_spelled_array()
    }

    #[inline(never)]
    fn begin_spelled_array(&mut self) -> Result<Seq, Error> {
        let start = self.cursor.at;
        match self.value_type()? {
            (Type::Array, tag) => self.begin_array(tag.mark()),
            _ => Err(self.wrong_type(start, "an array")),
        }
    }

    /// Begins a struct that comes as an empty array, whose start tag has been read, by the
    /// leniency. `None` if it does not; the cursor is then somewhere within the array.
    #[inline(never)]
    pub(super) fn begin_empty_array(&mut self, tag: Start<'_>) -> Option<Seq> {
        if !self.cursor.dialect.array_structs() {
            return None;
        }
        let budget = self.budget.mark();
        match self.read_empty_array(tag) {
            // Nothing of it is left but the end of the value.
            Ok(()) => Some(Seq {
                mark: CLOSED,
                ..Seq::default()
            }),
            Err(_) => {
                self.budget.back_to(budget);
                None
            }
        }
    }

    fn read_empty_array(&mut self, tag: Start<'_>) -> Result<(), Error> {
        const EXPECTED: &str = "the end tag of an empty array";

        let array = self.begin_array(tag.mark())?;
        if array.mark == CLOSED {
            return Ok(());
        }
        if array.mark & WITHOUT_DATA == 0 {
            self.cursor.expect_end("data", EXPECTED)?;
        }
        self.cursor.expect_end(tag.name, EXPECTED)
    }

    /// Begins the struct whose type and start tag have been read. `start` is where its
    /// value begins.
    #[inline]
    pub(super) fn begin_struct_of(
        &mut self,
        (kind, tag): (Type, Start<'_>),
        start: usize,
        expected: &'static str,
    ) -> Result<Seq, Error> {
        if kind == Type::Struct {
            return self.begin_struct(tag.mark());
        }
        let empty = match kind {
            Type::Array => self.begin_empty_array(tag),
            _ => None,
        };
        empty.ok_or_else(|| self.wrong_type(start, expected))
    }

    /// Goes to the next item of an array.
    #[inline(always)]
    pub(super) fn next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.mark == OPEN && self.cursor.skip(b"<value>") {
            seq.count += 1;
            self.count_item()?;
            return Ok(true);
        }
        self.any_item(seq)
    }

    /// As [`Self::next_item`], however it is spelled.
    #[inline(never)]
    fn any_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.mark == OPEN && self.cursor.skip(END_ARRAY) {
            self.budget.leave();
            return Ok(false);
        }
        let end = match seq.mark & PREFIXED {
            0 => "array",
            _ => "ex:array",
        };
        match seq.mark & !PREFIXED {
            OPEN => {}
            CLOSED => {
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

    /// Begins a struct whose start tag has been read.
    #[inline]
    pub(super) fn begin_struct(&mut self, mark: u64) -> Result<Seq, Error> {
        self.deeper()?;
        self.begin_members(mark)
    }

    /// Begins the members of a struct whose start tag has been read.
    #[inline]
    fn begin_members(&mut self, mark: u64) -> Result<Seq, Error> {
        if mark != CLOSED && self.profile.duplicates != Duplicates::Refuse {
            self.look_for_duplicates(mark)?;
        }
        Ok(Seq {
            mark,
            ..Seq::default()
        })
    }

    /// Goes to the next member of a struct and reads up to its value's tag.
    #[inline]
    pub(super) fn next_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if let Some(name) = self.plain_member(seq) {
            return Ok(Some(Cow::Borrowed(name)));
        }
        self.any_member(seq)
    }

    /// The name of the next member, if all is spelled in the usual way; the cursor
    /// then stands at its value.
    #[inline(always)]
    pub(super) fn plain_member(&mut self, seq: &mut Seq) -> Option<&'de str> {
        if !self.is_plain(seq) {
            return None;
        }
        let name = match seq.count {
            0 => self.first_member()?,
            _ => self.following_member()?,
        };
        seq.count += 1;
        Some(name)
    }

    /// Whether nothing about the members of a struct is to be looked at more closely.
    #[inline(always)]
    pub(super) fn is_plain(&self, seq: &Seq) -> bool {
        seq.mark == OPEN && self.profile.duplicates == Duplicates::Refuse
    }

    /// The name of a struct's first member, spelled in the usual way.
    #[inline(never)]
    pub(super) fn first_member(&mut self) -> Option<&'de str> {
        self.cursor.text_between(0, FIRST_MEMBER, BEHIND_NAME)
    }

    /// The name of another member, spelled in the usual way.
    #[inline(always)]
    pub(super) fn following_member(&mut self) -> Option<&'de str> {
        self.cursor.text_between(0, NEXT_MEMBER, BEHIND_NAME)
    }

    /// Whether the struct ends here, spelled in the usual way; then all of its end is
    /// skipped.
    #[inline(always)]
    pub(super) fn plain_struct_end(&mut self, seq: &Seq) -> bool {
        let ended = seq.count > 0 && seq.mark == OPEN && self.cursor.skip(END_STRUCT);
        if ended {
            self.budget.leave();
        }
        ended
    }

    /// Where the name of the next member begins, if what stands before it is spelled
    /// in the usual way and nothing is to be looked at more closely.
    #[inline(always)]
    pub(super) fn member_name(&self, seq: &Seq) -> Option<usize> {
        let rest = self.cursor.rest();
        let usual = seq.mark == OPEN && self.profile.duplicates == Duplicates::Refuse;
        if !usual {
            return None;
        }
        let len = match seq.count {
            0 if rest.starts_with(FIRST_MEMBER) => FIRST_MEMBER.len(),
            0 => return None,
            _ if rest.starts_with(NEXT_MEMBER) => NEXT_MEMBER.len(),
            _ => return None,
        };
        Some(self.cursor.at + len)
    }

    /// As [`Self::next_member`], however it is spelled, and the end of the struct.
    #[inline(never)]
    pub(super) fn any_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if self.plain_struct_end(seq) {
            return Ok(None);
        }
        loop {
            let start = self.cursor.at;
            let Some(name) = self.spelled_member(seq)? else {
                return Ok(None);
            };
            if !self.is_dropped(start) {
                return Ok(Some(name));
            }
            self.count_item()?;
            self.skip_value()?;
        }
    }

    fn spelled_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if seq.count > 0 {
            self.end_member()?;
        }
        if seq.mark == CLOSED {
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

    #[inline]
    pub(super) fn end_member(&mut self) -> Result<(), Error> {
        if self.cursor.skip(b"</member>") {
            return Ok(());
        }
        self.cursor.expect_end("member", "</member>")
    }

    /// As [`any`](polywire_schema::Decoder::any), of what is skipped.
    pub(super) fn any_skipped(&mut self) -> Result<Event, Error> {
        let (kind, tag) = self.value_type()?;
        if !matches!(kind, Type::Array | Type::Struct) {
            return self.scalar_value(kind, tag).map(Event::Scalar);
        }
        self.budget
            .enter_uncounted()
            .map_err(|limit| self.limit_error(limit))?;
        match kind {
            Type::Array => self.begin_data(tag.mark()).map(Event::List),
            _ => self.begin_members(tag.mark()).map(Event::Map),
        }
    }

    /// Skips a value that nobody wants. It must be well formed all the same.
    pub(super) fn skip_value(&mut self) -> Result<(), Error> {
        match self.any_skipped()? {
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
