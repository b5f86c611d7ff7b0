//! Calls, and how they end.

use polywire_frame::client::{Operation, Request, RequestError};
use polywire_frame::server::Fault;
use polywire_frame::{CallId, FaultCode, Settings, Trace};

use crate::support::{ADD, Link, at};

#[test]
fn calls_are_answered_in_any_order() {
    let mut link = Link::new();
    let (a, b) = (link.call(b"a", 1), link.call(b"b", 2));
    // The calls are sent before the server's HELLO.
    assert_eq!(link.serve(), ["hello", "0#0 op 3: a", "1#0 op 3: b"]);
    link.reply(b, b"B");
    link.now = at(7);
    link.reply(a, b"A");
    assert_eq!(
        link.receive(),
        ["hello", "1#0 (2) in 0 us: B", "0#0 (1) in 7000 us: A"]
    );
    assert_eq!((link.client.open(), link.server.open()), (0, 0));
    // The slot that was freed last is reused, with its next count.
    assert_eq!(link.call(b"c", 3), CallId::new(0, 1));
}

#[test]
fn a_name_is_sent_once() {
    let mut link = Link::new();
    link.call(b"", 1);
    link.serve();
    link.call(b"xyz", 2);
    assert_eq!(link.client.output().len(), 16 + 3);
    assert_eq!(link.serve(), ["1#0 op 3: xyz"]);
    // The name of an operation without a number is sent with each call.
    let once = Request::new(Operation {
        number: 0,
        name: "Name",
    });
    for slot in 2..4 {
        link.client.call(link.now, &once).unwrap().send(9).unwrap();
        assert_eq!(link.serve(), [format!("{slot}#0 op 4: ")]);
    }
    // So is the name of an operation whose number exceeds the limit that applies before the server's HELLO.
    let beyond = Request::new(Operation {
        number: 65,
        name: "Later",
    });
    link.client
        .call(link.now, &beyond)
        .unwrap()
        .send(9)
        .unwrap();
    assert_eq!(link.serve(), ["4#0 op 5: "]);
}

#[test]
fn a_dropped_unsent_call_has_no_effect() {
    let mut link = Link::new().connected();
    let mut call = link.client.call(link.now, &Request::new(ADD)).unwrap();
    call.payload().extend_from_slice(b"half");
    drop(call);
    assert!(link.client.output().is_empty() && link.client.open() == 0);
    // The name was not sent with the dropped call, so this call carries it.
    link.call(b"whole", 1);
    assert_eq!(link.serve(), ["0#0 op 3: whole"]);
}

#[test]
fn faults_have_a_code_and_details() {
    let mut link = Link::new();
    let (a, b) = (link.call(b"", 1), link.call(b"", 2));
    link.serve();
    let shed = Fault {
        retry_after: 20,
        ..Fault::unstarted(FaultCode::OVERLOADED)
    };
    link.fault(a, shed, b"");
    link.fault(b, Fault::new(FaultCode::MODELLED), b"details");
    assert_eq!(
        link.receive(),
        [
            "hello",
            "0#0 (1) overloaded unstarted after 20 ms: ",
            "1#0 (2) modelled: details",
        ]
    );
}

#[test]
fn an_unknown_operation_is_an_event_of_the_server() {
    let mut link = Link::new();
    let nothing = Request::new(Operation {
        number: 7,
        name: "Nothing",
    });
    link.client
        .call(link.now, &nothing)
        .unwrap()
        .send(1)
        .unwrap();
    link.client
        .call(link.now, &nothing)
        .unwrap()
        .send(2)
        .unwrap();
    assert_eq!(
        link.serve(),
        ["hello", "0#0 unknown Some(\"Nothing\")", "1#0 unknown None"]
    );
}

#[test]
fn a_cancelled_call_is_answered_and_frees_its_slot() {
    let mut link = Link::new();
    let id = link.call(b"", 1);
    link.serve();
    link.server.attach(id, "context").unwrap();
    assert_eq!(link.client.cancel(id), Some(1));
    assert_eq!(link.client.cancel(id), None);
    assert_eq!(link.client.open(), 1);
    assert_eq!(link.serve(), ["0#0 cancelled Some(\"context\")"]);
    assert!(link.server.reply(link.now, id).is_none());
    assert_eq!(link.receive(), ["hello", "0#0 freed"]);
    assert_eq!((link.client.open(), link.server.open()), (0, 0));
}

#[test]
fn a_cancel_that_crosses_the_reply_is_ignored() {
    let mut link = Link::new();
    let id = link.call(b"", 1);
    link.serve();
    link.reply(id, b"fast");
    link.client.cancel(id);
    assert_eq!(link.serve(), [""; 0]);
    assert_eq!(link.receive(), ["hello", "0#0 freed"]);
    assert_eq!(link.client.open(), 0);
    // The slot is reused by another call.
    link.call(b"next", 2);
    assert_eq!(link.serve(), ["0#1 op 3: next"]);
}

#[test]
fn deadlines_are_sent_and_end_calls_on_both_sides() {
    let mut link = Link::new();
    let request = Request::new(ADD).with_deadline(at(10));
    link.now = at(4);
    let id = link
        .client
        .call(link.now, &request)
        .unwrap()
        .send(1)
        .unwrap();
    // The remaining time is sent, because the clocks of the two sides differ.
    link.now = at(1000);
    assert_eq!(link.serve(), ["hello", "0#0 op 3 by 1006 ms: "]);
    link.server.attach(id, "context").unwrap();
    assert_eq!(link.server.next_timeout(), at(1006));

    let mut expired = Vec::new();
    link.server
        .timeout(at(1005), |id, context| expired.push((id, context)));
    assert_eq!(expired, []);
    link.server
        .timeout(at(1006), |id, context| expired.push((id, context)));
    assert_eq!(expired, [(id, Some("context"))]);
    assert_eq!(link.receive(), ["hello", "0#0 (1) deadline: "]);
}

