//! A slab: a list whose elements keep their index until they are removed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A list whose elements keep their index until they are removed. Insertion takes the lowest free index in O(log n).
/// Free indices at the end are cut off, so that the length of the list stays close to the number of elements.
#[derive(Debug)]
pub(super) struct Slab<T> {
    slots: Vec<Option<T>>,
    /// Free indices. Some may be beyond the end.
    free: BinaryHeap<Reverse<usize>>,
    len: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: BinaryHeap::new(),
            len: 0,
        }
    }
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, value: T) -> usize {
        self.len += 1;
        match self.free.pop() {
            Some(Reverse(index)) if index < self.slots.len() => {
                self.slots[index] = Some(value);
                return index;
            }
            // The remaining free indices are higher, so they are beyond the end too.
            Some(_) => self.free.clear(),
            None => {}
        }
        self.slots.push(Some(value));
        self.slots.len() - 1
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<T> {
        let value = self.slots.get_mut(index)?.take()?;
        self.len -= 1;
        self.free.push(Reverse(index));
        while let Some(None) = self.slots.last() {
            self.slots.pop();
        }
        if self.slots.is_empty() {
            *self = Self::default();
        }
        Some(value)
    }

    /// The number of elements.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The elements at up to `count` indices from `from`, and the next index. `None` at the end of the list.
    pub(super) fn chunk(
        &self,
        from: usize,
        count: usize,
    ) -> (impl Iterator<Item = &T>, Option<usize>) {
        let end = from.saturating_add(count).min(self.slots.len());
        let slots = self.slots.get(from..end).unwrap_or_default();
        let next = (end < self.slots.len()).then_some(end);
        (slots.iter().flatten(), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(slab: &Slab<u32>) -> Vec<u32> {
        let (mut all, mut from) = (Vec::new(), Some(0));
        while let Some(index) = from {
            let (chunk, next) = slab.chunk(index, 3);
            all.extend(chunk);
            from = next;
        }
        all
    }

    #[test]
    fn free_indices_are_reused() {
        let mut slab = Slab::default();
        let at: Vec<_> = (0..8).map(|number| slab.insert(number)).collect();
        assert_eq!(at, [0, 1, 2, 3, 4, 5, 6, 7]);
        for index in [5, 1, 7, 6] {
            assert_eq!(slab.remove(index), Some(index as u32));
            assert_eq!(slab.remove(index), None);
        }
        assert_eq!((all(&slab), slab.len()), (vec![0, 2, 3, 4], 4));
        // The free index in the middle is used first, then those at the end that were truncated.
        assert_eq!([10, 11, 12].map(|number| slab.insert(number)), [1, 5, 6]);
        assert_eq!(all(&slab), [0, 10, 2, 3, 4, 11, 12]);
        for index in 0..7 {
            assert!(slab.remove(index).is_some());
        }
        assert_eq!((all(&slab), slab.len()), (vec![], 0));
    }

    /// If removal took linear time, this test would take hours.
    #[test]
    fn removal_does_not_depend_on_the_length() {
        let mut slab = Slab::default();
        let count = 1_000_003_u32;
        for number in 0..count {
            assert_eq!(slab.insert(number), number as usize);
        }
        let mut sum = 0_u64;
        for number in 0..u64::from(count) {
            // Each index occurs once, because the count is prime.
            let index = number * 7_919 % u64::from(count);
            sum += u64::from(slab.remove(index as usize).unwrap());
        }
        assert_eq!(sum, u64::from(count) * u64::from(count - 1) / 2);
        assert_eq!(slab.len(), 0);
    }
}
