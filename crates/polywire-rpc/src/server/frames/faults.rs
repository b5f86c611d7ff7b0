//! Encoding of faults for frames.

use polywire_codec::cbor;
use polywire_frame::FaultCode;
use polywire_frame::server::Fault as SentFault;
use polywire_protocol::{Fault, FaultKind, ServerProtocol};
use polywire_schema::{Map, Value};

use super::table::Table;
use crate::call::faults::log_internal;
use crate::call::{Engine, Target};

/// Encodes a fault: the fields of the frame, and the details as its payload. Logs internal faults.
pub(super) fn encode(
    engine: &Engine,
    table: &Table,
    target: Option<&Target>,
    fault: &Fault,
    unstarted: bool,
) -> (SentFault, Vec<u8>) {
    let sent = SentFault {
        retry_after: fault.retry_after().map_or(0, |time| {
            u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
        }),
        unstarted,
        ..SentFault::new(code(fault.kind()))
    };
    if let Some(operation) = target.and_then(|target| target.operation(engine))
        && let Some(shape) = fault.shape_in(Some(operation))
        && let Ok(response) = table.wire().encode_error(shape, fault)
    {
        return (sent, response.into_body().into());
    }
    let name = target.map_or("", |target| target.name(engine));
    log_internal(fault, name);
    let is_internal = matches!(fault.kind(), FaultKind::Internal | FaultKind::Modelled);
    let (name, message) = match fault.kind() {
        FaultKind::Named => (fault.name(), fault.message()),
        _ if is_internal => (FaultKind::Internal.name(), "an internal error occurred"),
        kind => (kind.name(), fault.message()),
    };
    let mut details = Map::from_iter([
        ("__type", Value::from(name)),
        ("message", Value::from(message)),
    ]);
    if let Some(code) = fault.code() {
        details.insert("code", Value::from(code));
    }
    let sent = match is_internal {
        true => SentFault {
            code: FaultCode::INTERNAL,
            ..sent
        },
        false => sent,
    };
    // A map of strings and a number can always be written.
    let details = cbor::write_value(&Value::Map(details)).unwrap_or_default();
    (sent, details)
}

const fn code(kind: FaultKind) -> FaultCode {
    match kind {
        FaultKind::DeadlineExceeded | FaultKind::RequestTimeout => FaultCode::DEADLINE,
        FaultKind::Forbidden => FaultCode::FORBIDDEN,
        FaultKind::Invalid => FaultCode::INVALID,
        FaultKind::Malformed | FaultKind::UnsupportedMediaType => FaultCode::MALFORMED,
        FaultKind::Modelled => FaultCode::MODELLED,
        FaultKind::Named => FaultCode::NAMED,
        FaultKind::Overloaded => FaultCode::OVERLOADED,
        FaultKind::TooLarge => FaultCode::TOO_LARGE,
        FaultKind::Unauthenticated => FaultCode::UNAUTHENTICATED,
        FaultKind::UnknownOperation => FaultCode::UNKNOWN_OPERATION,
        FaultKind::MethodNotAllowed | FaultKind::NotAcceptable => FaultCode::UNSUPPORTED,
        _ => FaultCode::INTERNAL,
    }
}
