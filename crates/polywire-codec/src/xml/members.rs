//! The members of a structure, where the next is not the one that was guessed.

use polywire_schema::{
    Decoder, END, Encoding, Error, ErrorKind, Location, Member, MemberFlags, NameSource, Schema,
    Seq, ShapeFlags, ShapeKind,
};
use polywire_text::scan::{self, TAG};

use super::XmlDecoder;
use super::cursor::{ATTRIBUTE, CONTENT, Place, TOP, local, plain_name_len};
use super::decode::{AROUND_PAYLOAD, IN_PART, IN_TAG, NO_CONTENT, UNWRAPPED, own_name};

impl<'de> XmlDecoder<'de> {
    /// As [`Decoder::member`], where the structure is not plainly one of elements:
    /// at the top of a message, of which other parts are members too, it mostly is.
    #[inline(never)]
    pub(super) fn part_member(&mut self, root: Member<'_>, seq: &mut Seq) -> Result<u32, Error> {
        let Some((at, tag)) = self.cursor.line().filter(|_| seq.state == IN_PART) else {
            return self.any_member(root, seq);
        };
        let (shape, ordinal) = (root.target(), seq.guess);
        if ordinal < shape.len()
            && let member = shape.member(ordinal)
            && let Some(len) = member.encoded(Encoding::XmlOpen).starts(tag)
            && !self.is_elsewhere(member)
            && seq.mark_new(ordinal)
        {
            self.opened(at, tag, len);
            seq.guess = ordinal + 1;
            return Ok(ordinal);
        }
        if self.cursor.is_end(tag, own_name(seq)) {
            self.cursor.at = at + own_name(seq).len + "</>".len();
            self.budget.leave();
            return Ok(END);
        }
        self.cursor.at = at;
        self.named_member(root, seq, tag)
    }

    /// As [`Decoder::member`], whatever stands there.
    #[inline(never)]
    pub(super) fn any_member(&mut self, root: Member<'_>, seq: &mut Seq) -> Result<u32, Error> {
        let shape = root.target();
        if seq.state == AROUND_PAYLOAD {
            return Ok(self.payload_member(shape));
        }
        loop {
            let found = if seq.state & UNWRAPPED != 0 {
                if seq.count > 0 {
                    self.budget.leave();
                    return Ok(END);
                }
                seq.count = 1;
                let special = self.cursor.special;
                let found = self.find(shape, self.cursor.name, false);
                self.cursor.special = special;
                found
            } else if seq.state & IN_TAG != 0 {
                match self.cursor.next_attribute(self.cursor.attributes) {
                    Some((name, value, next)) => {
                        self.cursor.attributes = next;
                        let Some(ordinal) = self.find(shape, name, true) else {
                            continue;
                        };
                        self.cursor.attribute = value;
                        self.cursor.special = ATTRIBUTE;
                        Some(ordinal)
                    }
                    None => {
                        seq.state &= !IN_TAG;
                        continue;
                    }
                }
            } else if seq.state & NO_CONTENT != 0 {
                self.budget.leave();
                return Ok(END);
            } else {
                if !self.next_child(seq)? {
                    return Ok(END);
                }
                self.cursor.start_tag()?;
                self.find(shape, self.cursor.name, false)
            };
            let Some(ordinal) = found.or_else(|| self.find_message(shape, seq)) else {
                seq.unknown = true;
                self.count_item()?;
                self.skip_element()?;
                continue;
            };
            let member = shape.member(ordinal);
            seq.guess = ordinal + 1;
            if seq.state & IN_PART != 0 && self.is_elsewhere(member) {
                seq.unknown = true;
                self.skip_element()?;
                continue;
            }
            let before = self.budget.seen(seq, ordinal);
            let flattened = member.has(MemberFlags::XML_FLATTENED)
                && matches!(member.kind(), ShapeKind::List | ShapeKind::Map);
            if before && !flattened {
                return Err(self.error(ErrorKind::Duplicate, "each member once"));
            }
            if self.cursor.special != ATTRIBUTE
                && !flattened
                && self.cursor.has_attributes()
                && self.cursor.is_nil()
            {
                self.skip_element()?;
                continue;
            }
            self.continues = before;
            return Ok(ordinal);
        }
    }

    /// The member that is the payload, once; behind it nothing else comes.
    fn payload_member(&mut self, shape: Schema<'_>) -> u32 {
        let Some(direction) = self.profile.document_only.take() else {
            return END;
        };
        self.profile.payload = false;
        let is = |member: &Member<'_>| member.location().going(direction) == Location::Payload;
        shape.members().find(is).map_or(END, Member::ordinal)
    }

