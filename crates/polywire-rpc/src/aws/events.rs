//! Event streams whose messages are signed.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http::StatusCode;
use http_body::{Body, Frame};
use polywire_aws::signature::{EventSigner, EventVerifier};
use polywire_protocol::Fault;
use polywire_protocol::event_stream::{MessageDecoder, MessageLimits, SignedEnvelope};
use polywire_schema::{ByteStream, StreamError, StreamErrorKind};
use polywire_text::Timestamp;

use super::authenticator::now;
use crate::server::{BodyError, HttpBody};

/// A stream of messages, each in a signed message.
pub(super) struct SignedEvents {
    /// Each piece is a message.
    source: ByteStream,
    /// `None` after the message without payload, which is the last.
    signer: Option<EventSigner>,
}

impl SignedEvents {
    pub(super) fn stream(source: ByteStream, signer: EventSigner) -> ByteStream {
        let signer = Some(signer);
        ByteStream::new(Self { source, signer })
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Puts a message into a signed one.
fn sign(signer: &mut EventSigner, payload: &[u8]) -> Result<Bytes, BoxError> {
    // The string to sign has whole seconds, so the header has them too.
    let date = Timestamp::new(now().seconds(), 0);
    let header = SignedEnvelope::signed_header(date)?;
    let signature = signer.sign_event(date, &header, payload)?;
    let message = SignedEnvelope::encode(Vec::new(), date, &signature, payload)?;
    Ok(Bytes::from(message))
}

impl Stream for SignedEvents {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let own = &mut *self;
        let Some(signer) = &mut own.signer else {
            return Poll::Ready(None);
        };
        let signed = match ready!(Pin::new(&mut own.source).poll_next(context)) {
            Some(Ok(message)) => sign(signer, &message),
            None => {
                let last = sign(signer, b"");
                own.signer = None;
                last
            }
            // Without the last message the stream is not complete.
            Some(Err(error)) => {
                own.signer = None;
                return Poll::Ready(Some(Err(error)));
            }
        };
        let failed =
            |error: BoxError| StreamError::new(StreamErrorKind::Interrupted).with_source(error);
        Poll::Ready(Some(signed.map_err(failed)))
    }
}

/// The body of a request with signed messages. Each piece of data is the message inside of one.
pub(super) struct VerifiedEvents {
    body: HttpBody,
    /// `None` if signatures are not checked.
    verifier: Option<EventVerifier>,
    decoder: MessageDecoder,
    /// Received bytes that have not been decoded.
    input: Bytes,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Open,
    /// The last message has arrived. Nothing may follow it.
    Ended,
    /// The body has ended, or an error was returned.
    Done,
}

impl VerifiedEvents {
    pub(super) fn new(body: HttpBody, verifier: Option<EventVerifier>) -> Self {
        Self {
            body,
            verifier,
            decoder: MessageDecoder::new(MessageLimits::DEFAULT),
            input: Bytes::new(),
            state: State::Open,
        }
    }

    /// The next message inside.
    fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        let Some(message) = self.decoder.decode(&mut self.input)? else {
            return Ok(None);
        };
        if self.state != State::Open {
            return Err(truncated("no message after the last one"));
        }
        let envelope = SignedEnvelope::from_message(message)?;
        let header = SignedEnvelope::signed_header(envelope.date)?;
        let (payload, signature) = (&envelope.payload, envelope.signature.as_bytes());
        if let Some(verifier) = &mut self.verifier {
            let verified = verifier.verify_event(envelope.date, &header, payload, signature, now());
            verified.map_err(|error| {
                let name = "InvalidSignatureException";
                Fault::named(StatusCode::FORBIDDEN, name, error.to_string())
            })?;
        }
        if envelope.payload.is_empty() {
            self.state = State::Ended;
            return Ok(None);
        }
        Ok(Some(envelope.payload))
    }

    fn poll_message(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, BodyError>> {
        loop {
            if self.state == State::Done {
                return Poll::Ready(Ok(None));
            }
            if let Some(message) = self.next().map_err(BodyError::new)? {
                return Poll::Ready(Ok(Some(message)));
            }
            if !self.input.is_empty() {
                continue;
            }
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => self.input = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None if self.state == State::Ended => self.state = State::Done,
                None => {
                    let fault = truncated("a last message without payload");
                    return Poll::Ready(Err(BodyError::new(fault)));
                }
            }
        }
    }
}

fn truncated(expected: &str) -> Fault {
    let message = format!("the signed event stream: expected {expected}");
    Fault::named(
        StatusCode::BAD_REQUEST,
        "InvalidSignatureException",
        message,
    )
}

impl Body for VerifiedEvents {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let own = self.get_mut();
        let message = ready!(own.poll_message(context));
        if message.is_err() {
            own.state = State::Done;
        }
        Poll::Ready(message.transpose().map(|message| message.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.state == State::Done
    }
}
