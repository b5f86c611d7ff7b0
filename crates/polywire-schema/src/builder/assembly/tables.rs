//! Names as they stand on the wire, and the tables that they are looked up in.

use super::Assembly;
use crate::NameSource;
use crate::builder::BuildError;
use crate::names::{hash, hash_whole};
use crate::variants;

/// Shapes with up to this many members are searched in order.
const LINEAR: usize = 4;

/// How many names a look-up may compare before a shape's tables are made by
/// all bytes of the names.
const PROBES: usize = 8;

/// The look-up tables of a shape.
#[derive(Default)]
pub(super) struct Lookup {
    pub(super) tables: [u32; NameSource::COUNT],
    pub(super) bits: u8,
    pub(super) whole: bool,
}

/// The longest name that a CBOR head of three bytes tells. Identifiers are far
/// shorter.
pub(super) const LONGEST_NAME: usize = u16::MAX as usize;

impl Assembly {
    /// Builds the look-up tables of a shape; sources that spell all names
    /// alike share one.
    pub(super) fn lookup(&mut self, first: usize, count: usize) -> Result<Lookup, BuildError> {
        let mut lookup = Lookup::default();
        if count <= LINEAR {
            return Ok(lookup);
        }
        let size = (count * 2).next_power_of_two();
        lookup.bits = size.trailing_zeros() as u8;
        // All tables of a shape hash alike: by all bytes as soon as one needs it.
        let quick = self.tables(first, count, size, hash, PROBES);
        lookup.whole = quick.is_none();
        let tables = quick.or_else(|| self.tables(first, count, size, hash_whole, usize::MAX));
        for (source, table) in tables.into_iter().flatten().enumerate() {
            lookup.tables[source] = match table {
                Some(buckets) => {
                    let start = self.index(self.buckets.len())?;
                    self.buckets.extend_from_slice(&buckets);
                    start
                }
                None => lookup.tables[self.spelled_alike(first, count, source)],
            };
        }
        Ok(lookup)
    }

    /// Where the tables of a union's short names start, and their size.
    pub(super) fn variants(
        &mut self,
        first: usize,
        count: usize,
    ) -> Result<([u32; variants::SOURCES], u8), BuildError> {
        let mut starts = [0; variants::SOURCES];
        let mut bits = 0;
        for (start, source) in starts
            .iter_mut()
            .zip([NameSource::Member, NameSource::Json])
        {
            let (slots, size) = variants::table(self.names(source as usize, first, count));
            *start = self.index(self.variants.len())?;
            bits = size;
            self.variants.extend_from_slice(&slots);
        }
        Ok((starts, bits))
    }

    /// The first source that spells the names of these members as `source` does.
    pub(super) fn spelled_alike(&self, first: usize, count: usize, source: usize) -> usize {
        let names = |source: usize| self.names(source, first, count);
        let same = |other: &usize| names(*other).eq(names(source));
        (0..source).find(same).unwrap_or(source)
    }

    pub(super) fn names(
        &self,
        source: usize,
        first: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = &str> {
        self.plain[source][first..first + count]
            .iter()
            .map(|span| &self.text[span.start as usize..(span.start + span.len) as usize])
    }

    /// A table for each source that spells names in a way of its own; nothing
    /// if a look-up in one of them would compare more than `most` names.
    pub(super) fn tables(
        &self,
        first: usize,
        count: usize,
        size: usize,
        hash: fn(&[u8]) -> u64,
        most: usize,
    ) -> Option<Vec<Option<Vec<u16>>>> {
        let mut tables = Vec::with_capacity(NameSource::COUNT);
        for source in 0..NameSource::COUNT {
            if self.spelled_alike(first, count, source) != source {
                tables.push(None);
                continue;
            }
            let mut buckets = vec![0_u16; size];
            for (ordinal, name) in self.names(source, first, count).enumerate() {
                let mut at = (hash(name.as_bytes()) >> (64 - size.trailing_zeros())) as usize;
                let mut probes = 1;
                while buckets[at] != 0 {
                    at = (at + 1) & (size - 1);
                    probes += 1;
                    if probes > most {
                        return None;
                    }
                }
                buckets[at] = ordinal as u16 + 1;
            }
            tables.push(Some(buckets));
        }
        Some(tables)
    }
}
