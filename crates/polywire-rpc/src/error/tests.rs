use polywire_codec::cbor;
use polywire_schema::{ErrorKind, Map, Value};

use super::*;

fn frame_fault(code: FaultCode, members: &[(&str, &str)]) -> FrameFault {
    let members = members
        .iter()
        .map(|(name, value)| (*name, Value::from(*value)));
    let details = Value::Map(Map::from_iter(members));
    FrameFault::new(code, 250, &cbor::write_value(&details).unwrap())
}

#[test]
fn an_error_has_the_size_of_a_pointer() {
    assert_eq!(size_of::<CallError>(), size_of::<usize>());
    assert_eq!(size_of::<Result<(), CallError>>(), size_of::<usize>());
}

#[test]
fn faults_over_frames() {
    let members = [("__type", "weather#Busy"), ("message", "later"), ("x", "1")];
    let fault = frame_fault(FaultCode::MODELLED, &members);
    assert_eq!(fault.name().as_deref(), Some("Busy"));
    let error = CallError::frame_fault(fault, true);
    assert_eq!(error.kind(), CallErrorKind::Fault);
    assert_eq!(error.retry_after(), Some(Duration::from_millis(250)));
    let fault = error.fault().unwrap();
    assert_eq!((fault.shape(), fault.message()), ("weather#Busy", "later"));
    assert_eq!(fault.details().len(), 2);
    let error = CallError::frame_fault(frame_fault(FaultCode::OVERLOADED, &[]), true);
    assert!(error.is_retryable() && error.is_unstarted());
    assert_eq!(error.to_string(), "overloaded");
    assert!(!error.after_attempts().is_unstarted());
}

#[test]
fn earlier_attempts_may_have_been_executed() {
    let why = || Cause::from("gone");
    for error in [
        CallError::lost(false, why()),
        CallError::queue_full(),
        CallError::throttled(),
        CallError::encode(Error::new(ErrorKind::Unwritable)),
    ] {
        assert!(error.is_unstarted(), "{error}");
        let after = error.after_attempts();
        assert_eq!(after.kind(), CallErrorKind::Disconnected);
        assert!(!after.is_unstarted(), "{after}");
    }
    let deadline = CallError::deadline(None).after_attempts();
    assert_eq!(deadline.kind(), CallErrorKind::Deadline);
    assert_eq!(
        deadline.within(Duration::from_millis(50)).to_string(),
        "no response within 0.05 s"
    );
}

#[test]
fn faults_of_xmlrpc_have_a_general_form() {
    for (code, kind, is_retryable) in [
        (-32_601, FaultKind::UnknownOperation, false),
        (7, FaultKind::Named, false),
    ] {
        let mut map = Map::from_iter([("faultString", "no")]);
        map.insert("faultCode", code);
        map.insert("extra", "1");
        let fault = xmlrpc::Fault::from_value(&Value::Map(map)).unwrap();
        let error = CallError::from(fault);
        let fault = error.fault().unwrap();
        assert_eq!((fault.kind(), fault.code()), (kind, Some(code)));
        assert_eq!(fault.details().len(), 1);
        assert_eq!(error.is_retryable(), is_retryable);
        assert_eq!(error.xmlrpc_fault().unwrap().code(), code);
    }
}
