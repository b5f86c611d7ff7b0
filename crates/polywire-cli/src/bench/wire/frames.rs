//! Calls over frames.

use std::sync::Arc;

use polywire::rpc::frames::Client;

use super::{About, Asked, Connect, Expected, Outcome, Wire, kind};
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
            client: self.call.connect().await?,
            frames: self.clone(),
        })
    }
}

/// A client of frames, which connects again by itself.
#[derive(Debug)]
pub(in crate::bench) struct Connection {
    client: Client,
    frames: Frames,
}

impl Wire for Connection {
    async fn call(&self) -> Outcome {
        match self.frames.call.call(&self.client).await {
            Ok(reply) => self.frames.expected.check(&reply),
            Err(error) => Err(Wrong::new(kind(&error), error)),
        }
    }
}
