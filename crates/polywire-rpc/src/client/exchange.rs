//! Requests and responses of calls over HTTP.

use bytes::Bytes;
use http::{Request, response};
use polywire_protocol::PayloadStream;
use polywire_schema::{Body, Operation};

use super::events::has_events;
use super::web::Http;
use super::{Client, Exchange, ResponseMode};
use crate::CallError;
use crate::call::CallTimeout;

impl Client {
    /// Sends a request over HTTP. `operation` is `None` for messages with several calls.
    pub(super) async fn exchange_http(
        &self,
        http: &Http,
        request: Request<Bytes>,
        operation: Option<Operation<'_>>,
        mode: ResponseMode,
        show: Option<&mut impl FnMut(&Exchange)>,
    ) -> Result<(response::Parts, Body), CallError> {
        if let (Some(policy), Some(operation)) = (&http.retry, operation) {
            let policy = &**policy;
            let calls = self.exchange_with_retries(http, policy, request, operation, mode, show);
            // Large, and rare.
            return Box::pin(calls).await;
        }
        let timeout = CallTimeout::start(self.inner.deadline);
        self.attempt_http(http, request, operation, mode, show, timeout)
            .await
    }

    /// Sends a request over HTTP once.
    pub(super) async fn attempt_http(
        &self,
        http: &Http,
        mut request: Request<Bytes>,
        operation: Option<Operation<'_>>,
        mode: ResponseMode,
        show: Option<&mut impl FnMut(&Exchange)>,
        timeout: CallTimeout,
    ) -> Result<(response::Parts, Body), CallError> {
        let inner = &*self.inner;
        // With a stream, the deadline starts again with each piece.
        if http.send_deadline && request.extensions().get::<PayloadStream>().is_none() {
            timeout.write_header(request.headers_mut());
        }
        if let Some(interceptor) = &http.interceptor {
            let changed = timeout.timeout(interceptor.before_send(operation, &mut request));
            match changed.await {
                Some(Ok(())) => {}
                Some(Err(error)) => return Err(CallError::encode_text(error.to_string())),
                None => return Err(CallError::deadline(Some(inner.deadline))),
            }
        }
        // Copied only for an observer.
        let mut shown = show.map(|show| {
            let request = request.clone();
            let response = None;
            (show, Exchange { request, response })
        });
        if let Some((show, exchange)) = &mut shown {
            show(exchange);
        }
        let receives_events = self.receives_events(operation);
        let is_stream = |head: &response::Parts| match receives_events {
            true => has_events(head),
            false => {
                operation.is_some_and(|operation| inner.protocol.has_output_stream(operation, head))
            }
        };
        let is_stream = match mode {
            ResponseMode::Buffered if !receives_events => None,
            _ => Some(&is_stream as _),
        };
        let transport = http.servers.transport(request.uri());
        let transport = transport.map_err(|error| CallError::encode_text(error.to_string()))?;
        let answer = transport.exchange(request, inner.limits.bytes(), timeout, is_stream);
        let mut answer = answer.await?;
        if let Some(interceptor) = &http.interceptor {
            let checked = interceptor.after_response(operation, &mut answer);
            checked.map_err(|error| CallError::decode_text(error.to_string()))?;
        }
        if receives_events && let Some(operation) = operation {
            let initial = self.receive_events(operation, &mut answer);
            let initial = timeout.timeout(initial).await;
            initial.unwrap_or_else(|| Err(CallError::deadline(Some(inner.deadline))))?;
        }
        let (head, body) = answer.into_parts();
        if let Some((show, exchange)) = &mut shown {
            let response = http::Response::from_parts(head.clone(), body.clone());
            exchange.response = Some(response);
            show(exchange);
        }
        let body = Body::new(body);
        let in_utf8 = inner
            .protocol
            .in_utf8(&head.headers, &body, &inner.limits)
            .map_err(CallError::decode)?;
        Ok((head, in_utf8.unwrap_or(body)))
    }
}
