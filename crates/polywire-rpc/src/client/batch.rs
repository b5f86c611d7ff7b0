//! Notifications, and several calls in one message.

use std::ops::Range;

use bytes::Bytes;
use http::{Request, response};
use polywire_codec::Dynamic;
use polywire_protocol::BatchOutcome;
use polywire_schema::{Body, Error, ErrorKind, LimitKind, Map, Operation, Value};

use super::{Carrier, Client, NO_OBSERVER};
use crate::CallError;

impl Client {
    /// Sends a notification: a call without a response, so that neither its output nor its errors are known. Only JSON-RPC has
    /// notifications.
    ///
    /// Over HTTP this returns when the server has accepted the message: its response has the status 200, 202 or 204 and no
    /// body, or the body `null`. Over lines it returns when the message is written.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use polywire_model::Loader;
    /// use polywire_protocol::ProtocolKind;
    /// use polywire_rpc::{Client, Server, ServiceHandle, dynamic};
    /// use polywire_schema::Map;
    ///
    /// # let text = r#"
    /// #     $version: "2"
    /// #     namespace example
    /// #     service Log { version: "1", operations: [Write] }
    /// #     operation Write { input := { line: String } }
    /// # "#;
    /// # let model = Loader::new().add_text("log.smithy", text).assemble()?.model;
    /// # let schemas = model.schemas("example#Log").unwrap()?;
    /// # let service = ServiceHandle::new(Arc::new(schemas), 0);
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    /// # runtime.block_on(async {
    /// let server = Server::builder(service.clone())
    ///     .protocol(ProtocolKind::JsonRpc)
    ///     .operation("Write", dynamic(|_: Map, _| async { Ok(()) }))
    ///     .build()?;
    /// let running = server.listen("127.0.0.1:0".parse()?).await?;
    /// let url = format!("http://{}", running.address());
    ///
    /// let client = Client::builder(service, ProtocolKind::JsonRpc).connect(&url)?;
    /// client.notify("Write", Map::from_iter([("line", "started")])).await?;
    /// # running.shutdown().await;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The protocol has no notifications ([`CallErrorKind::Usage`](crate::CallErrorKind::Usage)), the notification cannot be
    /// sent, or the server rejects the message.
    pub async fn notify(&self, operation: &str, input: Map) -> Result<(), CallError> {
        let operation = self.operation(operation)?;
        let call = self.encode(operation, &Dynamic(&Value::Map(input)))?;
        let request = self.inner.protocol.to_notification(call);
        let request = request.ok_or_else(|| self.unsupported("notifications"))?;
        let request = self.complete(&[operation], request, None)?;
        let (head, body) = self.exchange_message(0..0, request).await?;
        match self.inner.protocol.accepts_notification(&head, &body) {
            true => Ok(()),
            false => self.check(operation, &head, &body),
        }
    }

