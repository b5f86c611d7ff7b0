//! Bodies with `Content-Encoding: gzip`: any bytes never cost more than the
//! limit, and what a client compresses is what a server reads.

use std::sync::LazyLock;

use bytes::Bytes;
use http::Request;
use polywire_model::Loader;
use polywire_protocol::{Fault, FaultKind, RequestOptions, decode_content, finish_request};
use polywire_schema::SchemaSet;

/// What may be read in one piece before it is asked whether it may.
const PIECE: usize = 64 * 1024;

static SET: LazyLock<SchemaSet<'static>> = LazyLock::new(|| {
    let text = include_str!("constraints.smithy");
    let loaded = Loader::new()
        .add_text("constraints.smithy", text)
        .assemble();
    let model = loaded.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("fuzz#Constrained").unwrap().unwrap()
});

pub(crate) fn any(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let rest = Bytes::copy_from_slice(rest);
    bounded(&rest, usize::from(*first) * 1024);
    there_and_back(&rest);
}

/// Any bytes as if they were gzip, and a limit.
fn bounded(body: &Bytes, limit: usize) {
    let (mut head, ()) = Request::post("/")
        .header("content-encoding", "gzip")
        .body(())
        .unwrap()
        .into_parts();
    let (mut longest, mut refused) = (0, false);
    let mut grows = |len: usize| {
        assert!(!refused, "asked again after it was refused");
        assert!(
            len > longest && len - longest <= PIECE,
            "{longest} to {len}"
        );
        longest = len;
        refused = len > limit;
        match refused {
            true => Err(Fault::new(FaultKind::TooLarge, "too much")),
            false => Ok(()),
        }
    };
    match decode_content(None, &mut head, body, &mut grows) {
        Ok(Some(decoded)) => {
            assert!(!refused && decoded.len() == longest && longest <= limit);
            assert!(!head.headers.contains_key("content-encoding"));
        }
        Ok(None) => assert!(body.is_empty()),
        Err(fault) => match fault.kind() {
            FaultKind::TooLarge => assert!(refused),
            FaultKind::Malformed => assert!(!refused),
            other => panic!("{other:?}"),
        },
    }
}

/// Any bytes as a body that a client compresses.
fn there_and_back(body: &Bytes) {
    let operation = SET.service(0).find_operation("Compressed").unwrap();
    let mut request = Request::post("/").body(body.clone()).unwrap();
    let options = RequestOptions::DEFAULT.with_compress_from(Some(0));
    finish_request(&[operation], &mut request, &options).unwrap();
    let (mut head, sent) = request.into_parts();
    let read = decode_content(Some(operation), &mut head, &sent, &mut |_| Ok(()));
    assert_eq!(read.unwrap().unwrap_or(sent), *body);
}
