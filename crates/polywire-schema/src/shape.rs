//! [`Schema`]: a handle to a shape of a set.

use std::fmt;

use polywire_text::scan::Name;

use crate::names::{hash, hash_of_ends, hash_whole};
use crate::{
    ErrorDef, Member, NameEncoding, NameSource, SchemaSet, ShapeDef, ShapeFlags, ShapeKind, Text,
};

/// A handle to a shape of a [`SchemaSet`].
#[derive(Clone, Copy)]
pub struct Schema<'s> {
    set: &'s SchemaSet<'s>,
    index: u32,
    /// Copies of fields of the [`ShapeDef`], because codecs read them for each member.
    first_member: u32,
    member_count: u32,
}

impl<'s> Schema<'s> {
    #[inline]
    pub(crate) fn at(set: &'s SchemaSet<'s>, index: u32) -> Self {
        let def = &set.shapes[index as usize];
        Self {
            set,
            index,
            first_member: def.first_member,
            member_count: def.member_count,
        }
    }

    #[inline]
    pub(crate) fn def(self) -> &'s ShapeDef {
        &self.set.shapes[self.index as usize]
    }

    /// Returns the set that contains the shape.
    #[must_use]
    pub const fn set(self) -> &'s SchemaSet<'s> {
        self.set
    }

    /// Returns the index of the shape in its set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the absolute shape id, `namespace#Name`.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// Returns the name without the namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// Returns the kind of the shape.
    #[inline]
    #[must_use]
    pub fn kind(self) -> ShapeKind {
        self.def().kind
    }

    /// Returns the number of members.
    #[inline]
    #[must_use]
    pub fn len(self) -> u32 {
        self.member_count
    }

    /// Returns whether the shape has no members.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the member with an ordinal. In a list, 0 is the element. In a map, 0 is the key and
    /// 1 is the value.
    ///
    /// `ordinal` must be less than [`len`](Self::len). Debug builds panic if it is not.
    #[inline]
    #[must_use]
    pub fn member(self, ordinal: u32) -> Member<'s> {
        debug_assert!(
            ordinal < self.member_count,
            "{} has no member {ordinal}",
            self.id()
        );
        Member {
            set: self.set,
            index: self.first_member + ordinal,
        }
    }

    /// Returns all members in the order in which they are written.
    pub fn members(
        self,
    ) -> impl ExactSizeIterator<Item = Member<'s>> + DoubleEndedIterator + use<'s> {
        let def = self.def();
        let set = self.set;
        (def.first_member..def.first_member + def.member_count)
            .map(move |index| Member { set, index })
    }

    /// Returns [`Member::encoded`] for all members, in the order of their ordinals.
    #[inline]
    #[must_use]
    pub fn encoded_names(self, encoding: NameEncoding) -> &'s [Name] {
        let first = self.first_member as usize;
        let names: &'s [Name] = &self.set.names[encoding as usize];
        names
            .get(first..first + self.member_count as usize)
            .unwrap_or_default()
    }

    /// Returns all members with their names.
    #[inline]
    pub(crate) fn named_members(self) -> impl Iterator<Item = (&'s [u8], Member<'s>)> + use<'s> {
        let set = self.set;
        let first = self.first_member as usize;
        let names = set.plain[NameSource::Member as usize].get(first..);
        let names = names.unwrap_or_default().iter().map(move |span| {
            let name = set.text.as_bytes().get(span.range());
            name.unwrap_or_default()
        });
        names.zip(self.members())
    }

    /// Returns the root member: the argument for codecs if a value of this shape is at the top of
    /// a message.
    #[inline]
    #[must_use]
    pub fn root(self) -> Member<'s> {
        Member {
            set: self.set,
            index: self.def().root,
        }
    }

    /// Returns the error traits, or `None` if the shape is not an error.
    #[must_use]
    pub fn error(self) -> Option<&'s ErrorDef> {
        self.set
            .errors
            .get((self.def().error as usize).wrapping_sub(1))
    }

    /// Returns whether the shape has all of these flags.
    #[inline]
    #[must_use]
    pub fn has(self, flags: ShapeFlags) -> bool {
        self.def().flags.contains(flags)
    }

    /// Returns the code of `@awsQueryError`.
    #[must_use]
    pub fn query_code(self) -> Option<&'s str> {
        let code = self.set.str(self.error()?.query_code);
        (!code.is_empty()).then_some(code)
    }

    /// Returns the HTTP status code of `@awsQueryError`.
    #[must_use]
    pub fn query_status(self) -> Option<u16> {
        let status = self.error()?.query_status;
        (status != 0).then_some(status)
    }

    /// Returns the ordinal of the member with the given name. `source` selects which names are
    /// compared.
    #[inline]
    #[must_use]
    pub fn find(self, source: NameSource, name: &[u8]) -> Option<u32> {
        self.search(source, name).0
    }

    /// Like [`Schema::find`] with [`NameSource::Member`]. Faster for inline texts, which are hashed
    /// and compared in registers.
    #[inline]
    pub(crate) fn find_text(self, name: &Text) -> Option<u32> {
        let names = self.encoded_names(NameEncoding::Cbor);
        let def = self.def();
        let Some(ends) = name.inline_ends().filter(|_| !def.lookup_whole) else {
            return self.find(NameSource::Member, name.as_bytes());
        };
        if def.lookup_bits == 0 {
            let ordinal = names.iter().position(|own| own.matches_after_head(name));
            return ordinal.map(|ordinal| ordinal as u32);
        }
        let mask = (1_usize << def.lookup_bits) - 1;
        let table = def.lookup[NameSource::Member as usize] as usize;
        let mut at = (hash_of_ends(ends, name.len()) >> (64 - u32::from(def.lookup_bits))) as usize;
        loop {
            // The table is at most half full, so the loop ends at an empty bucket.
            let bucket = self.set.buckets.get(table + at).copied().unwrap_or(0);
            let ordinal = u32::from(bucket).checked_sub(1)?;
            if names.get(ordinal as usize)?.matches_after_head(name) {
                return Some(ordinal);
            }
            at = (at + 1) & mask;
        }
    }

    /// Like [`Schema::find`], but also returns the number of compared names, for tests.
    #[inline]
    pub(crate) fn search(self, source: NameSource, name: &[u8]) -> (Option<u32>, u32) {
        let def = self.def();
        let first = def.first_member as usize;
        let spans = &self.set.plain[source as usize];
        let text = self.set.text.as_bytes();
        let is = |ordinal: u32| {
            let span = spans
                .get(first + ordinal as usize)
                .copied()
                .unwrap_or_default();
            text.get(span.range()).unwrap_or_default() == name
        };
        if def.lookup_bits == 0 {
            let found = (0..def.member_count).find(|ordinal| is(*ordinal));
            return (found, found.map_or(def.member_count, |ordinal| ordinal + 1));
        }
        let mask = (1_usize << def.lookup_bits) - 1;
        let table = def.lookup[source as usize] as usize;
        let hash = match def.lookup_whole {
            false => hash(name),
            true => hash_whole(name),
        };
        let mut at = (hash >> (64 - u32::from(def.lookup_bits))) as usize;
        let mut compared = 0;
        loop {
            // The table is at most half full, so the loop ends at an empty bucket.
            let ordinal = match self.set.buckets.get(table + at) {
                None | Some(0) => return (None, compared),
                Some(bucket) => u32::from(*bucket) - 1,
            };
            compared += 1;
            if is(ordinal) {
                return (Some(ordinal), compared);
            }
            at = (at + 1) & mask;
        }
    }
}

impl PartialEq for Schema<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.set, other.set) && self.index == other.index
    }
}

impl Eq for Schema<'_> {}

impl fmt::Debug for Schema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.id(), self.kind())
    }
}
