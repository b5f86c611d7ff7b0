//! How connections end, and what becomes of calls.

use polywire_frame::client::{Lost, Refused, Request};
use polywire_frame::{Output, Reason};

use crate::support::{ADD, Link, at};

#[test]
fn a_server_that_stops_answers_what_is_open() {
    let mut link = Link::new();
    let id = link.call(b"early", 1);
    link.serve();
    link.server.go_away(Reason::AGE, 5_000, "an hour is over");
    // This one crosses it.
    link.call(b"late", 2);
    assert_eq!(link.serve(), [""; 0]);
    assert!(!link.server.is_done());
    link.reply(id, b"done");
    assert!(link.server.is_done());
    assert_eq!(
        link.answer(),
        [
            "hello",
            "goaway the connection is old enough in 5000 ms: an hour is over",
            "1#0 (2) unavailable unstarted: ",
            "0#0 (1) in 0 us: done",
        ]
    );
    let refused = link.client.call(link.now, &Request::new(ADD)).unwrap_err();
    assert_eq!(refused, Refused::Ending);
}

#[test]
fn a_client_that_stops_is_answered_too() {
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
    assert_eq!(link.answer(), ["hello", "0#0 (1) in 0 us: "]);
}

#[test]
fn what_was_never_sent_may_be_repeated() {
    let mut link = Link::new();
    link.call(b"sent", 1);
    link.client.take_output(Output::default());
    link.call(b"not sent", 2);
    let given_up = link.call(b"nobody waits", 3);
    link.client.cancel(given_up);
    let mut lost: Vec<_> = link.client.close(None).collect();
    lost.sort_by_key(|lost| lost.context);
    let expected = [(1, true), (2, false)].map(|(context, sent)| Lost { context, sent });
    assert_eq!(lost, expected);
    let refused = link.client.call(link.now, &Request::new(ADD)).unwrap_err();
    assert_eq!(refused, Refused::Ending);
}

#[test]
fn a_closed_server_hands_back_what_it_kept() {
    let mut link = Link::new();
    let id = link.call(b"", 1);
    link.serve();
    link.server.attach(id, "kept").unwrap();
    assert_eq!(link.server.close().collect::<Vec<_>>(), ["kept"]);
    assert_eq!(link.server.attach(id, "late"), Err("late"));
    assert!(link.server.is_done());
}

#[test]
fn pings_are_answered_but_not_without_end() {
    let mut link = Link::new().greeted();
    link.client.ping(7, 8);
    assert_eq!(link.serve(), [""; 0]);
    assert_eq!(link.answer(), ["pong 7 8"]);
    link.server.ping(1, 2);
    assert_eq!(link.answer(), [""; 0]);
    assert_eq!(link.serve(), ["pong 1 2"]);
    // Often enough is fine for ever.
    for round in 1..10 {
        link.now = at(round * 10_000);
        link.client.ping(0, 0);
        assert!(link.try_serve().is_ok());
    }
    for expected in [true, true, false] {
        link.client.ping(0, 0);
        assert_eq!(link.try_serve().is_ok(), expected);
    }
    let told = link.answer();
    let last = told.last().unwrap();
    assert!(
        last.starts_with("goaway pings came too often in 0 ms: frames: expected 10000 ms between"),
        "{last}"
    );
}
