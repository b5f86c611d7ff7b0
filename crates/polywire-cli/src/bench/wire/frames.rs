//! Calls over frames.

use std::sync::Arc;

use polywire::rpc::frames::Client;

use super::{Connect, Outcome, ReplyChecker, TargetInfo, TargetSpec, Wire, kind};
use crate::Failure;
use crate::bench::recording::CallFailure;
use crate::call::ServiceArguments;
use crate::call::frames::FramesCall;

/// A prepared call over frames.
#[derive(Clone, Debug)]
pub(in crate::bench) struct Frames {
    call: Arc<FramesCall>,
    expected: Arc<ReplyChecker>,
}

impl Frames {
    pub(super) async fn new(
        asked: TargetSpec<'_>,
        service: &ServiceArguments,
    ) -> Result<Self, Failure> {
        let call = service
            .frames(asked.url, asked.operation, asked.input, asked.deadline)
            .await?;
        let expected = ReplyChecker::new(asked.expectation, call.output_member()?)?;
        Ok(Self {
            call: Arc::new(call),
            expected: Arc::new(expected),
        })
    }

    pub(super) fn info(&self) -> TargetInfo {
        TargetInfo {
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

/// A frame client, which reconnects automatically.
#[derive(Debug)]
pub(in crate::bench) struct Connection {
    client: Client,
    frames: Frames,
}

impl Wire for Connection {
    async fn call(&self) -> Outcome {
        match self.frames.call.call(&self.client).await {
            Ok(reply) => self.frames.expected.check(&reply),
            Err(error) => Err(CallFailure::new(kind(&error), error)),
        }
    }
}
