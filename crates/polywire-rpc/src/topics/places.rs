//! Places in a list that may be left in any order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Things, each at a place of its own that it keeps until it is taken away, which costs the same however many there
/// are. Places that are free are taken first, the lowest before the others, and those at the end are cut off, so that
/// the list is about as long as there are things in it.
#[derive(Debug)]
pub(super) struct Places<T> {
    places: Vec<Option<T>>,
    /// Places that are free, and some behind the end.
    free: BinaryHeap<Reverse<usize>>,
    taken: usize,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: BinaryHeap::new(),
            taken: 0,
        }
    }
}

impl<T> Places<T> {
    pub(super) fn insert(&mut self, thing: T) -> usize {
        self.taken += 1;
        match self.free.pop() {
            Some(Reverse(place)) if place < self.places.len() => {
                self.places[place] = Some(thing);
                return place;
            }
            // All others are behind the end, too.
            Some(_) => self.free.clear(),
            None => {}
        }
        self.places.push(Some(thing));
        self.places.len() - 1
    }

    pub(super) fn remove(&mut self, place: usize) -> Option<T> {
        let thing = self.places.get_mut(place)?.take()?;
        self.taken -= 1;
        self.free.push(Reverse(place));
        while let Some(None) = self.places.last() {
            self.places.pop();
        }
        if self.places.is_empty() {
            *self = Self::default();
        }
        Some(thing)
    }

    /// How many things there are.
    pub(super) const fn len(&self) -> usize {
        self.taken
    }

    /// What is at so many places from one on, and where the next is, unless that was the end.
    pub(super) fn some(
        &self,
        from: usize,
        count: usize,
    ) -> (impl Iterator<Item = &T>, Option<usize>) {
        let end = from.saturating_add(count).min(self.places.len());
        let places = self.places.get(from..end).unwrap_or_default();
        let next = (end < self.places.len()).then_some(end);
        (places.iter().flatten(), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(places: &Places<u32>) -> Vec<u32> {
        let (mut all, mut from) = (Vec::new(), Some(0));
        while let Some(place) = from {
            let (some, next) = places.some(place, 3);
            all.extend(some);
            from = next;
        }
        all
    }

    #[test]
    fn places_are_kept_and_taken_again() {
        let mut places = Places::default();
        let at: Vec<_> = (0..8).map(|number| places.insert(number)).collect();
        assert_eq!(at, [0, 1, 2, 3, 4, 5, 6, 7]);
        for place in [5, 1, 7, 6] {
            assert_eq!(places.remove(place), Some(place as u32));
            assert_eq!(places.remove(place), None);
        }
        assert_eq!((all(&places), places.len()), (vec![0, 2, 3, 4], 4));
        // The hole first, and then those that were cut off.
        assert_eq!([10, 11, 12].map(|number| places.insert(number)), [1, 5, 6]);
        assert_eq!(all(&places), [0, 10, 2, 3, 4, 11, 12]);
        for place in 0..7 {
            assert!(places.remove(place).is_some());
        }
        assert_eq!((all(&places), places.len()), (vec![], 0));
    }

    /// One that looked at all of them for each would look for hours.
    #[test]
    fn a_million_leave_as_they_came() {
        let mut places = Places::default();
        let count = 1_000_003_u32;
        for number in 0..count {
            assert_eq!(places.insert(number), number as usize);
        }
        let mut left = 0_u64;
        for number in 0..u64::from(count) {
            // Each once, as the count is prime.
            let place = number * 7_919 % u64::from(count);
            left += u64::from(places.remove(place as usize).unwrap());
        }
        assert_eq!(left, u64::from(count) * u64::from(count - 1) / 2);
        assert_eq!(places.len(), 0);
    }
}
