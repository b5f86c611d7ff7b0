//! Members of a structure that are not the expected one.

use polywire_schema::{
    END, Error, ErrorKind, Member, MemberFlags, Name, NameSource, Schema, Seq, ShapeFlags,
    TokenReader, slow_member,
};
use polywire_text::scan::{self, TAG};

use super::XmlDecoder;
use super::cursor::{ATTRIBUTE, CONTENT, UNCHECKED_ROOT};
use super::decode::{IN_TAG, NO_CONTENT, UNWRAPPED, element_name};
use crate::xml_tokens::{Span, local, plain_name_len};

impl<'de> XmlDecoder<'de> {
    /// Reads the next start tag or attribute of a structure. `false` at its end.
    pub(super) fn next_member(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.state & UNWRAPPED != 0 {
            let is_first = seq.count == 0;
            seq.count = 1;
            if !is_first {
                self.budget.leave();
            }
            return Ok(is_first);
        }
        if seq.state & IN_TAG != 0 {
            if self.next_attribute() {
                return Ok(true);
            }
            seq.state &= !IN_TAG;
        }
        if seq.state & NO_CONTENT != 0 {
            self.budget.leave();
            return Ok(false);
        }
        if !self.next_child(seq)? {
            return Ok(false);
        }
        self.cursor.start_tag()?;
        Ok(true)
    }

    /// Goes to the next attribute of the start tag.
    fn next_attribute(&mut self) -> bool {
        let at = self.cursor.next_attribute_at;
        let Some((name, value, next)) = self.cursor.next_attribute(at) else {
            return false;
        };
        self.cursor.next_attribute_at = next;
        self.cursor.name = name;
        self.cursor.attribute_value = value;
        true
    }

    /// The member of the start tag or attribute that was read.
    pub(super) fn member_name(&mut self, shape: Schema<'_>, seq: &Seq) -> Name {
        if seq.state & IN_TAG != 0 {
            let Some(ordinal) = self.find(shape, self.cursor.name, true) else {
                return Name::Ignored;
            };
            self.cursor.value_kind = ATTRIBUTE;
            return Name::Member(ordinal);
        }
        let found = self.find(shape, self.cursor.name, false);
        let found = found.or_else(|| self.find_message(shape, seq));
        found.map_or(Name::Unknown, Name::Member)
    }

    /// Moves to the next start tag in the element of `seq`. At the end of the element, reads the
    /// end tag and returns `false`.
    #[inline]
    pub(super) fn next_child(&mut self, seq: &Seq) -> Result<bool, Error> {
        self.cursor.skip_between()?;
        match self.cursor.rest() {
            [b'<', b'/', ..] => {
                self.cursor.end_tag(element_name(seq))?;
                self.budget.leave();
                Ok(false)
            }
            [b'<', next, ..] if *next != b'!' => Ok(true),
            [] | [b'<'] => {
                let error = self.error(ErrorKind::Truncated, "");
                let name = self.cursor.slice(element_name(seq));
                Err(error.expected(format!("</{name}>")))
            }
            _ if self.profile.rules.strict => {
                Err(self.error(ErrorKind::Syntax, "an element or the end of one, not text"))
            }
            // Text between elements has no meaning.
            _ => {
                self.cursor.skip_characters()?;
                self.next_child(seq)
            }
        }
    }