    /// Sends several calls in one message, and returns their results in the order of the calls. Only JSON-RPC has batches. The
    /// server may run the calls in any order, or at the same time.
    ///
    /// Over HTTP the message is compressed, or has a checksum, if the model requires it for one of the operations.
    ///
    /// The deadline and the limits apply to the whole response. There can be as many calls as
    /// [`Limits::calls`](polywire_schema::Limits::calls) says. Without calls nothing is sent.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use polywire_model::Loader;
    /// use polywire_protocol::ProtocolKind;
    /// use polywire_rpc::{Client, Server, ServiceHandle, dynamic};
    /// use polywire_schema::Map;
    ///
    /// # let text = r#"
    /// #     $version: "2"
    /// #     namespace example
    /// #     service Echo { version: "1", operations: [Say] }
    /// #     operation Say { input := { text: String }, output := { text: String } }
    /// # "#;
    /// # let model = Loader::new().add_text("echo.smithy", text).assemble()?.model;
    /// # let schemas = model.schemas("example#Echo").unwrap()?;
    /// # let service = ServiceHandle::new(Arc::new(schemas), 0);
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    /// # runtime.block_on(async {
    /// let server = Server::builder(service.clone())
    ///     .protocol(ProtocolKind::JsonRpc)
    ///     .operation("Say", dynamic(|input: Map, _| async move { Ok(input) }))
    ///     .build()?;
    /// let running = server.listen("127.0.0.1:0".parse()?).await?;
    /// let url = format!("http://{}", running.address());
    ///
    /// let client = Client::builder(service, ProtocolKind::JsonRpc).connect(&url)?;
    /// let calls = ["one", "two"].map(|text| ("Say", Map::from_iter([("text", text)])));
    /// let results = client.call_batch(calls).await?;
    /// assert_eq!(results.len(), 2);
    /// assert_eq!(results[1].as_ref().unwrap()["text"].as_str(), Some("two"));
    /// # running.shutdown().await;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A call that fails, or has not exactly one response, has its error in the vector. The whole batch fails if the protocol
    /// has no batches ([`CallErrorKind::Usage`](crate::CallErrorKind::Usage)), if one of the calls cannot be encoded, so that
    /// none is sent, if there is no response, or if it cannot be read or is one error for the whole message.
    pub async fn call_batch<'c>(
        &self,
        calls: impl IntoIterator<Item = (&'c str, Map)>,
    ) -> Result<Vec<Result<Value, CallError>>, CallError> {
        let encode = |(name, input): (&str, Map)| {
            let operation = self.operation(name)?;
            let request = self.encode(operation, &Dynamic(&Value::Map(input)))?;
            Ok((operation, request))
        };
        // One more than the limit, which is then an error: the iterator may have no end.
        let most = self.inner.limits.calls() as usize + 1;
        let calls: Result<Vec<_>, CallError> = calls.into_iter().take(most).map(encode).collect();
        self.exchange_batch(calls?).await
    }

    async fn exchange_batch(
        &self,
        calls: Vec<(Operation<'_>, Request<Bytes>)>,
    ) -> Result<Vec<Result<Value, CallError>>, CallError> {
        let inner = &*self.inner;
        let most = inner.limits.calls();
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        if calls.len() > most as usize {
            let error = Error::new(ErrorKind::Limit(LimitKind::Calls(most)));
            return Err(CallError::encode(error));
        }
        let (operations, calls): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
        let ids = match &inner.carrier {
            Carrier::Http(_) => 1..calls.len() as u64 + 1,
            Carrier::Messages(messages) => messages.reserve_ids(calls.len() as u64),
        };
        let request = inner.protocol.join_calls(calls, ids.clone());
        let request = request.map_err(CallError::encode)?;
        let request = request.ok_or_else(|| self.unsupported("batches"))?;
        let request = self.complete(&operations, request, None)?;
        let (head, body) = self.exchange_message(ids.clone(), request).await?;
        let outcome = inner
            .protocol
            .split_responses(ids, &head, body, &inner.limits);
        let responses = match outcome.map_err(CallError::decode)? {
            BatchOutcome::Responses(responses) => responses,
            BatchOutcome::Fault(fault) => return Err(fault.with_head(&head.headers).into()),
            BatchOutcome::Foreign(what) => return Err(CallError::protocol(what)),
        };
        let results = operations.into_iter().zip(responses);
        let results = results.map(|(operation, response)| {
            let response = response.map_err(CallError::decode_text)?;
            self.output(operation, &head, &response)
        });
        Ok(results.collect())
    }

    /// Sends a message with the calls of these ids, or without any, and reads the answer.
    async fn exchange_message(
        &self,
        ids: Range<u64>,
        request: Request<Bytes>,
    ) -> Result<(response::Parts, Body), CallError> {
        match &self.inner.carrier {
            Carrier::Http(http) => {
                let mode = super::ResponseMode::Buffered;
                self.exchange_http(http, request, None, mode, NO_OBSERVER)
                    .await
            }
            Carrier::Messages(messages) => {
                messages.exchange_message(ids, request.into_body()).await
            }
        }
    }

    #[cold]
    fn unsupported(&self, what: &str) -> CallError {
        CallError::usage(&format!("{} has no {what}", self.inner.protocol.kind()))
    }
}
