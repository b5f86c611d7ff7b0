//! Heads of SCGI: whole or in pieces they are the same, and what is written is read
//! again as the same.

use http::header::{CONNECTION, TRANSFER_ENCODING};
use polywire_protocol::scgi::{
    HEAD_LIMIT, Request, RequestReader, Response, ResponseReader, write_request, write_response,
};
use polywire_schema::Error;

use super::readers::check;

/// What reads a head from pieces.
trait Reader {
    type Head;

    fn new(limit: usize) -> Self;
    fn feed(&mut self, bytes: &[u8]) -> Result<Option<Self::Head>, Error>;
    fn ended(&self) -> Error;
    /// All of the head, as it is written; nothing if it cannot be.
    fn written(head: &Self::Head) -> Option<Vec<u8>>;
    /// What came of the body.
    fn body_start(head: &Self::Head) -> &[u8];
}

impl Reader for RequestReader {
    type Head = Request;

    fn new(limit: usize) -> Self {
        Self::new(limit)
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<Option<Request>, Error> {
        self.feed(bytes)
    }

    fn ended(&self) -> Error {
        self.ended()
    }

    fn written(request: &Request) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        write_request(&request.head, request.length, &mut out).ok()?;
        Some(out)
    }

    fn body_start(request: &Request) -> &[u8] {
        &request.body_start
    }
}

impl Reader for ResponseReader {
    type Head = Response;

    fn new(limit: usize) -> Self {
        Self::new(limit)
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<Option<Response>, Error> {
        self.feed(bytes)
    }

    fn ended(&self) -> Error {
        self.ended()
    }

    fn written(response: &Response) -> Option<Vec<u8>> {
        let mut head = response.head.clone();
        for name in [CONNECTION, TRANSFER_ENCODING] {
            head.headers.remove(name);
        }
        let mut out = Vec::new();
        write_response(&head, Some(response.length.unwrap_or(0)), &mut out);
        Some(out)
    }

    fn body_start(response: &Response) -> &[u8] {
        &response.body_start
    }
}

/// A size of the pieces, and the bytes, as a request and as a response.
pub(crate) fn any(data: &[u8]) {
    let Some((size, data)) = data.split_first() else {
        return;
    };
    let size = usize::from(*size).max(1);
    head::<RequestReader>(data, size);
    head::<ResponseReader>(data, size);
}

fn head<R: Reader>(data: &[u8], size: usize) {
    let whole = read::<R>(data, data.len().max(1), HEAD_LIMIT);
    let pieces = read::<R>(data, size, HEAD_LIMIT);
    check(&whole, data.len());
    check(&pieces, data.len());
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert_eq!(R::written(whole), R::written(pieces));
            assert!(R::body_start(whole).starts_with(R::body_start(pieces)));
        }
        (Err(whole), Err(pieces)) => {
            assert_eq!(whole.kind(), pieces.kind(), "{whole}\n{pieces}");
            assert_eq!(whole.offset(), pieces.offset(), "{whole}\n{pieces}");
        }
        _ => panic!("{:?}\n{:?}", whole.err(), pieces.err()),
    }
    let small = read::<R>(data, size, 100);
    check(&small, data.len());
    let Some(written) = whole.ok().as_ref().and_then(R::written) else {
        return;
    };
    // The target stands there three times, so it may be longer than what was read.
    let again = read::<R>(&written, written.len(), usize::MAX).unwrap();
    assert_eq!(R::written(&again).unwrap(), written);
}

fn read<R: Reader>(data: &[u8], size: usize, limit: usize) -> Result<R::Head, Error> {
    let mut reader = R::new(limit);
    for piece in data.chunks(size) {
        if let Some(head) = reader.feed(piece)? {
            return Ok(head);
        }
    }
    Err(reader.ended())
}