    /// Finds the member of the plain start tag `tag` at the cursor. Skips unknown elements before
    /// it.
    ///
    /// `shape_root` is `Schema::root`, the member that stands for the shape. It is passed instead of
    /// the shape because a member fits in registers.
    #[inline(never)]
    pub(super) fn named_member(
        &mut self,
        shape_root: Member<'_>,
        seq: &mut Seq,
        mut tag: &'de [u8; TAG],
    ) -> Result<u32, Error> {
        let shape = shape_root.target();
        if shape.has(ShapeFlags::XML_APART) || self.profile.any_case_message {
            return slow_member(self, shape, seq);
        }
        while let Some(name) = scan::tag_contents(tag) {
            let found = shape.find(NameSource::Xml, name);
            match found {
                Some(ordinal)
                    if !seq.part.holds(shape.member(ordinal)) || !seq.mark_new(ordinal) =>
                {
                    break;
                }
                None if name.is_empty() || plain_name_len(name) != name.len() => break,
                _ => {}
            }
            self.cursor.name = Span {
                start: self.cursor.at + 1,
                len: name.len(),
            };
            self.cursor.at += name.len() + "<>".len();
            if let Some(ordinal) = found {
                seq.guess = ordinal + 1;
                return Ok(ordinal);
            }
            seq.unknown = true;
            self.count_item()?;
            self.skip_element()?;
            match self.cursor.next_tag() {
                Some((at, next)) => (self.cursor.at, tag) = (at, next),
                None => break,
            }
            if self.cursor.is_end(tag, element_name(seq)) {
                self.cursor.at += element_name(seq).len + "</>".len();
                self.budget.leave();
                return Ok(END);
            }
        }
        slow_member(self, shape, seq)
    }

    /// Finds a member by its complete name, else by the local parts of the names.
    #[inline(never)]
    fn find(&mut self, shape: Schema<'_>, name: Span, attribute: bool) -> Option<u32> {
        let name = self.cursor.slice(name);
        if attribute && (name == "xmlns" || name.starts_with("xmlns:")) {
            return None;
        }
        let fits =
            |ordinal: &u32| shape.member(*ordinal).has(MemberFlags::XML_ATTRIBUTE) == attribute;
        let find = |name: &str| shape.find(NameSource::Xml, name.as_bytes()).filter(fits);
        if let Some(ordinal) = find(name) {
            return Some(ordinal);
        }
        let local_name = local(name);
        if local_name.len() < name.len()
            && let Some(ordinal) = find(local_name)
        {
            return Some(ordinal);
        }
        // An attribute and an element can have the same name, and so can two members whose names
        // differ in their prefixes.
        if !shape.has(ShapeFlags::XML_APART) {
            return None;
        }
        let is = |member: &Member<'_>| {
            local(member.plain(NameSource::Xml)) == local_name && fits(&member.ordinal())
        };
        shape.members().find(is).map(Member::ordinal)
    }

    /// Finds the member `message` for an element whose name differs only in case, if the profile
    /// allows that.
    fn find_message(&self, shape: Schema<'_>, seq: &Seq) -> Option<u32> {
        if !self.profile.any_case_message || seq.state & IN_TAG != 0 {
            return None;
        }
        let name = local(self.cursor.slice(self.cursor.name));
        let is = |member: &Member<'_>| {
            let own = member.plain(NameSource::Xml);
            name.eq_ignore_ascii_case("message") && own.eq_ignore_ascii_case(name)
        };
        shape.members().find(is).map(Member::ordinal)
    }

    /// Skips the rest of an element whose start tag was read, or an attribute. It must be
    /// well-formed.
    #[inline(never)]
    pub(super) fn skip_element(&mut self) -> Result<(), Error> {
        let value_kind = std::mem::replace(&mut self.cursor.value_kind, CONTENT);
        if value_kind & !UNCHECKED_ROOT != CONTENT {
            return Ok(());
        }
        let name = self.cursor.name;
        // The caller counts an unknown element. The elements in it take no memory and are not
        // counted.
        self.budget
            .enter_uncounted()
            .map_err(|limit| self.limit_error(limit))?;
        match self.cursor.plain_text() {
            Some((_, end)) => self.cursor.at = end,
            None => self.skip_content(name)?,
        }
        self.budget.leave();
        Ok(())
    }

    /// Skips the content and the end tag of the element with this name.
    pub(super) fn skip_content(&mut self, name: Span) -> Result<(), Error> {
        loop {
            if !self.cursor.skip_to_tag() {
                self.cursor.skip_characters()?;
            }
            match self.cursor.rest() {
                [b'<', b'/', ..] | [] | [b'<'] => return self.cursor.end_tag(name),
                _ => {
                    self.cursor.start_tag()?;
                    self.skip_element()?;
                }
            }
        }
    }
}