#[test]
fn a_client_ends_calls_at_their_deadline_without_the_server() {
    let mut link = Link::new();
    let request = Request::new(ADD).with_deadline(at(10));
    let id = link
        .client
        .call(link.now, &request)
        .unwrap()
        .send(1)
        .unwrap();
    link.serve();
    let mut expired = Vec::new();
    link.client
        .timeout(at(10), |id, context| expired.push((id, context)));
    assert_eq!(expired, [(id, 1)]);
    assert_eq!(link.serve(), ["0#0 cancelled None"]);
    assert_eq!(link.receive(), ["hello", "0#0 freed"]);
    assert_eq!(link.client.open(), 0);
}

#[test]
fn metadata_and_trace_context_are_received() {
    let mut link = Link::new();
    let trace = Trace {
        trace_id: [7; 16],
        span_id: [8; 8],
        flags: 1,
    };
    let request = Request::new(ADD)
        .with_metadata(&[("tenant", b"a"), ("x.y", b"")])
        .with_trace(trace);
    link.client
        .call(link.now, &request)
        .unwrap()
        .send(1)
        .unwrap();
    assert_eq!(link.serve(), ["hello", "0#0 op 3 tenant=a x.y=: "]);

    for (metadata, wrong) in [
        (&[("Tenant", &b""[..])][..], "a key of metadata"),
        (&[("", b"")], "a key of metadata"),
        (
            &[("a", &[0; 16_380])],
            "an extension of at most 16384 bytes",
        ),
    ] {
        let request = Request::new(ADD).with_metadata(metadata);
        let refused = link.client.call(link.now, &request).unwrap_err();
        assert_eq!(refused, RequestError::Invalid(wrong));
    }
    let nameless = Request::new(Operation {
        number: 2,
        name: "a\nb",
    });
    let refused = link.client.call(link.now, &nameless).unwrap_err();
    assert_eq!(refused, RequestError::Invalid("the name of an operation"));
    assert!(link.client.output().is_empty());
}

#[test]
fn one_way_calls_are_never_in_flight() {
    let mut link = Link::new();
    let mut call = link.client.one_way(link.now, &Request::new(ADD)).unwrap();
    call.payload().extend_from_slice(b"note");
    call.send().unwrap();
    assert_eq!(link.serve(), ["hello", "one-way op 3: note"]);
    assert_eq!((link.client.open(), link.server.open()), (0, 0));
}

#[test]
fn open_calls_are_bounded_by_the_limit_of_the_server() {
    let mut link = Link::with(Settings::DEFAULT, Settings::DEFAULT.with_calls(70));
    // Before the server's HELLO, at most 64 calls are open.
    for context in 0..64 {
        link.call(b"", context);
    }
    assert_eq!(link.client.room(), 0);
    let refused = link.client.call(link.now, &Request::new(ADD)).unwrap_err();
    assert_eq!(refused, RequestError::Full);
    link.serve();
    link.receive();
    assert_eq!(link.client.room(), 6);

    // The server lowers the limit to 10 calls.
    link.server.limit_calls(10);
    assert_eq!(link.receive(), ["limits"]);
    assert_eq!(link.client.room(), 0);
    for slot in 0..60 {
        link.reply(CallId::new(slot, 0), b"");
    }
    link.receive();
    assert_eq!((link.client.open(), link.client.room()), (4, 6));
}

#[test]
fn bytes_in_flight_are_bounded() {
    let mut link = Link::new();
    let payload = vec![0; 65_000];
    for context in 0..17 {
        link.call(&payload, context);
    }
    assert_eq!(link.client.room(), 0);
    link.serve();
    link.receive();
    assert!(link.client.room() > 0);
    link.server.limit_bytes(0);
    link.receive();
    assert_eq!(link.client.room(), 0);
}

#[test]
fn frames_above_the_limit_are_not_sent() {
    let mut link = Link::with(
        Settings::DEFAULT.with_frame(70_000),
        Settings::DEFAULT.with_frame(80_000),
    );
    let mut call = link.client.call(link.now, &Request::new(ADD)).unwrap();
    call.payload().extend([0; 65_536]);
    let refused = call.send(1).unwrap_err();
    assert!(matches!(refused, RequestError::TooLarge(_)), "{refused}");
    let mut link = link.connected();
    let id = link.call(&[0; 79_000], 1);
    link.serve();
    let mut answer = link.server.reply(link.now, id).unwrap();
    answer.payload().extend(vec![0; 200_000]);
    let too_large = answer.send().unwrap_err();
    assert_eq!(
        too_large.to_string(),
        "a frame of 200000 bytes, where the other side takes 70000"
    );
    // The call remains open.
    link.fault(id, Fault::new(FaultCode::TOO_LARGE), &[0; 100_000]);
    assert_eq!(link.receive(), ["0#0 (1) too large: "]);
}

#[test]
fn large_payloads_are_not_copied() {
    let mut link = Link::new().connected();
    let payload = bytes::Bytes::from(vec![b'x'; 100_000]);
    let mut call = link.client.call(link.now, &Request::new(ADD)).unwrap();
    call.share(payload.clone());
    call.send(1).unwrap();
    let parts: Vec<_> = link.client.output().parts().map(<[u8]>::as_ptr).collect();
    assert_eq!(parts[1], payload.as_ptr());
    let events = link.serve();
    assert_eq!(events, [format!("0#0 op 3: {}", "x".repeat(100_000))]);
}
