//! How connections end, and the outcome of their calls.

use polywire_frame::client::{LostCall, Request, RequestError};
use polywire_frame::{CallId, Output, Reason, Settings, Time};

use crate::support::{ADD, Events, Link, at};

#[test]
fn a_stopping_server_answers_open_calls() {
    let mut link = Link::new();
    let id = link.call(b"early", 1);
    link.serve();
    link.server.go_away(Reason::AGE, 5_000, "an hour is over");
    // This call crosses the GOAWAY.
    link.call(b"late", 2);
    assert_eq!(link.serve(), [""; 0]);
    assert!(!link.server.is_done());
    link.reply(id, b"done");
    assert!(link.server.is_done());
    assert_eq!(
        link.receive(),
        [
            "hello",
            "goaway the connection has reached its maximum age in 5000 ms: an hour is over",
            "1#0 (2) unavailable unstarted: ",
            "0#0 (1) in 0 us: done",
        ]
    );
    let refused = link.client.call(link.now, &Request::new(ADD)).unwrap_err();
    assert_eq!(refused, RequestError::Ending);
}

#[test]
fn a_client_that_sent_goaway_still_gets_replies() {
    let mut link = Link::new();
    let id = link.call(b"last", 1);
    link.client.go_away();
    link.client.go_away();
    assert_eq!(
        link.serve(),
        ["hello", "0#0 op 3: last", "goaway the sender stops: "]
    );
    assert!(!link.server.is_done() && link.client.is_ending());
    link.reply(id, b"");
    assert!(link.server.is_done());
    assert_eq!(link.receive(), ["hello", "0#0 (1) in 0 us: "]);
}

#[test]
fn close_reports_which_lost_calls_were_sent() {
    let mut link = Link::new();
    link.call(b"sent", 1);
    link.client.take_output(Output::default());
    link.call(b"not sent", 2);
    let given_up = link.call(b"nobody waits", 3);
    link.client.cancel(given_up);
    let mut lost: Vec<_> = link.client.close(None).collect();
    lost.sort_by_key(|lost| lost.context);
    let expected = [(1, true), (2, false)].map(|(context, sent)| LostCall { context, sent });
    assert_eq!(lost, expected);
    // A call that is reported as not sent must not be sent later.
    assert!(link.client.output().is_empty());

    let mut link = Link::new();
    link.call(b"sent", 1);
    link.client.take_output(Output::default());
    link.call(b"not sent", 2);
    link.client
        .receive(b"no frames", &mut Vec::new())
        .unwrap_err();
    let lost: Vec<_> = link.client.close(None).collect();
    assert!(lost.iter().any(|lost| lost.context == 2 && !lost.sent));
    let left: Vec<u8> = link.client.output().parts().flatten().copied().collect();
    assert!(
        !left.windows(8).any(|part| part == b"not sent"),
        "{left:x?}"
    );
    let refused = link.client.call(link.now, &Request::new(ADD)).unwrap_err();
    assert_eq!(refused, RequestError::Ending);
}

#[test]
fn a_closed_server_returns_stored_contexts() {
    let mut link = Link::new();
    let id = link.call(b"", 1);
    link.serve();
    link.server.attach(id, "context").unwrap();
    assert_eq!(link.server.close().collect::<Vec<_>>(), ["context"]);
    assert_eq!(link.server.attach(id, "late"), Err("late"));
    assert!(link.server.is_done());
}

#[test]
fn pings_are_answered_and_limited() {
    let mut link = Link::new().connected();
    link.client.ping(7, 8);
    assert_eq!(link.serve(), [""; 0]);
    assert_eq!(link.receive(), ["pong 7 8"]);
    link.server.ping(1, 2);
    assert_eq!(link.receive(), [""; 0]);
    assert_eq!(link.serve(), ["pong 1 2"]);
    // Pings at the allowed interval.
    for round in 1..10 {
        link.now = at(round * 10_000);
        link.client.ping(0, 0);
        assert!(link.try_serve().is_ok());
    }
    for expected in [true, true, false] {
        link.client.ping(0, 0);
        assert_eq!(link.try_serve().is_ok(), expected);
    }
    let events = link.receive();
    let last = events.last().unwrap();
    assert!(
        last.starts_with(
            "goaway pings were too frequent in 0 ms: frames: expected 10000 ms between"
        ),
        "{last}"
    );
}

