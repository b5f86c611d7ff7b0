//! Lists and maps, item by item.

use polywire_schema::{
    Error, ErrorKind, Member, MemberFlags, NameEncoding, NameSource, Seq, ShapeKind, Text,
};
use polywire_text::scan::{self, Run};

use super::XmlDecoder;
use super::cursor::{CONTENT, EMPTY, UNCHECKED_ROOT};
use super::decode::element_name;
use crate::keep;
use crate::xml_tokens::{Span, local};

/// Flag in the `state` of a list or map: it is flattened.
const FLATTENED: u32 = 1;
/// Flag: the element around the items is empty.
const NO_CONTENT: u32 = 2;

/// Flag: in the current entry, the key comes after the value.
const KEY_AFTER_VALUE: u32 = 4;

impl<'de> XmlDecoder<'de> {
    /// Begins a list or map. If it is flattened, the start tag of its first item has been read.
    #[inline]
    pub(super) fn collection(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.cursor.value_kind & UNCHECKED_ROOT != 0 {
            self.check_root_name(at)?;
        }
        let continues = std::mem::take(&mut self.continues);
        if continues {
            // The list was counted when it began.
            let entered = self.budget.enter_uncounted();
            entered.map_err(|limit| self.limit_error(limit))?;
        } else {
            self.enter_level()?;
        }
        let mut seq = self.seq_of_element();
        seq.continues = continues;
        if at.has(MemberFlags::XML_FLATTENED) {
            seq.state = FLATTENED;
        } else if std::mem::replace(&mut self.cursor.value_kind, CONTENT) == EMPTY {
            seq.state = NO_CONTENT;
        }
        Ok(seq)
    }

