//! Reading the body of a request.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use polywire_protocol::{Fault, FaultKind};

/// The whole body, if it comes in time and is not longer than `limit` bytes.
pub(super) async fn read<B>(body: B, limit: usize, time: Duration) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    // A length that is told ahead is refused without reading.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    match tokio::time::timeout(time, collect(body, limit)).await {
        Ok(result) => result,
        Err(_) => {
            let message = format!("the body did not arrive within {} s", time.as_secs_f64());
            Err(Fault::new(FaultKind::Malformed, message))
        }
    }
}

async fn collect<B>(body: B, limit: usize) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let mut body = std::pin::pin!(body);
    // Most bodies come in one piece, which is then the body, uncopied.
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let mut len = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Fault::new(FaultKind::Malformed, "the body ended too early").with_source(error)
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        len += data.len();
        if len > limit {
            return Err(too_large(limit));
        }
        if first.is_empty() {
            first = data;
        } else {
            if rest.is_empty() {
                rest.reserve((body.size_hint().lower() as usize).min(limit) + len);
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
    }
    Ok(if rest.is_empty() {
        first
    } else {
        rest.freeze()
    })
}

fn too_large(limit: usize) -> Fault {
    let message = format!("the body is longer than {limit} bytes (Limits::bytes)");
    Fault::new(FaultKind::TooLarge, message)
}
