//! Sets of headers that have been written before.
//!
//! To put a header into a `HeaderMap` its name is hashed, byte by byte, which
//! takes longer than everything else that is done for it. But a program mostly
//! sets the same members each time, and the copy of a map takes its hashes along.
//! So the first few sets of members that an operation is called with are kept as
//! maps of names with nothing behind them, to be copied and filled in. What they
//! keep is names of the model, in an order; nothing of a message.

use std::sync::OnceLock;

use http::{HeaderMap, HeaderValue};

/// How many sets are kept. Those that come later are hashed each time.
const SETS: usize = 4;

/// The sets of headers of one structure.
#[derive(Debug, Default)]
pub(crate) struct Layouts([OnceLock<Layout>; SETS]);

/// A header of a member that has been written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) member: u32,
    /// Where its text begins and ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Debug)]
struct Layout {
    /// The members, in the order of the map.
    members: Box<[u32]>,
    /// Whether the media type of the body, which is no member's, comes last.
    is_typed: bool,
    /// The names of the headers, and no values but that of the media type.
    names: HeaderMap,
}

impl Layouts {
    /// The headers of these members, each with a value still to be set, and that
    /// of the media type where it `is_typed`.
    pub(crate) fn get(&self, fields: &[Field], is_typed: bool) -> Option<HeaderMap> {
        let mut kept = self.0.iter().map_while(OnceLock::get);
        let found = kept.find(|layout| {
            let members = layout.members.iter().zip(fields);
            layout.members.len() == fields.len()
                && layout.is_typed == is_typed
                && members.fold(true, |same, (member, field)| {
                    same & (*member == field.member)
                })
        });
        found.map(|layout| layout.names.clone())
    }

    /// Keeps the headers of these members, if there is space and each stands
    /// once.
    pub(crate) fn keep(&self, fields: &[Field], is_typed: bool, headers: &HeaderMap) {
        let len = fields.len() + usize::from(is_typed);
        let Some(slot) = self.0.iter().find(|slot| slot.get().is_none()) else {
            return;
        };
        if headers.keys_len() != len || headers.len() != len {
            return;
        }
        let mut names = headers.clone();
        for value in names.values_mut().take(fields.len()) {
            *value = HeaderValue::from_static("");
        }
        // If somebody else was quicker, that is kept.
        let _ = slot.set(Layout {
            members: fields.iter().map(|field| field.member).collect(),
            is_typed,
            names,
        });
    }
}
