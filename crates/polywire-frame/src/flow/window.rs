//! Two counts over a sliding window.

use crate::Time;

const SLICES: usize = 10;

/// Two counts over a sliding window of ten slices.
///
/// Invariants: `sums` are the sums over all slices, `ends` is the end of the current slice. Counting costs an addition and a
/// comparison.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Nanoseconds.
    length: u64,
    slices: [[u32; 2]; SLICES],
    sums: [u64; 2],
    /// The number of the current slice.
    slice: u64,
    /// Nanoseconds.
    ends: u64,
}

impl Window {
    /// A window of ten slices of `seconds` each.
    pub(super) const fn of_ten(seconds: u64) -> Self {
        let length = seconds * 1_000_000_000;
        Self {
            length,
            slices: [[0; 2]; SLICES],
            sums: [0; 2],
            slice: 0,
            ends: length,
        }
    }

    /// Adds 1 to one of the counts.
    #[inline]
    pub(super) fn count(&mut self, now: Time, which: usize) {
        self.move_to(now);
        let count = &mut self.slices[(self.slice % SLICES as u64) as usize][which];
        if let Some(more) = count.checked_add(1) {
            *count = more;
            self.sums[which] += 1;
        }
    }

    /// Adds 1 to both counts.
    #[inline]
    pub(super) fn count_both(&mut self, now: Time) {
        self.move_to(now);
        let [a, b] = &mut self.slices[(self.slice % SLICES as u64) as usize];
        if let (Some(more), Some(too)) = (a.checked_add(1), b.checked_add(1)) {
            (*a, *b) = (more, too);
            self.sums = self.sums.map(|sum| sum + 1);
        }
    }

    /// Both counts.
    #[inline]
    pub(super) fn sums(&mut self, now: Time) -> [f64; 2] {
        self.move_to(now);
        self.sums.map(|sum| sum as f64)
    }

    /// Clears the slices that have passed. Times before the current slice count for it.
    #[inline]
    fn move_to(&mut self, now: Time) {
        if now.as_nanos() >= self.ends {
            self.advance(now);
        }
    }

    #[cold]
    fn advance(&mut self, now: Time) {
        let slice = now.as_nanos() / self.length;
        let gone = (slice - self.slice).min(SLICES as u64);
        for past in 0..gone {
            let slice = &mut self.slices[((slice - past) % SLICES as u64) as usize];
            for (sum, count) in self.sums.iter_mut().zip(std::mem::take(slice)) {
                *sum -= u64::from(count);
            }
        }
        self.slice = slice;
        self.ends = (slice + 1).saturating_mul(self.length);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn counts_expire_with_the_window() {
        let mut window = Window::of_ten(1);
        let at = |seconds| Time::ZERO.after(Duration::from_secs(seconds));
        for second in 0..20 {
            window.count(at(second), 0);
            window.count(at(second), usize::from(second % 2 == 0));
        }
        // The sums of seconds 10 to 19.
        assert_eq!(window.sums(at(19)), [15.0, 5.0]);
        // An earlier time counts for the current slice.
        window.count(at(3), 1);
        assert_eq!(window.sums(at(19)), [15.0, 6.0]);
        assert_eq!(window.sums(at(24)), [8.0, 3.0]);
        assert_eq!(window.sums(at(1_000)), [0.0, 0.0]);
        window.count(Time::NEVER, 0);
        assert_eq!(window.sums(Time::NEVER), [1.0, 0.0]);
    }
}
