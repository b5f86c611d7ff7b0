//! The task of a connection: it connects, and reconnects when the connection has ended.

use std::sync::Arc;

use polywire_frame::Reason;
use tokio::time::{Instant, timeout};

use super::endpoint::Endpoint;
use super::state::ClientState;
use crate::connect::{Step, TransportError};
use crate::error::Cause;
use crate::frames::link::Link;

/// Maintains a connection until the client is dropped, which aborts this task.
pub(super) async fn maintain(state: Arc<ClientState>, lane: usize, endpoint: Arc<Endpoint>) {
    // Consecutive connections that failed or were short.
    let mut failures = 0;
    loop {
        match connect(&state, &endpoint).await {
            Ok(link) => {
                let since = state.clock.now();
                state.connected(lane, &link);
                let link_end = link.ended().await;
                let now = state.clock.now();
                state.flow().lost(lane, now, &link, &link_end);
                // Calls that are open hold the old one, until they have ended.
                drop(link);
                if now.since(since) >= state.config.reconnect.most() {
                    failures = 0;
                    // For these reasons a server ends connections one by one, and calls wait for the next one. A
                    // server that stops ends all of them together: their clients must not come back together.
                    if let Some(Reason::AGE | Reason::IDLE) = link_end.go_away {
                        continue;
                    }
                }
            }
            Err(cause) => state.failed(lane, &cause),
        }
        failures += 1;
        // Jitter applies to the first wait too, because a stopping server notifies all clients at once.
        let chance = state.flow().random.fraction();
        tokio::time::sleep(state.config.reconnect.wait(failures, chance)).await;
    }
}

/// Connects, and waits for the hello of the server. An open connection is not enough: the system accepts connections for
/// a server that is about to start or has just stopped.
async fn connect(state: &ClientState, endpoint: &Endpoint) -> Result<Arc<Link>, Cause> {
    let within = state.config.connect_timeout;
    let began = Instant::now();
    let link = endpoint.open(state.link_options(), within).await?;
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