/// Half-closes the client's stream. Returns the calls that the server ends because of it.
fn half_close(link: &mut Link) -> Events {
    let mut ended = Events::new();
    let rest = link.to_server.len();
    let given_up = |id: CallId, context: Option<&str>| ended.push(format!("{id} {context:?}"));
    link.server.end_of_input(link.now, rest, given_up).unwrap();
    ended
}

#[test]
fn a_half_closed_client_gets_replies_that_need_no_credit() {
    let mut link = Link::new();
    let plain = link.call(b"plain", 1);
    let mut stream = |context| {
        let request = Request::new(ADD).with_items();
        let call = link.client.call(link.now, &request).unwrap();
        call.send(context).unwrap()
    };
    let (open, ended) = (stream(2), stream(3));
    link.client.end(ended);
    let topic = link.client.subscribe("news", &[], 4).unwrap();
    link.serve();
    link.server.attach(open, "at work").unwrap();
    link.server.accept(topic);
    assert_eq!(half_close(&mut link), ["1#0 Some(\"at work\")", "3#0 None"]);
    assert!(!link.server.is_done());
    let mut item = link.server.item(ended, 0).unwrap();
    item.payload().push(b'x');
    item.send().unwrap();
    link.reply(plain, b"5");
    link.reply(ended, b"6");
    assert!(link.server.is_done());
    assert_eq!(
        link.receive(),
        [
            "hello",
            "3#0 accepted",
            "1#0 (2) cancelled: ",
            "3#0 (4) cancelled: ",
            "2#0 item after 0: x",
            "0#0 (1) in 0 us: 5",
            "2#0 (3) in 0 us: 6",
        ]
    );
}

#[test]
fn the_server_cancels_a_call_of_a_half_closed_client_without_credit() {
    let settings = Settings::DEFAULT.with_window(65_536);
    let mut link = Link::with(settings, settings).connected();
    let id = link.call(b"", 1);
    link.serve();
    link.server.attach(id, "at work").unwrap();
    assert_eq!(half_close(&mut link), [""; 0]);
    for _ in 0..2 {
        let mut item = link.server.item(id, 0).unwrap();
        item.payload().extend([7; 40_000]);
        item.send().unwrap();
    }
    assert_eq!(link.server.next_timeout(), Time::NEVER);
    assert!(link.server.item(id, 0).is_none());
    assert!(link.server.item(id, 0).is_none());
    assert_eq!(link.server.next_timeout(), Time::ZERO);
    let mut ended = Vec::new();
    link.server
        .timeout(link.now, |id, context| ended.push((id, context)));
    assert_eq!(ended, [(id, Some("at work"))]);
    assert_eq!(link.server.next_timeout(), Time::NEVER);
    assert!(link.server.is_done());
    assert_eq!(link.receive().last().unwrap(), "0#0 (1) cancelled: ");
}

#[test]
fn an_end_within_a_frame_is_an_error() {
    let mut link = Link::new().connected();
    link.call(b"", 1);
    link.serve();
    link.to_server = vec![1, 2, 3];
    let error = link
        .server
        .end_of_input(link.now, 3, |_, _| {})
        .unwrap_err();
    let words = "frames: expected the rest of a frame, found the end, at byte 83";
    assert_eq!(error.to_string(), words);
    assert!(link.server.is_done());
    let goaway = format!("goaway the protocol was violated in 0 ms: {words}");
    assert_eq!(link.receive(), [goaway]);
    // A client sends no GOAWAY to a server that has closed its stream.
    let mut link = Link::new().connected();
    assert_eq!(link.client.end_of_input(0), Ok(()));
    let error = link.client.end_of_input(7).unwrap_err().to_string();
    assert!(error.contains("the rest of a frame"), "{error}");
    assert!(link.client.output().is_empty());
}

#[test]
fn a_stream_that_ends_before_the_preface_finishes_the_connection() {
    let mut link = Link::new();
    link.client.wrote();
    assert_eq!(half_close(&mut link), [""; 0]);
    assert!(link.server.is_done());
}
