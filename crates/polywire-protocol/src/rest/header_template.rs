//! Templates of header maps, so that encoding a message does not hash its header names.
//!
//! Inserting a header into a `HeaderMap` hashes the name, which costs more than the rest of writing
//! the header. Cloning a map copies its hashes. Most programs set the same members in every call,
//! so the first few sets of members are stored as header maps without values. Encoding a message
//! clones the matching map and fills in the values. Templates contain header names from the model
//! and the media type, but no data from messages.

use std::sync::OnceLock;

use http::{HeaderMap, HeaderValue};

/// The number of templates per structure. Other sets of members are hashed in each message.
const TEMPLATES: usize = 4;

/// The templates of one structure.
#[derive(Debug, Default)]
pub(crate) struct HeaderTemplates([OnceLock<HeaderTemplate>; TEMPLATES]);

/// The header of a member that has been written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// The ordinal of the member.
    pub(crate) member: u32,
    /// The range of the value in the text of the head.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Debug)]
struct HeaderTemplate {
    /// The ordinals of the members, in the order of the map.
    members: Box<[u32]>,
    /// Whether the map ends with the content type of the body.
    has_content_type: bool,
    /// The headers. All values except the content type are empty.
    headers: HeaderMap,
}

impl HeaderTemplates {
    /// Returns a copy of the template for these members, with or without a content type. The
    /// caller sets the values of the members.
    pub(crate) fn get(&self, fields: &[Field], has_content_type: bool) -> Option<HeaderMap> {
        let mut templates = self.0.iter().map_while(OnceLock::get);
        let found = templates.find(|template| {
            let members = template.members.iter().zip(fields);
            template.members.len() == fields.len()
                && template.has_content_type == has_content_type
                && members.fold(true, |same, (member, field)| {
                    same & (*member == field.member)
                })
        });
        found.map(|template| template.headers.clone())
    }

    /// Stores a template for these members, unless all slots are taken or a header name occurs
    /// twice in `headers`.
    pub(crate) fn insert(&self, fields: &[Field], has_content_type: bool, headers: &HeaderMap) {
        let len = fields.len() + usize::from(has_content_type);
        let Some(slot) = self.0.iter().find(|slot| slot.get().is_none()) else {
            return;
        };
        if headers.keys_len() != len || headers.len() != len {
            return;
        }
        let mut headers = headers.clone();
        for value in headers.values_mut().take(fields.len()) {
            *value = HeaderValue::from_static("");
        }
        // If another thread has set the slot, its template stays.
        let _ = slot.set(HeaderTemplate {
            members: fields.iter().map(|field| field.member).collect(),
            has_content_type,
            headers,
        });
    }
}
