//! Counts instructions, exactly, without client requests and so without unsafe code.
//!
//! The program starts itself again under valgrind's callgrind, with the same
//! groups. That child calls each subject once to warm it up and then a few times
//! inside one function, [`region::measured_region`]. Callgrind is told by that
//! function's name to set its counters to zero where it is entered and to write a
//! part file where it is left, so the part files are the subjects in their order,
//! and one child counts them all.
//!
//! Two children run side by side. What they disagree on is marked: the subject
//! reads the clock, the environment or a random seed.
//!
//! Valgrind's processor has no AVX-512 and few other novelties, and crates that
//! choose their code at run time choose for it. The count is that of the code
//! that an AVX2 machine would run.

mod child;
mod parent;
mod part;
mod region;
mod scratch;

pub(crate) use child::measure_regions;
pub(crate) use parent::{Selection, count, valgrind_version};

/// How many calls a region makes where the case says nothing: enough that what
/// happens every few calls is averaged, few enough that valgrind stays bearable.
pub(crate) fn calls_for(bytes: usize) -> u64 {
    const BYTES_A_REGION: usize = 64 * 1024;
    (BYTES_A_REGION / bytes.max(1)).clamp(1, 50) as u64
}

/// The regions before those of the subjects: two of an empty closure, from which
/// the harness's own instructions follow.
const CALIBRATION_CALLS: [u64; 2] = [1, 1001];

/// What the harness itself costs a region, and a call in it.
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
    fn taken_off(self, total: u64, calls: u64) -> f64 {
        // The optimizer may spend less on a closure's loop than on the empty one's.
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
        assert_eq!(overhead.taken_off(20 + 10 * (5 + 300), 10), 300.0);
        assert_eq!(overhead.taken_off(3, 1), 0.0);
    }

    #[test]
    fn small_inputs_get_more_calls() {
        assert_eq!(calls_for(0), 50);
        assert_eq!(calls_for(8 * 1024), 8);
        assert_eq!(calls_for(1 << 30), 1);
    }
}
