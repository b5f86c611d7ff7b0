//! Which member has a header, by the name of the header.

use super::binding::Place;

/// A hash table over the names of the headers of one structure. It holds the
/// model's names, so no sender can make it slow; a name is looked up by its
/// length and its last eight bytes.
#[derive(Debug, Default)]
pub(crate) struct HeaderIndex {
    /// Ordinals of members plus one; 0 is empty. A power of two, at most half of
    /// it taken.
    slots: Box<[u32]>,
    /// Whether two members have one header.
    is_shared: bool,
}

impl HeaderIndex {
    pub(crate) fn new(places: &[Place]) -> Self {
        let headers = places.iter().filter_map(Place::header).count();
        if headers == 0 {
            return Self::default();
        }
        let mut is_shared = false;
        let mut slots = vec![0; (2 * headers).next_power_of_two()].into_boxed_slice();
        for (ordinal, place) in places.iter().enumerate() {
            let (Some(header), Ok(next)) = (place.header(), u32::try_from(ordinal + 1)) else {
                continue;
            };
            let mut at = hash(header.name.as_str().as_bytes()) & (slots.len() - 1);
            while let Some(other) = (slots[at] as usize).checked_sub(1) {
                let other = places[other].header().map(|header| &header.name);
                is_shared |= other == Some(&header.name);
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = next;
        }
        Self { slots, is_shared }
    }

    /// Whether two members have one header.
    pub(crate) const fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The first member whose header this is.
    #[inline]
    pub(crate) fn find<'b>(&self, name: &str, places: &'b [Place]) -> Option<(u32, &'b Place)> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash(name.as_bytes());
        loop {
            let ordinal = self.slots[at & mask].checked_sub(1)?;
            let place = places.get(ordinal as usize)?;
            if place.header()?.name.as_str() == name {
                return Some((ordinal, place));
            }
            at += 1;
        }
    }

    /// Calls `found` with each member whose header this is.
    pub(crate) fn find_all(&self, name: &str, places: &[Place], mut found: impl FnMut(u32)) {
        let Some(mask) = self.slots.len().checked_sub(1) else {
            return;
        };
        let mut at = hash(name.as_bytes());
        while let Some(ordinal) = self.slots[at & mask].checked_sub(1) {
            let place = places.get(ordinal as usize).and_then(Place::header);
            if place.is_some_and(|header| header.name.as_str() == name) {
                found(ordinal);
            }
            at += 1;
        }
    }
}

/// Names of one prefix differ in their ends.
#[inline]
fn hash(name: &[u8]) -> usize {
    let end = match name.last_chunk::<8>() {
        Some(end) => u64::from_le_bytes(*end),
        None => match (name.first_chunk(), name.last_chunk()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => name.iter().fold(0, |end, byte| end << 8 | u64::from(*byte)),
        },
    };
    let mixed = (end ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as usize
}
