//! A body that is decoded and checked while it is read.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{StatusCode, request};
use http_body::{Body, Frame, SizeHint};
use polywire_aws::chunked::BodyReader;
use polywire_aws::signature::VerifiedRequest;
use polywire_protocol::Fault;
use sha2::{Digest, Sha256};

use super::SignatureAuthenticator;
use super::body::{ReceivedChecksums, fault};
use crate::server::{BodyError, HttpBody};

/// What is checked of a body.
pub(super) struct Checks {
    /// `None` after the end of the body.
    pub(super) reader: Option<BodyReader>,
    pub(super) signature: Option<DeferredSignature>,
    /// A request whose verified signature covers the hash of the body.
    pub(super) hash: Option<VerifiedRequest>,
    pub(super) checksums: ReceivedChecksums,
}

/// A signature that covers the hash of the body.
pub(super) struct DeferredSignature {
    pub(super) authenticator: SignatureAuthenticator,
    pub(super) head: Box<request::Parts>,
}

type Verification = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send>>;

/// A body that ends with an error if one of its checks fails.
pub(super) struct DecodedBody {
    body: HttpBody,
    checks: Checks,
    /// The hash for the deferred signature.
    hash: Sha256,
    /// Received bytes that have not been decoded.
    input: Bytes,
    /// The number of decoded bytes that have not been read, if it is known.
    left: Option<u64>,
    state: State,
}

enum State {
    Reading,
    /// The body has ended, and the deferred signature is verified. The lock makes the type `Sync`.
    Verifying(Mutex<Verification>),
    Done,
}

impl DecodedBody {
    pub(super) fn new(body: HttpBody, checks: Checks, len: Option<u64>) -> Self {
        Self {
            body,
            checks,
            hash: Sha256::new(),
            input: Bytes::new(),
            left: len,
            state: State::Reading,
        }
    }

    /// Decodes the received bytes up to the next piece.
    fn decode(&mut self) -> Result<Option<Bytes>, Fault> {
        let Some(reader) = &mut self.checks.reader else {
            return Ok(None);
        };
        let piece = reader
            .feed(&mut self.input)
            .map_err(|error| fault(&error))?;
        if let Some(piece) = &piece {
            if self.checks.signature.is_some() || self.checks.hash.is_some() {
                self.hash.update(piece);
            }
            self.left = self
                .left
                .map(|left| left.saturating_sub(piece.len() as u64));
        }
        Ok(piece)
    }

    /// Checks what can only be checked at the end.
    fn finish(&mut self) -> Result<State, Fault> {
        if let Some(reader) = self.checks.reader.take() {
            let checksums = reader.finish().map_err(|error| fault(&error))?;
            // Set once: this is the only end of the body.
            let _ = self.checks.checksums.0.set(checksums);
        }
        let hash: [u8; 32] = std::mem::take(&mut self.hash).finalize().into();
        if let Some(verified) = self.checks.hash.take() {
            let checked = verified.check_body(&hash);
            checked.map_err(|error| {
                let name = "XAmzContentSHA256Mismatch";
                Fault::named(StatusCode::BAD_REQUEST, name, error.to_string())
            })?;
        }
        let Some(DeferredSignature {
            authenticator,
            head,
        }) = self.checks.signature.take()
        else {
            return Ok(State::Done);
        };
        Ok(State::Verifying(Mutex::new(Box::pin(async move {
            authenticator.verify(&head, Some(&hash)).await.map(drop)
        }))))
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyError>> {
        loop {
            match &mut self.state {
                State::Done => return Poll::Ready(Ok(None)),
                State::Verifying(verification) => {
                    let verification = verification
                        .get_mut()
                        .unwrap_or_else(PoisonError::into_inner);
                    ready!(verification.as_mut().poll(context)).map_err(BodyError::new)?;
                    self.state = State::Done;
                    continue;
                }
                State::Reading => {}
            }
            if let Some(piece) = self.decode().map_err(BodyError::new)? {
                return Poll::Ready(Ok(Some(piece)));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                // Trailers of HTTP have no meaning here.
                Some(Ok(frame)) => self.input = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None => self.state = self.finish().map_err(BodyError::new)?,
            }
        }
    }
}

impl Body for DecodedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let own = self.get_mut();
        let piece = ready!(own.poll_piece(context));
        if piece.is_err() {
            own.state = State::Done;
        }
        Poll::Ready(piece.transpose().map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        // Only after all checks.
        matches!(self.state, State::Done)
    }

    fn size_hint(&self) -> SizeHint {
        self.left
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
