//! Calls of a client that wait.

use super::room::{Bounds, Room};
use crate::sync::Arc;
use loom::thread;

/// As many wait as may, and the counts are right when all have left.
#[test]
fn as_many_wait_as_may() {
    loom::model(|| {
        let bounds = Bounds {
            calls: 1,
            bytes: 100,
        };
        let room = Arc::new(Room::new(bounds));
        let calls: Vec<_> = (0..2)
            .map(|_| {
                let room = Arc::clone(&room);
                thread::spawn(move || {
                    let entered = room.enter(10).is_ok();
                    if entered {
                        room.leave(10);
                    }
                    entered
                })
            })
            .collect();
        let entered = calls.into_iter().map(|call| call.join().unwrap());
        assert!(entered.filter(|entered| *entered).count() >= 1);
        assert_eq!(room.figures(), (0, 0));
    });
}
