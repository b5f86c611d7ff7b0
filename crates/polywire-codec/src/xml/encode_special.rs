//! Encodes values that are not plain elements of a structure: the root, payloads, attributes, and
//! items of lists.

use polywire_schema::{
    Encoder as _, Error, ErrorKind, Member, MemberFlags, NameEncoding, NameSource, Part, ShapeKind,
};

use polywire_text::escape;

use super::XmlEncoder;
use super::decode::root_member;
use super::encode::Position;
use crate::checks::unbalanced;

pub(super) const NIL: &[u8] =
    b" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\">";

impl XmlEncoder<'_> {
    pub(super) fn push_namespace(&mut self) {
        let Some((prefix, uri)) = self.profile.namespace else {
            return;
        };
        self.out.extend_from_slice(b" xmlns");
        if let Some(prefix) = prefix {
            self.out.push(b':');
            self.out.extend_from_slice(prefix.as_bytes());
        }
        self.out.extend_from_slice(b"=\"");
        if let Err(malformed) = escape::push_xml_attribute(&mut self.out, uri) {
            self.fail_forbidden(uri, malformed.offset, "a namespace".to_owned());
        }
        self.out.push(b'"');
    }

    #[inline(never)]
    pub(super) fn special_member(&mut self, at: Member<'_>) -> bool {
        if self.depth == 1
            && self.profile.part != Part::Whole
            && self.leaves_out_or_begins_payload(at)
        {
            return false;
        }
        if at.kind() == ShapeKind::Document {
            self.reject_document_type(at);
        }
        if self.expects_attributes {
            if at.has(MemberFlags::XML_ATTRIBUTE) {
                self.attribute(at);
            } else {
                self.expects_attributes = false;
            }
        }
        true
    }

    #[inline(never)]
    pub(super) fn special_start(&mut self, at: Member<'_>) {
        if at.kind() == ShapeKind::Document {
            self.reject_document_type(at);
        }
        match self.position {
            Position::Attribute => {}
            Position::BeforeRoot => {
                self.start_root(at, root_member(at));
                self.position = Position::ScalarRoot;
            }
            Position::Unwrapped => {
                self.position = Position::Inside;
                self.start_root(at, at);
            }
            Position::Inside | Position::ScalarRoot => {
                let Some(level) = self.levels.last() else {
                    return;
                };
                let tag = &self.tags[level.tag..level.end_tag];
                self.out.extend_from_slice(tag);
            }
        }
    }

    #[inline(never)]
    pub(super) fn special_end(&mut self, at: Member<'_>) {
        match self.position {
            Position::Attribute => {
                self.out.extend_from_slice(b"\">");
                self.position = Position::Inside;
            }
            Position::ScalarRoot => {
                self.push(root_member(at), NameEncoding::XmlClose);
                self.position = Position::Inside;
            }
            Position::BeforeRoot | Position::Unwrapped => self.fail(unbalanced("XML")),
            Position::Inside => {
                let Some(level) = self.levels.last() else {
                    return;
                };
                self.out.extend_from_slice(&self.tags[level.end_tag..]);
            }
        }
    }

    /// Writes the start tag of the root element, with the namespace of the member, the shape or the
    /// service.
    pub(super) fn start_root(&mut self, at: Member<'_>, named: Member<'_>) {
        self.out.push(b'<');
        let name = named.plain(NameSource::Xml).as_bytes();
        self.out.extend_from_slice(name);
        let root = at.target().root();
        match (namespace(named), namespace(root)) {
            ([], []) => self.push_namespace(),
            ([], own) | (own, _) => self.out.extend_from_slice(own),
        }
        self.out.push(b'>');
    }

    /// Begins the root value.
    #[inline(never)]
    pub(super) fn begin_root(&mut self, at: Member<'_>, structure: bool) {
        if at.kind() == ShapeKind::Document {
            self.reject_document_type(at);
        }
        if self.wrapper_depth > 0 || self.is_around_payload() {
            // The value has the element of the caller. Around a payload it has none.
            return;
        }
        self.has_own_tag = true;
        if structure && self.profile.unwrapped {
            self.position = Position::Unwrapped;
            return;
        }
        self.start_root(at, root_member(at));
        self.position = Position::Inside;
    }

    /// Ends the root value.
    #[inline(never)]
    pub(super) fn end_root(&mut self, at: Member<'_>, structure: bool) {
        if self.is_around_payload() {
            return;
        }
        if self.in_payload {
            self.in_payload = false;
            self.depth = 1;
        }
        let unwrapped = structure && self.profile.unwrapped;
        if self.wrapper_depth == 0 && !unwrapped {
            self.push(root_member(at), NameEncoding::XmlClose);
        }
        if self.position == Position::Unwrapped && at.target().len() == 1 {
            // An empty output is not a well-formed document. S3 and its clients write an empty
            // element instead of an absent member.
            let only = at.target().member(0);
            self.start_root(only, only);
            self.push(only, NameEncoding::XmlClose);
        }
        self.position = Position::Inside;
    }

    /// Whether the root structure is only the container of a payload, for which nothing is written.
    pub(super) fn is_around_payload(&self) -> bool {
        matches!(self.profile.part, Part::Payload(_)) && !self.in_payload
    }

    /// Whether a member of the root structure is not in the document: it is in the head, or another
    /// member is the payload. If `at` is the payload and a structure, list or map, prepares for
    /// writing it as the root value.
    #[cold]
    pub(super) fn leaves_out_or_begins_payload(&mut self, at: Member<'_>) -> bool {
        let part = self.profile.part;
        if !self.is_around_payload() {
            return matches!(part, Part::Body(_)) && !part.holds(at);
        }
        if part.payload(at.container()) != Some(at.ordinal()) {
            return true;
        }
        if matches!(
            at.kind(),
            ShapeKind::Structure | ShapeKind::Union | ShapeKind::List | ShapeKind::Map
        ) {
            self.in_payload = true;
            self.depth = 0;
        }
        false
    }

    /// Begins an attribute in the last start tag.
    #[inline(never)]
    pub(super) fn attribute(&mut self, at: Member<'_>) {
        if !self.has_own_tag || self.out.pop() != Some(b'>') {
            let error = Error::new(ErrorKind::Unwritable)
                .in_format("XML")
                .expected("attributes before elements")
                .at_path(format!("{at:?}"));
            return self.fail(error);
        }
        self.push(at, NameEncoding::XmlOpen);
        self.position = Position::Attribute;
    }
}

/// The part of a member's start tag after its name: its namespace.
fn namespace(at: Member<'_>) -> &[u8] {
    let tag = at.run(NameEncoding::XmlOpen);
    // Its bytes live as long as the schema.
    let tag = tag.as_bytes();
    let after_name = tag.get(1 + at.plain(NameSource::Xml).len()..);
    after_name
        .and_then(|rest| rest.strip_suffix(b">"))
        .unwrap_or_default()
}
