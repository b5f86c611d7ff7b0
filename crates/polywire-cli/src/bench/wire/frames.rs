//! Calls over frames.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use polywire::rpc::frames::{CallError, Client};

use super::{About, Asked, Connect, Expected, Outcome, Wire};
use crate::Failure;
use crate::bench::recording::Wrong;
use crate::call::ServiceArguments;
use crate::call::frames::FramesCall;

/// A call over frames.
#[derive(Clone, Debug)]
pub(in crate::bench) struct Frames {
    call: Arc<FramesCall>,
    expected: Arc<Expected>,
}

impl Frames {
    pub(super) async fn new(asked: Asked<'_>, service: &ServiceArguments) -> Result<Self, Failure> {
        let call = service
            .frames(asked.url, asked.operation, asked.input, asked.deadline)
            .await?;
        let expected = Expected::new(asked.expectation, call.output_member()?)?;
        Ok(Self {
            call: Arc::new(call),
            expected: Arc::new(expected),
        })
    }

    pub(super) fn about(&self) -> About {
        About {
            url: self.call.url.clone(),
            wire: "frames".to_owned(),
            operation: self.call.name.clone(),
        }
    }
}

impl Connect for Frames {
    type Wire = Connection;

    async fn connect(&self) -> Result<Connection, Failure> {
        Ok(Connection {
            client: Mutex::new((0, self.call.connect().await?)),
            frames: self.clone(),
            attempts: tokio::sync::Mutex::new(0),
        })
    }
}

/// A client of frames, which is made anew when its connection is lost.
#[derive(Debug)]
pub(in crate::bench) struct Connection {
    frames: Frames,
    /// With the number of the attempt that it comes from.
    client: Mutex<(u64, Client)>,
    /// To connect again. Who holds it makes the next.
    attempts: tokio::sync::Mutex<u64>,
}

/// Before each attempt to connect again.
const PAUSE: Duration = Duration::from_millis(50);

impl Wire for Connection {
    async fn call(&self) -> Outcome {
        let (number, client) = self.client();
        let error = match self.frames.call.call(&client).await {
            Ok(reply) => return self.frames.expected.check(&reply),
            Err(error) => error,
        };
        if matches!(error, CallError::Disconnected { .. }) {
            self.mend(number).await;
        }
        Err(Wrong::new(kind(&error), error))
    }
}

impl Connection {
    fn client(&self) -> (u64, Client) {
        let client = self.client.lock();
        // A client is whole whatever has panicked.
        client.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tries to connect again, once for all calls that were lost together.
    async fn mend(&self, lost: u64) {
        let mut attempts = self.attempts.lock().await;
        // Another has tried while this one waited.
        if *attempts > lost {
            return;
        }
        tokio::time::sleep(PAUSE).await;
        *attempts += 1;
        let mut client = self.client().1;
        if let Ok(new) = self.frames.call.connect().await {
            client = new;
        }
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = (*attempts, client);
    }
}

fn kind(error: &CallError) -> &'static str {
    match error {
        CallError::Deadline => "deadline",
        CallError::Disconnected { .. } => "disconnected",
        CallError::Fault(fault) => match fault.code().name() {
            Some("deadline") => "deadline",
            Some("overloaded") => "overloaded",
            Some("unavailable") => "unavailable",
            _ => "fault",
        },
        CallError::Full => "full",
        CallError::Invalid(_) => "invalid",
        CallError::Unreadable(_) => "unreadable",
        _ => "other",
    }
}
