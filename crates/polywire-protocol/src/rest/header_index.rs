//! Looks up the member that is bound to a header by the name of the header.

use super::binding::MemberBinding;

/// A hash table from the header names of one structure to the ordinals of its members.
///
/// The table contains only names from the model, so a peer cannot cause collisions. The hash covers
/// the length of a name and its last eight bytes.
#[derive(Debug, Default)]
pub(crate) struct HeaderIndex {
    /// Ordinals plus one; 0 is an empty slot. The length is a power of two, and at most half of the
    /// slots are in use, so that a search ends.
    slots: Box<[u32]>,
    /// Whether two members are bound to the same header.
    has_duplicates: bool,
}

impl HeaderIndex {
    pub(crate) fn new(members: &[MemberBinding]) -> Self {
        let headers = members
            .iter()
            .filter_map(MemberBinding::single_header)
            .count();
        if headers == 0 {
            return Self::default();
        }
        let mut has_duplicates = false;
        let mut slots = vec![0; (2 * headers).next_power_of_two()].into_boxed_slice();
        for (ordinal, binding) in members.iter().enumerate() {
            let (Some(header), Ok(next)) = (binding.single_header(), u32::try_from(ordinal + 1))
            else {
                continue;
            };
            let mut at = hash(header.name.as_str().as_bytes()) & (slots.len() - 1);
            while let Some(other) = (slots[at] as usize).checked_sub(1) {
                let other = members[other].single_header().map(|header| &header.name);
                has_duplicates |= other == Some(&header.name);
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = next;
        }
        Self {
            slots,
            has_duplicates,
        }
    }

    /// Returns whether two members are bound to the same header.
    pub(crate) const fn has_duplicates(&self) -> bool {
        self.has_duplicates
    }

    /// Returns the first member that is bound to this header.
    #[inline]
    pub(crate) fn find<'b>(
        &self,
        name: &str,
        members: &'b [MemberBinding],
    ) -> Option<(u32, &'b MemberBinding)> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash(name.as_bytes());
        loop {
            let ordinal = self.slots[at & mask].checked_sub(1)?;
            let binding = members.get(ordinal as usize)?;
            if binding.single_header()?.name.as_str() == name {
                return Some((ordinal, binding));
            }
            at += 1;
        }
    }

    /// Calls `found` with each member that is bound to this header.
    pub(crate) fn find_all(
        &self,
        name: &str,
        members: &[MemberBinding],
        mut found: impl FnMut(u32),
    ) {
        let Some(mask) = self.slots.len().checked_sub(1) else {
            return;
        };
        let mut at = hash(name.as_bytes());
        while let Some(ordinal) = self.slots[at & mask].checked_sub(1) {
            let binding = members
                .get(ordinal as usize)
                .and_then(MemberBinding::single_header);
            if binding.is_some_and(|header| header.name.as_str() == name) {
                found(ordinal);
            }
            at += 1;
        }
    }
}

/// Hashes the end of a name, because header names with a common prefix differ at the end.
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
