//! Two counts over the last while.

use crate::Time;

const SLICES: usize = 10;

/// Counts of two things over a window that moves with the time, in ten slices.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Nanoseconds.
    length: u64,
    slices: [[u32; 2]; SLICES],
    /// The number of the slice that is now.
    slice: u64,
}

impl Window {
    /// A window of ten slices of so many seconds.
    pub(super) const fn of_ten(seconds: u64) -> Self {
        Self {
            length: seconds * 1_000_000_000,
            slices: [[0; 2]; SLICES],
            slice: 0,
        }
    }

    /// One more of the one or the other.
    #[inline]
    pub(super) fn count(&mut self, now: Time, which: usize) {
        self.move_to(now);
        let count = &mut self.slices[(self.slice % SLICES as u64) as usize][which];
        *count = count.saturating_add(1);
    }

    /// How many of each there were.
    pub(super) fn sums(&mut self, now: Time) -> [f64; 2] {
        self.move_to(now);
        self.slices.iter().fold([0.0; 2], |[a, b], slice| {
            [a + f64::from(slice[0]), b + f64::from(slice[1])]
        })
    }

    /// Empties the slices that have gone by. Time that goes backwards is the time that was.
    #[inline]
    fn move_to(&mut self, now: Time) {
        let slice = now.as_nanos() / self.length;
        let gone = slice.saturating_sub(self.slice).min(SLICES as u64);
        for past in 0..gone {
            self.slices[((slice - past) % SLICES as u64) as usize] = [0; 2];
        }
        self.slice = self.slice.max(slice);
    }
}