    /// Goes to the next start tag in the element of `seq`; at its end reads
    /// that and says `false`.
    #[inline]
    pub(super) fn next_child(&mut self, seq: &Seq) -> Result<bool, Error> {
        self.cursor.skip_between()?;
        match self.cursor.rest() {
            [b'<', b'/', ..] => {
                self.cursor.end_tag(own_name(seq))?;
                self.budget.leave();
                Ok(false)
            }
            [b'<', next, ..] if *next != b'!' => Ok(true),
            [] | [b'<'] => {
                let error = self.error(ErrorKind::Truncated, "");
                let name = self.cursor.name_at(own_name(seq));
                Err(error.expected(format!("</{name}>")))
            }
            _ if self.profile.required => {
                Err(self.error(ErrorKind::Syntax, "an element or the end of one, not text"))
            }
            // Text beside elements means nothing.
            _ => {
                self.cursor.skip_characters()?;
                self.next_child(seq)
            }
        }
    }

    /// As [`Decoder::member`], among elements and where the guess was wrong: a
    /// member that is found by its name, as it stands in the plain start tag `tag`
    /// at the cursor. Elements before it that no member has are skipped.
    ///
    /// `root` is that of the shape: a member is handed over in registers.
    #[inline(never)]
    pub(super) fn named_member(
        &mut self,
        root: Member<'_>,
        seq: &mut Seq,
        mut tag: &'de [u8; TAG],
    ) -> Result<u32, Error> {
        let shape = root.target();
        if shape.has(ShapeFlags::XML_APART) || self.profile.any_case_message {
            return self.any_member(root, seq);
        }
        while let Some(name) = scan::in_tag(tag) {
            let found = shape.find(NameSource::Xml, name);
            match found {
                Some(ordinal)
                    if seq.state != 0 && self.is_elsewhere(shape.member(ordinal))
                        || !seq.mark_new(ordinal) =>
                {
                    break;
                }
                None if name.is_empty() || plain_name_len(name) != name.len() => break,
                _ => {}
            }
            self.cursor.name = Place {
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
            match self.cursor.line() {
                Some((at, next)) => (self.cursor.at, tag) = (at, next),
                None => break,
            }
            if self.cursor.is_end(tag, own_name(seq)) {
                self.cursor.at += own_name(seq).len + "</>".len();
                self.budget.leave();
                return Ok(END);
            }
        }
        self.any_member(root, seq)
    }

    /// The member of a name: as it stands, else without its prefix and without
    /// those of the schema.
    #[inline(never)]
    fn find(&mut self, shape: Schema<'_>, name: Place, attribute: bool) -> Option<u32> {
        let name = self.cursor.name_at(name);
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
        // An attribute and an element may share a name; and prefixes of the
        // schema's names are no one else's.
        if !shape.has(ShapeFlags::XML_APART) {
            return None;
        }
        let is = |member: &Member<'_>| {
            local(member.plain(NameSource::Xml)) == local_name && fits(&member.ordinal())
        };
        shape.members().find(is).map(Member::ordinal)
    }

    /// The member `message` for an element that is so called in other letters, by
    /// a profile that reads it so.
    fn find_message(&self, shape: Schema<'_>, seq: &Seq) -> Option<u32> {
        if !self.profile.any_case_message || seq.state & IN_TAG != 0 {
            return None;
        }
        let name = local(self.cursor.name_at(self.cursor.name));
        let is = |member: &Member<'_>| {
            let own = member.plain(NameSource::Xml);
            name.eq_ignore_ascii_case("message") && own.eq_ignore_ascii_case(name)
        };
        shape.members().find(is).map(Member::ordinal)
    }

    /// Whether a member at the top belongs to another part of the message. It
    /// must not come in through the document.
    pub(super) fn is_elsewhere(&self, member: Member<'_>) -> bool {
        let elsewhere = |direction| member.location().going(direction) != Location::Body;
        self.profile.document_only.is_some_and(elsewhere)
    }

    /// Skips what is left of an element whose start tag was read, or an
    /// attribute. It must be well formed all the same.
    #[inline(never)]
    pub(super) fn skip_element(&mut self) -> Result<(), Error> {
        let special = std::mem::replace(&mut self.cursor.special, CONTENT);
        if special & !TOP != CONTENT {
            return Ok(());
        }
        let name = self.cursor.name;
        // What is skipped takes no memory, so it is not an item.
        self.budget
            .enter_uncounted()
            .map_err(|limit| self.limit(limit))?;
        match self.cursor.plain_text() {
            Some((_, end)) => self.cursor.at = end,
            None => self.skip_content(name)?,
        }
        self.budget.leave();
        Ok(())
    }

    /// Skips up to and with the end tag of an element.
    pub(super) fn skip_content(&mut self, name: Place) -> Result<(), Error> {
        loop {
            if !self.cursor.skip_line() {
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
