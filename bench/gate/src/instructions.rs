//! Counts instructions exactly. It needs no client requests of valgrind, so no unsafe code.
//!
//! The program starts itself again under valgrind's callgrind, with the same
//! groups. That child calls each subject once to warm it up and then a few times
//! inside one function, [`region::measured_region`]. Callgrind is told by that
//! function's name to set its counters to zero where it is entered and to write a
//! part file where it is left, so the part files are the subjects in their order,
//! and one child counts them all.
//!
//! Two children run in parallel. A count on which they differ is marked: the subject reads
//! the clock, the environment or a random seed.
//!
//! Valgrind emulates a processor with AVX2 but without AVX-512. Crates that choose their code
//! at run time choose the code for that processor.

mod child;
mod parent;
mod part;
mod region;
mod scratch;

pub(crate) use child::measure_regions;
pub(crate) use parent::{Selection, count, valgrind_version};

/// How many calls a region makes unless the case sets it: enough to average over what happens
/// only every few calls, and few enough for valgrind, which is slow.
pub(crate) fn calls_for(bytes: usize) -> u64 {
    const BYTES_A_REGION: usize = 64 * 1024;
    (BYTES_A_REGION / bytes.max(1)).clamp(1, 50) as u64
}

/// The calls of the first two regions. They run an empty closure, to measure the instructions
/// of the harness itself.
const CALIBRATION_CALLS: [u64; 2] = [1, 1001];

/// The instructions of the harness itself: per region, and per call in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Overhead {
    region: f64,
    call: f64,
}

impl Overhead {
    fn from_calibration(counts: [u64; 2]) -> Self {
        let [few, many] = CALIBRATION_CALLS.map(|calls| calls as f64);
        let [few_count, many_count] = counts.map(|count| count as f64);
        let call = (many_count - few_count) / (many - few);
        Self {
            region: few_count - few * call,
            call,
        }
    }

    /// The instructions of one call of a region that made several.
    fn subtract_from(self, total: u64, calls: u64) -> f64 {
        // Not below zero: the loop of a real closure may be cheaper than the empty one's.
        (((total as f64 - self.region) / calls as f64) - self.call).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overhead_is_a_line_through_two_points() {
        let overhead = Overhead::from_calibration([25, 5025]);
        assert_eq!(
            overhead,
            Overhead {
                region: 20.0,
                call: 5.0
            }
        );
        assert_eq!(overhead.subtract_from(20 + 10 * (5 + 300), 10), 300.0);
        assert_eq!(overhead.subtract_from(3, 1), 0.0);
    }

    #[test]
    fn small_inputs_get_more_calls() {
        assert_eq!(calls_for(0), 50);
        assert_eq!(calls_for(8 * 1024), 8);
        assert_eq!(calls_for(1 << 30), 1);
    }
}
