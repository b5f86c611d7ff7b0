//! Calls of a client that wait.

use super::quota::{QueueLimits, QueueQuota};
use crate::sync::Arc;
use loom::thread;

/// As many wait as may, and the counts are right when all have left.
#[test]
fn as_many_wait_as_may() {
    loom::model(|| {
        let limits = QueueLimits {
            calls: 1,
            bytes: 100,
        };
        let quota = Arc::new(QueueQuota::new(limits));
        let calls: Vec<_> = (0..2)
            .map(|_| {
                let quota = Arc::clone(&quota);
                thread::spawn(move || {
                    let entered = quota.acquire(10).is_ok();
                    if entered {
                        quota.release(10);
                    }
                    entered
                })
            })
            .collect();
        let entered = calls.into_iter().map(|call| call.join().unwrap());
        assert!(entered.filter(|entered| *entered).count() >= 1);
        assert_eq!(quota.usage(), (0, 0));
    });
}
