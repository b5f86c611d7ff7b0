//! The task that keeps a connection: it connects, and connects again when the connection has ended.

use std::sync::Arc;

use polywire_frame::Reason;
use tokio::time::{Instant, timeout};

use super::core::Core;
use super::endpoint::Endpoint;
use crate::connect::{Step, TransportError};
use crate::error::Cause;
use crate::frames::link::Link;

/// Keeps a connection until the client is gone, which ends this task.
pub(super) async fn keep(core: Arc<Core>, lane: usize, endpoint: Arc<Endpoint>) {
    // Connections one after the other that could not be made, or did not last.
    let mut failures = 0;
    loop {
        match connect(&core, &endpoint).await {
            Ok(link) => {
                let since = core.clock.now();
                core.connected(lane, &link);
                let farewell = link.ended().await;
                let now = core.clock.now();
                core.flow().lost(lane, now, &link, &farewell);
                // Calls that are open hold the old one, until they have ended.
                drop(link);
                if now.since(since) >= core.plan.reconnect.most() {
                    failures = 0;
                    // For these reasons a server ends connections one by one, and calls wait for the next one. A
                    // server that stops ends all of them together: their clients must not come back together.
                    if let Some(Reason::AGE | Reason::IDLE) = farewell.goodbye {
                        continue;
                    }
                }
            }
            Err(why) => core.failed(lane, &why),
        }
        failures += 1;
        // Jitter applies to the first wait too, because a stopping server notifies all clients at once.
        let chance = core.flow().chance.next();
        tokio::time::sleep(core.plan.reconnect.wait(failures, chance)).await;
    }
}

/// Connects, and waits for the hello of the server. An open connection is not enough: the system accepts connections for
/// a server that is about to start or has just stopped.
async fn connect(core: &Core, endpoint: &Endpoint) -> Result<Arc<Link>, Cause> {
    let within = core.plan.connect_timeout;
    let began = Instant::now();
    let link = endpoint.open(core.link_options(), within).await?;
    // One time limit for all steps. The error names the step that was late.
    let left = within.saturating_sub(began.elapsed());
    match timeout(left, link.greeted()).await {
        Ok(greeted) => greeted?,
        Err(_) => {
            let error = TransportError::new(&endpoint.name, Step::Handshake);
            return Err(error.timed_out(within).into());
        }
    }
    Ok(Arc::new(link))
}
