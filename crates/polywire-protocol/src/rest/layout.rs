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

/// What stands for the media type of the body, which is no member's.
pub(crate) const MEDIA_TYPE: u32 = u32::MAX;

/// The sets of headers of one structure.
#[derive(Debug, Default)]
pub(crate) struct Layouts([OnceLock<Layout>; SETS]);

#[derive(Debug)]
struct Layout {
    /// The members, in the order of the map.
    members: Box<[u32]>,
    /// Their names; no value but that of [`MEDIA_TYPE`], which stands last.
    names: HeaderMap,
}

impl Layouts {
    /// The headers of these members, each with a value still to be set.
    pub(crate) fn get(&self, members: &[u32]) -> Option<HeaderMap> {
        let mut kept = self.0.iter().map_while(OnceLock::get);
        let found = kept.find(|layout| *layout.members == *members);
        found.map(|layout| layout.names.clone())
    }

    /// Keeps the headers of these members, if there is space and each stands
    /// once.
    pub(crate) fn keep(&self, members: &[u32], headers: &HeaderMap) {
        let Some(slot) = self.0.iter().find(|slot| slot.get().is_none()) else {
            return;
        };
        if headers.keys_len() != members.len() || headers.len() != members.len() {
            return;
        }
        let mut names = headers.clone();
        for (member, value) in members.iter().zip(names.values_mut()) {
            if *member != MEDIA_TYPE {
                *value = HeaderValue::from_static("");
            }
        }
        // If somebody else was quicker, that is kept.
        let _ = slot.set(Layout {
            members: members.into(),
            names,
        });
    }
}
