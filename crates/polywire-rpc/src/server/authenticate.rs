//! The first steps inside the layers around HTTP requests: the deadline, and the authentication of the caller.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use polywire_protocol::{Fault, FaultKind};
use tokio::time::Instant;

use super::answer::Answer;
use super::app::App;
use super::body::RequestBody;
use crate::auth::AuthResult;
use crate::call::{CallHead, Deadline};
use crate::peer::Peer;

impl App {
    /// Begins to answer a request: what the head tells is done at once.
    pub(super) fn answer(
        self: &Arc<Self>,
        head: Arc<http::request::Parts>,
        mut body: RequestBody,
        peer: Peer,
    ) -> Answer {
        let deadline = match Deadline::of_request(&head.headers) {
            Ok(deadline) => deadline,
            Err(fault) => return Answer::Ready(self.refuse(&head, &fault)),
        };
        body.set_deadline(deadline);
        if self.authenticators.is_empty() || self.upgrades_to_frames(&head) {
            return self.answer_to(None, deadline, head, body, peer);
        }
        let call = CallHead::of_request(&peer, &head);
        let pending = match self.authenticators.authenticate(&call) {
            AuthResult::Ready(Ok(identity)) => {
                return self.answer_to(Some(identity), deadline, head, body, peer);
            }
            AuthResult::Ready(Err(fault)) => {
                return Answer::Ready(self.unauthenticated(&head, &fault));
            }
            AuthResult::Pending(pending) => pending,
        };
        let app = Arc::clone(self);
        Answer::Boxed(Box::pin(async move {
            let limit = deadline.earlier(Deadline::after(Instant::now(), app.timeouts.handler));
            match limit.limit(pending).await {
                Ok(identity) => {
                    app.answer_to(Some(identity), deadline, head, body, peer)
                        .await
                }
                Err(fault) => app.unauthenticated(&head, &fault),
            }
        }))
    }

    /// Whether a request is for a WebSocket that carries frames, whose calls are authenticated one by one: a web page can
    /// add no header to an upgrade request.
    fn upgrades_to_frames(&self, head: &http::request::Parts) -> bool {
        #[cfg(feature = "websocket")]
        return self.websockets.carries_frames(head);
        #[cfg(not(feature = "websocket"))]
        {
            let _ = head;
            false
        }
    }

    /// The answer to a caller that is not authenticated.
    #[cold]
    fn unauthenticated(&self, head: &http::request::Parts, fault: &Fault) -> Response<Bytes> {
        let mut response = self.refuse(head, fault);
        if fault.kind() == FaultKind::Unauthenticated {
            for challenge in self.authenticators.challenges() {
                response
                    .headers_mut()
                    .append(http::header::WWW_AUTHENTICATE, challenge);
            }
        }
        response
    }
}
