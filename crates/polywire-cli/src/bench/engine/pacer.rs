//! Wakes a thread when its next call is due.
//!
//! Timers of tokio have a resolution of a millisecond, which is longer than many calls take. A
//! thread that sleeps in the kernel wakes up within about 60 us, without using CPU time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::super::schedule::Share;
use super::state::Run;

/// Calls that are due within this time are sent together, to sleep less often and leave CPU time
/// for calls.
const MIN_SLEEP: Duration = Duration::from_micros(20);

/// The maximum sleep, which bounds the delay in noticing the end of a run.
const MAX_SLEEP: Duration = Duration::from_millis(20);

/// Starts the thread. It ends with the run.
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
            // The call may have become due already.
            let wait = next.saturating_sub(run.now());
            std::thread::sleep(wait.clamp(MIN_SLEEP, MAX_SLEEP));
        }
    })?;
    Ok(notify)
}
