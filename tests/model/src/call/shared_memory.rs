//! The memory of a server that its connections share.

use loom::thread;

use super::memory::{Memory, MemoryReservation};
use crate::sync::Arc;

/// Two connections never reserve more than the limit together, and return all of it.
#[test]
fn no_more_is_taken_than_there_is() {
    loom::model(|| {
        let all = Arc::new(Memory::new(100));
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let all = Arc::clone(&all);
                thread::spawn(move || {
                    let mut held = MemoryReservation::nothing(Arc::new(all.half()));
                    let taken = held.resize(60);
                    assert!(all.taken() <= 100);
                    taken
                })
            })
            .collect();
        let taken = takers.into_iter().map(|taker| taker.join().unwrap());
        // At least one reservation succeeds. Both succeed if they do not overlap.
        assert!(taken.filter(|taken| *taken).count() >= 1);
        assert_eq!(all.taken(), 0);
    });
}
