//! Protocol violations and their error messages.

use polywire_frame::client;
use polywire_frame::server::Connection;
use polywire_frame::{Reason, Settings, Time};

use crate::support::{Link, client_event, drain, resolve, server_event};

const HELLO: [u8; 20] = [
    0xf7, 0x50, 0x57, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// Encodes a frame.
fn frame(kind: u8, flags: u8, code: u16, id: u32, value: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(code.to_le_bytes());
    bytes.extend(id.to_le_bytes());
    bytes.extend(value.to_le_bytes());
    bytes.extend(body);
    bytes
}

/// Returns the server's error for these frames, which follow `HELLO` and an open call, without its common prefix.
fn server_error(frames: &[Vec<u8>]) -> String {
    let mut stream = HELLO.to_vec();
    stream.extend(frame(2, 1, 1, 0, 0, b"\x06\0\x01\x03\0Add"));
    for frame in frames {
        stream.extend(frame);
    }
    let mut link = Link::new();
    link.client.wrote();
    link.to_server = stream;
    let error = link.try_serve().unwrap_err();
    // The client receives the same message in GOAWAY.
    let mut client = client::Connection::<u32>::new(Settings::DEFAULT);
    let answer = drain(link.server.output());
    let mut from = 0;
    let mut last = String::new();
    while let client::Step::Consumed(bytes, event) =
        client.receive(&answer[from..], &mut Vec::new()).unwrap()
    {
        from += bytes;
        last = event.map_or(last, |event| client_event(&event));
    }
    assert!(
        last.starts_with("goaway ") && last.ends_with(&error.to_string()),
        "{last}"
    );
    assert!(error.offset() >= 44, "behind what was right");
    error.to_string().replace("frames: expected ", "")
}

#[test]
fn credit_with_a_wrong_code_is_an_error_after_its_call_too() {
    let mut link = Link::new();
    let id = link.call(b"", 1);
    link.serve();
    link.reply(id, b"");
    // CREDIT for the stream of an ended call is ignored.
    link.to_server = frame(9, 0, 0, id.into(), 1, b"");
    link.serve();
    link.to_server = frame(9, 0, 3, id.into(), 1, b"");
    let error = link.try_serve().unwrap_err().to_string();
    assert!(error.starts_with(
        "frames: expected CREDIT of code 0 for a call, or of 3 for none, found 1 for id 0x"
    ));
}

#[test]
fn a_server_reports_violations() {
    let called = |id| frame(2, 0, 1, id, 0, b"");
    for (frames, words) in [
        (
            vec![frame(0x11, 0, 0, 0, 0, b"")],
            "a frame of a client, found kind 0x11, at byte 44",
        ),
        (
            vec![frame(4, 0, 0, 0, 0, b"")],
            "a frame of a client, found REPLY, at byte 44",
        ),
        (
            vec![frame(1, 0, 0, 0, 0, b"")],
            "HELLO once, found another, at byte 44",
        ),
        (
            vec![frame(2, 0x10, 1, 1, 0, b"")],
            "flags of CALL, found 0x10, at byte 44",
        ),
        (
            vec![frame(2, 2, 1, 1, 0, b"")],
            "flags whose feature was offered, found 0x02, at byte 44",
        ),
        (
            vec![frame(6, 0, 0, 0, 0, b"body")],
            "CANCEL without a body, found 4 bytes, at byte 44",
        ),
        (
            vec![frame(2, 1, 1, 1, 0, b"\x09\0")],
            "an extension that fits its body, at byte 60",
        ),
        (
            vec![frame(2, 4, 1, 1, 0, b"123")],
            "flags of CALL, found 0x04, at byte 44",
        ),
        (
            vec![called(0)],
            "a slot that is free, found slot 0, whose call is open, at byte 44",
        ),
        (
            vec![called(0x0001_0001)],
            "count 0 of slot 1, found 1, at byte 44",
        ),
        (
            vec![called(1), called(3)],
            "a slot up to 2, found slot 3, at byte 60",
        ),
        (
            vec![called(1024)],
            "a slot below 1024, found 1024, at byte 44",
        ),
        (
            vec![frame(2, 0, 0, 1, 0, b"")],
            "an operation: its number, or its name, at byte 44",
        ),
        (
            vec![frame(2, 1, 1, 1, 0, b"\x06\0\x01\x03\0Sub")],
            "operation 1 with its name, `Add`, found `Sub`, at byte 44",
        ),
        (
            vec![frame(2, 0, 1025, 1, 0, b"")],
            "an operation's number of at most 1024, found 1025, at byte 44",
        ),
        (
            vec![frame(7, 0, 0, 0, 0, b"")],
            "ITEM of a stream that is open, at byte 44",
        ),
        (
            vec![frame(8, 0, 0, 0, 0, b"")],
            "END of a stream that is open, at byte 44",
        ),
        (
            vec![frame(6, 0, 0, 1, 0, b"")],
            "CANCEL for a call, found slot 1, count 0, at byte 44",
        ),
        (
            vec![frame(9, 0, 0, 0, i32::MAX as u32, b"")],
            "credit of at most 2^31 - 1 bytes, found 2147483647 for id 0x00000000, at byte 44",
        ),
        (
            vec![frame(9, 0, 1, 0, 1, b"")],
            "CREDIT of code 0 for a call, or of 3 for none, found 1 for id 0x00000000, at byte 44",
        ),
        (
            vec![frame(0x0a, 0, 0, 1, 0, b"\xff")],
            "the name of a topic, at byte 60",
        ),
        (
            vec![frame(0x0c, 0, 0, 1, 0, b"")],
            "the topic of PUBLISH, at byte 44",
        ),
        (
            vec![frame(0x10, 0, 0, 0, 0, b"\xff")],
            "words in UTF-8, at byte 60",
        ),
        (
            vec![frame(0x10, 0, 0, 0, 0, b""), called(1)],
            "no call behind GOAWAY, at byte 60",
        ),
    ] {
        assert_eq!(server_error(&frames), words);
    }
}

#[test]
fn a_length_above_the_limit_is_rejected_before_the_body() {
    let mut bytes = HELLO.to_vec();
    bytes.extend([0xff, 0xff, 0xff, 0x7f, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut link = Link::new();
    link.client.wrote();
    link.to_server = bytes;
    let error = link.try_serve().unwrap_err();
    assert_eq!(
        error.to_string(),
        "frames: expected a body of at most 16777216 bytes, found 2147483647, at byte 20"
    );
    assert_eq!(error.reason(), Reason::LENGTH);
}

#[test]
fn other_protocols_are_detected_at_their_first_bytes() {
    for (bytes, words) in [
        (
            &b"GET / HTTP/1.1"[..],
            "the preface f7 50 57, found 47, at byte 0",
        ),
        (b"\x16\x03", "the preface f7 50 57, found 16, at byte 0"),
        (b"\xf7PX", "the preface f7 50 57, found f7 50 58, at byte 0"),
        (b"\xf7PW\x02", "version 1, found 2, at byte 3"),
        (
            &frame(2, 0, 1, 0, 0, b""),
            "the preface f7 50 57, found 00, at byte 0",
        ),
    ] {
        let mut server = Connection::<usize, &'static str>::new(Settings::DEFAULT);
        let error = server
            .receive(Time::ZERO, bytes, &mut Vec::new(), resolve)
            .unwrap_err();
        assert_eq!(error.to_string(), format!("frames: expected {words}"));
        // A peer with another protocol gets no answer. A peer with another version gets GOAWAY, which it can read.
        let is_version = error.reason() == Reason::VERSION;
        assert_eq!(
            drain(server.output()).ends_with(words.as_bytes()),
            is_version
        );
    }
    // A side that rejects the connection sends GOAWAY instead of HELLO.
    let mut stream = HELLO[..4].to_vec();
    stream.extend(frame(0x10, 0, 0, 0, 0, b"closed"));
    let mut link = Link::new();
    link.client.wrote();
    link.to_server = stream;
    assert_eq!(link.serve(), ["goaway the sender stops: closed"]);
    let mut stream = HELLO[..4].to_vec();
    stream.extend(frame(2, 0, 1, 0, 0, b""));
    let mut link = Link::new();
    link.client.wrote();
    link.to_server = stream;
    assert_eq!(
        link.try_serve().unwrap_err().to_string(),
        "frames: expected HELLO, found CALL, at byte 4"
    );
}

#[test]
fn a_client_rejects_answers_without_a_call() {
    for (answer, words) in [
        (
            frame(4, 0, 0, 1, 0, b""),
            "REPLY for a call that is open, found slot 1, count 0, at byte 20",
        ),
        (
            frame(5, 0, 0x20, 0x0001_0000, 0, b""),
            "FAULT for a call that is open, found slot 0, count 1, at byte 20",
        ),
        (
            frame(7, 0, 0, 9, 0, b""),
            "ITEM for a call that is open, found slot 9, count 0, at byte 20",
        ),
        (
            frame(0x0b, 0, 0, 9, 0, b""),
            "ACCEPT for a call that is open, found slot 9, count 0, at byte 20",
        ),
        (
            frame(9, 0, 1, u32::MAX, 65, b""),
            "a limit of calls from 1 to the setting, found 65 for id 0xffffffff, at byte 20",
        ),
        (
            frame(9, 0, 4, u32::MAX, 1, b""),
            "CREDIT of code 0 for a call, or of 1 to 3 for none, found 1 for id 0xffffffff, at byte 20",
        ),
        (
            frame(2, 0, 1, 0, 0, b""),
            "a frame of a server, found CALL, at byte 20",
        ),
    ] {
        let mut link = Link::new();
        link.call(b"", 1);
        link.to_client = HELLO.to_vec();
        link.to_client.extend(answer);
        link.server.wrote();
        let error = link.try_receive().unwrap_err();
        assert_eq!(error.to_string(), format!("frames: expected {words}"));
        // `close` returns the open call as lost.
        assert_eq!(link.client.close(None).count(), 1);
        let mut server = Connection::<usize, &'static str>::new(Settings::DEFAULT);
        let sent = drain(link.client.output());
        let mut from = 0;
        let mut last = String::new();
        while let polywire_frame::server::Step::Consumed(bytes, event) = server
            .receive(Time::ZERO, &sent[from..], &mut Vec::new(), resolve)
            .unwrap()
        {
            from += bytes;
            last = event.map_or(last, |event| server_event(&event));
        }
        assert!(last.ends_with(&error.to_string()), "{last}");
    }
}
