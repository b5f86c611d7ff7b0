//! Calls of operations over HTTP.

use std::sync::Arc;

use polywire::prelude::*;

use super::{Connect, Outcome, ReplyChecker, TargetInfo, TargetSpec, Wire, kind};
use crate::Failure;
use crate::bench::recording::CallFailure;
use crate::call::{HttpCall, ServiceArguments};

/// A prepared call over HTTP.
#[derive(Clone, Debug)]
pub(in crate::bench) struct Http {
    call: Arc<HttpCall>,
    expected: Arc<ReplyChecker>,
}

impl Http {
    pub(super) async fn new(
        asked: TargetSpec<'_>,
        service: &ServiceArguments,
    ) -> Result<Self, Failure> {
        let call = service
            .http(asked.url, asked.operation, asked.input, asked.deadline)
            .await?;
        let expected = ReplyChecker::new(asked.expectation, call.operation()?.output().root())?;
        Ok(Self {
            call: Arc::new(call),
            expected: Arc::new(expected),
        })
    }

    pub(super) fn info(&self) -> TargetInfo {
        TargetInfo {
            url: self.call.url(),
            wire: self.call.kind.to_string(),
            operation: self.call.operation.clone(),
        }
    }
}

impl Connect for Http {
    type Wire = Connections;

    async fn connect(&self) -> Result<Connections, Failure> {
        let client = self.call.client()?;
        Ok(Connections {
            client,
            http: self.clone(),
        })
    }
}

/// A client with its connection pool.
#[derive(Debug)]
pub(in crate::bench) struct Connections {
    client: Client,
    http: Http,
}

impl Wire for Connections {
    async fn call(&self) -> Outcome {
        let call = &self.http.call;
        let output = self.client.call(&call.operation, call.input.clone());
        match output.await {
            Ok(reply) => self.http.expected.check(&reply),
            Err(error) => Err(CallFailure::new(kind(&error), error)),
        }
    }
}