    /// Moves into the next item of a list.
    #[inline(always)]
    pub(super) fn next_item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        if seq.state != 0 {
            return self.slow_item(at, seq);
        }
        let cursor = &mut self.cursor;
        let Some((start, tag)) = cursor.next_tag() else {
            return self.slow_item(at, seq);
        };
        if tag[1] == b'/' {
            if !cursor.is_end(tag, element_name(seq)) {
                return self.slow_item(at, seq);
            }
            cursor.at = start + element_name(seq).len + "</>".len();
            self.budget.leave();
            return Ok(false);
        }
        // The start tag is that of the item before, or that of the schema.
        let last = last_item(seq);
        let again = last.len > 0
            && scan::tag_repeats(tag, cursor.bytes(), last.start, last.len + "<>".len());
        let len = match again {
            true => Some(last.len + "<>".len()),
            false => at.element().encoded(NameEncoding::XmlOpen).starts(tag),
        };
        let Some(len) = len.filter(|_| self.budget.count(1).is_ok()) else {
            return self.slow_item(at, seq);
        };
        self.accept_tag(start, tag, len);
        // This cannot overflow: the number of items is limited.
        seq.count += 1;
        if self.cursor.name.len + "<>".len() == len {
            seq.seen = [start as u64, self.cursor.name.len as u64];
        }
        Ok(true)
    }

    #[inline(never)]
    fn slow_item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        let element = at.element();
        let is_item = |name: &str| {
            let own = element.plain(NameSource::Xml);
            name == own || local(name) == local(own)
        };
        if !self.next_element(at, seq, element.run(NameEncoding::XmlOpen), is_item)? {
            return Ok(false);
        }
        self.refuse_null(at)?;
        Ok(true)
    }

    /// Moves into the next element of a list or map. Skips other elements.
    fn next_element(
        &mut self,
        at: Member<'_>,
        seq: &mut Seq,
        tag: Run<'_>,
        is: impl Fn(&str) -> bool,
    ) -> Result<bool, Error> {
        // Of other lists, `seen` has the offset of a plain start tag, which only `next_item` sets.
        let stores_name = seq.state & FLATTENED != 0 || at.kind() == ShapeKind::Map;
        if seq.state & FLATTENED != 0 {
            if seq.count > 0 && !self.next_sibling(at, seq)? {
                self.budget.leave();
                return Ok(false);
            }
        } else if seq.state & NO_CONTENT != 0 {
            self.budget.leave();
            return Ok(false);
        } else {
            loop {
                if !self.next_child(seq)? {
                    return Ok(false);
                }
                if tag.starts(self.cursor.rest()) {
                    self.accept_tag(self.cursor.at, self.cursor.rest(), tag.len());
                    break;
                }
                self.cursor.start_tag()?;
                if is(self.cursor.slice(self.cursor.name)) {
                    break;
                }
                self.count_item()?;
                self.skip_element()?;
            }
        }
        seq.count = seq.count.saturating_add(1);
        self.count_item()?;
        if stores_name {
            let name = self.cursor.name;
            seq.seen = [name.start as u64, name.len as u64];
        }
        Ok(true)
    }

    /// Moves into the next element of a flattened list or map if it is another item. Otherwise the
    /// cursor does not move.
    fn next_sibling(&mut self, at: Member<'_>, seq: &Seq) -> Result<bool, Error> {
        self.cursor.skip_between()?;
        if !matches!(self.cursor.rest(), [b'<', next, ..] if !matches!(next, b'/' | b'!')) {
            return Ok(false);
        }
        let tag = at.run(NameEncoding::XmlOpen);
        if tag.starts(self.cursor.rest()) {
            self.accept_tag(self.cursor.at, self.cursor.rest(), tag.len());
            return Ok(true);
        }
        let before = self.cursor.at;
        self.cursor.start_tag()?;
        let same = self.cursor.slice(self.cursor.name) == self.cursor.slice(last_item(seq));
        if !same {
            self.cursor.at = before;
            self.cursor.value_kind = CONTENT;
        }
        Ok(same)
    }

    /// Returns an error if the current element is null, unless the list or map of `at` is sparse or
    /// the profile skips nulls.
    pub(super) fn refuse_null(&mut self, at: Member<'_>) -> Result<(), Error> {
        let skips = self.profile.rules.skip_nulls && at.element().kind() != ShapeKind::Document;
        if skips || !self.cursor.has_attributes() || at.is_sparse() || !self.cursor.is_nil() {
            return Ok(());
        }
        self.cursor.at = self.cursor.name.start - 1;
        Err(self.error_of_null(at))
    }

    #[cold]
    fn error_of_null(&self, at: Member<'_>) -> Error {
        self.cursor
            .error(ErrorKind::WrongType, at.element().kind().describe())
    }

    /// Moves into the next entry of a map.
    pub(super) fn next_entry(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        const ENTRY: &[u8] = b"<entry>";

        if seq.count > 0 && seq.state & NO_CONTENT == 0 {
            self.end_entry(at, seq)?;
        }
        let run = Run::new(ENTRY, ENTRY.len());
        self.next_element(at, seq, run, |name| local(name) == "entry")
    }

    /// Reads the key of the current entry and moves into its value. The value can come before the
    /// key.
    pub(super) fn key_and_value(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Text, Error> {
        let (key_at, value_at) = (at.target().member(0), at.target().member(1));
        let entry = last_item(seq);
        let mut key = None;
        let mut value = None;
        if self.cursor.value_kind == EMPTY {
            return Err(self.cursor.error(ErrorKind::Missing, "the key of an entry"));
        }
        loop {
            self.cursor.skip_between()?;
            if matches!(self.cursor.rest(), [b'<', b'/', ..]) {
                // An end tag of another element is a syntax error. Otherwise the error is at the end
                // tag.
                let end = self.cursor.at;
                self.cursor.end_tag(entry)?;
                self.cursor.at = end;
                let expected = match key {
                    None => "the key of an entry",
                    Some(_) => "the value of an entry",
                };
                return Err(self.cursor.error(ErrorKind::Missing, expected));
            }
            match self.entry_child(key_at, value_at)? {
                Child::Key if key.is_some() => return Err(self.duplicate_in_entry()),
                Child::Key => {
                    let text = self.string(key_at)?;
                    let text = keep::text(self.body, text);
                    if let Some((offset, name, value_kind)) = value.take() {
                        self.cursor.at = offset;
                        self.cursor.name = name;
                        self.cursor.value_kind = value_kind;
                        seq.state |= KEY_AFTER_VALUE;
                        return Ok(text);
                    }
                    key = Some(text);
                }
                Child::Value => match key.take() {
                    Some(key) => return Ok(key),
                    None if value.is_some() => return Err(self.duplicate_in_entry()),
                    None => {
                        let cursor = &self.cursor;
                        value = Some((cursor.at, cursor.name, cursor.value_kind));
                        self.skip_element()?;
                    }
                },
                Child::Other => {
                    self.count_item()?;
                    self.skip_element()?;
                }
            }
        }
    }

    /// Reads a start tag in an entry.
    #[inline]
    fn entry_child(&mut self, key: Member<'_>, value: Member<'_>) -> Result<Child, Error> {
        for (member, child) in [(key, Child::Key), (value, Child::Value)] {
            let tag = member.run(NameEncoding::XmlOpen);
            if tag.starts(self.cursor.rest()) {
                self.accept_tag(self.cursor.at, self.cursor.rest(), tag.len());
                return Ok(child);
            }
        }
        if !matches!(self.cursor.rest(), [b'<', next, ..] if *next != b'!') {
            let expected = "the key or the value of an entry";
            return Err(self.cursor.error(ErrorKind::Syntax, expected));
        }
        self.cursor.start_tag()?;
        let name = self.cursor.slice(self.cursor.name);
        let (key, value) = (key.plain(NameSource::Xml), value.plain(NameSource::Xml));
        Ok(match name {
            name if name == key => Child::Key,
            name if name == value => Child::Value,
            name if local(name) == local(key) => Child::Key,
            name if local(name) == local(value) => Child::Value,
            _ => Child::Other,
        })
    }

    /// Reads the rest of an entry after its value, and its end tag.
    #[inline]
    fn end_entry(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<(), Error> {
        let entry = last_item(seq);
        if seq.state & KEY_AFTER_VALUE == 0
            && let Some(end) = self.cursor.plain_end(self.cursor.at, entry)
        {
            self.cursor.at = end;
            return Ok(());
        }
        self.slow_end_entry(at, seq, entry)
    }

    #[inline(never)]
    fn slow_end_entry(&mut self, at: Member<'_>, seq: &mut Seq, entry: Span) -> Result<(), Error> {
        loop {
            self.cursor.skip_between()?;
            if matches!(self.cursor.rest(), [b'<', b'/', ..] | [] | [b'<']) {
                return self.cursor.end_tag(entry);
            }
            match self.entry_child(at.target().member(0), at.target().member(1))? {
                // It was read before.
                Child::Key if seq.state & KEY_AFTER_VALUE != 0 => seq.state &= !KEY_AFTER_VALUE,
                Child::Key | Child::Value => return Err(self.duplicate_in_entry()),
                // Elements before the key were counted when the key was searched for.
                Child::Other if seq.state & KEY_AFTER_VALUE != 0 => {}
                Child::Other => self.count_item()?,
            }
            self.skip_element()?;
        }
    }

    #[cold]
    fn duplicate_in_entry(&self) -> Error {
        let expected = "one key and one value in an entry";
        self.cursor.error(ErrorKind::Duplicate, expected)
    }
}

/// An element of an entry.
#[derive(Clone, Copy)]
enum Child {
    Key,
    Value,
    Other,
}

/// The name of the last item or entry of a flattened list or of a map. In other lists: the offset
/// of the last start tag, and the length of its name if the tag is plain.
#[inline(always)]
fn last_item(seq: &Seq) -> Span {
    Span {
        start: seq.seen[0] as usize,
        len: seq.seen[1] as usize,
    }
}
