//! Wakes a thread when its next call is due.
//!
//! The timers of tokio are good to a millisecond, within which fast calls begin and end: latency
//! from the schedule would be that of the timer. A thread that sleeps in the kernel is woken within
//! some 60 us, and needs no processor to wait.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::super::schedule::Share;
use super::lane::Run;

/// What is due sooner than this is sent together: a thread that sleeps less often has more of the
/// processor left for calls.
const SHORTEST: Duration = Duration::from_micros(20);

/// How late the end of a run is seen.
const LONGEST: Duration = Duration::from_millis(20);

/// Starts the thread, which ends with the run.
pub(super) fn start(run: Arc<Run>, share: Share) -> io::Result<Arc<Notify>> {
    let notify = Arc::new(Notify::new());
    let wake = Arc::clone(&notify);
    let thread = std::thread::Builder::new().name("pacer".to_owned());
    thread.spawn(move || {
        loop {
            let now = run.now();
            wake.notify_one();
            if now >= run.end() {
                return;
            }
            let next = share.time_of(share.due_by(now));
            // It may be due meanwhile.
            let wait = next.saturating_sub(run.now());
            std::thread::sleep(wait.clamp(SHORTEST, LONGEST));
        }
    })?;
    Ok(notify)
}
