//! The quota of queued calls of a client.

use super::quota::{QueueLimits, QueueQuota};
use crate::sync::Arc;
use loom::thread;

/// At least one call enters the queue, and the usage is 0 when all calls have left.
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
