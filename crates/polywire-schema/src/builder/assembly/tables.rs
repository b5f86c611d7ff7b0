//! Builds the hash tables for names.

use super::Assembly;
use crate::NameSource;
use crate::builder::BuildError;
use crate::names::{hash, hash_whole};
use crate::variants;

/// Shapes with up to this many members have no table. Lookups use linear search.
const MAX_LINEAR: usize = 4;

/// If a lookup would compare more names than this, the tables of the shape use [`hash_whole`].
const MAX_PROBES: usize = 8;

/// The lookup tables of a shape.
#[derive(Default)]
pub(super) struct Lookup {
    pub(super) tables: [u32; NameSource::COUNT],
    pub(super) bits: u8,
    pub(super) whole: bool,
}

/// The maximum length of a name, in bytes. It fits a CBOR head of three bytes.
pub(super) const MAX_NAME_LEN: usize = u16::MAX as usize;

impl Assembly {
    /// Builds the lookup tables of a shape. Sources with the same names share a table.
    pub(super) fn lookup(&mut self, first: usize, count: usize) -> Result<Lookup, BuildError> {
        let mut lookup = Lookup::default();
        if count <= MAX_LINEAR {
            return Ok(lookup);
        }
        let size = (count * 2).next_power_of_two();
        lookup.bits = size.trailing_zeros() as u8;
        // All tables of a shape use the same hash function.
        let fast = self.tables(first, count, size, hash, MAX_PROBES);
        lookup.whole = fast.is_none();
        let tables = fast.or_else(|| self.tables(first, count, size, hash_whole, usize::MAX));
        for (source, table) in tables.into_iter().flatten().enumerate() {
            lookup.tables[source] = match table {
                Some(buckets) => {
                    let start = self.index(self.buckets.len())?;
                    self.buckets.extend_from_slice(&buckets);
                    start
                }
                None => lookup.tables[self.first_equal_source(first, count, source)],
            };
        }
        Ok(lookup)
    }

    /// Builds the variant tables of a union. Returns their start indices, and the binary logarithm
    /// of their size.
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

    /// Returns the first source that has the same names as `source` for these members.
    pub(super) fn first_equal_source(&self, first: usize, count: usize, source: usize) -> usize {
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
            .map(|span| &self.text[span.range()])
    }

    /// Builds a table for each source, or `None` for a source that shares the table of an earlier
    /// one. Fails if a lookup would compare more than `max_probes` names.
    pub(super) fn tables(
        &self,
        first: usize,
        count: usize,
        size: usize,
        hash: fn(&[u8]) -> u64,
        max_probes: usize,
    ) -> Option<Vec<Option<Vec<u16>>>> {
        let mut tables = Vec::with_capacity(NameSource::COUNT);
        for source in 0..NameSource::COUNT {
            if self.first_equal_source(first, count, source) != source {
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
                    if probes > max_probes {
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
