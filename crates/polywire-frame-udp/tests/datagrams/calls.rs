//! Calls that are lost, duplicated, late and cancelled.

use polywire_frame::client::{Request, RequestError};
use polywire_frame::server::Fault;
use polywire_frame::{CallId, FaultCode, Features, Reason, Settings, Time};
use polywire_frame_udp::{Client, Server};

use crate::support::{ADD, Key, Link, at};

/// The position of the flags in a datagram.
const FLAGS: usize = 13;

/// The value in a datagram's header.
fn value(datagram: &[u8]) -> u32 {
    u32::from_le_bytes(*datagram[20..].first_chunk().unwrap())
}

#[test]
fn calls_are_resent_with_backoff_and_the_remaining_time() {
    let mut link = Link::new();
    let request = Request::new(ADD).with_deadline(at(5_000));
    link.client
        .call(link.now, &request)
        .unwrap()
        .send(1)
        .unwrap();
    let first = link.take_client_output().pop().unwrap();
    assert_eq!(value(&first), 5_000);
    let mut times = Vec::new();
    let mut late = Vec::new();
    while late.is_empty() {
        link.now = link.client.next_timeout();
        link.client
            .timeout(link.now, |_, context| late.push(context));
        for datagram in link.take_client_output() {
            let millis = link.now.as_nanos() / 1_000_000;
            // The last datagram is a cancellation.
            if datagram.len() == first.len() {
                assert_eq!(u64::from(value(&datagram)), 5_000 - millis);
                times.push(millis);
            }
        }
    }
    // The measured round trip is 0, so the first wait is the minimum.
    assert_eq!(
        times,
        [
            1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, 2_023, 3_023, 4_023
        ]
    );
    assert_eq!((late, link.now), (vec![1], at(5_000)));
    assert_eq!(link.client.open(), 0);
}

#[test]
fn at_most_16_of_100_unanswered_calls_are_resent_at_once() {
    let mut link = Link::new();
    for number in 0..100 {
        link.call(b"", number);
    }
    link.now = at(2_000);
    link.client.timeout(link.now, |_, _| {});
    assert_eq!(link.take_client_output().len(), 16);
}

#[test]
fn an_answer_identifies_the_answered_datagram() {
    let mut link = Link::new();
    let (_, first) = link.call(b"", 1);
    let mut again = || {
        link.now = link.client.next_timeout();
        link.client.timeout(link.now, |_, _| {});
        link.take_client_output().pop().unwrap()
    };
    let sent: Vec<_> = (0..4).map(|_| again()).collect();
    let flags: Vec<_> = sent.iter().map(|sent| sent[FLAGS]).collect();
    // `EXTENSION`, and the two bits of `AGAIN`.
    assert_eq!((first[FLAGS], &flags[..]), (1, &[0x21, 0x41, 0x61, 1][..]));
    let call = link.serve(&sent[1]).unwrap();
    assert_eq!(link.serve(&sent[2]), None);
    assert_eq!(link.take_server_output()[0][FLAGS], 0x60);
    assert_eq!(link.reply(call, b"")[FLAGS], 0x40);
    assert_eq!(link.serve(&sent[0]), None);
    assert_eq!(link.take_server_output()[0][FLAGS], 0x20);
}

#[test]
fn unconfirmed_calls_are_limited_and_confirmed_calls_are_not() {
    let mut link = Link::new();
    assert_eq!(link.client.room(), 128);
    let calls: Vec<_> = (0..128).map(|number| link.call(b"", number).1).collect();
    assert_eq!(
        link.client.call(link.now, &Request::new(ADD)).unwrap_err(),
        RequestError::Full
    );
    // Until the first loss, each answer makes room for two calls.
    for datagram in &calls[..28] {
        let call = link.serve(datagram).unwrap();
        let answer = link.reply(call, b"");
        link.receive(&answer);
    }
    assert_eq!((link.client.open(), link.client.room()), (100, 56));
    link.accept(&calls[28]);
    assert_eq!((link.client.open(), link.client.room()), (100, 58));
    // A cancelled call is in flight again.
    link.client.cancel(link.now, CallId::new(28, 0));
    assert_eq!((link.client.open(), link.client.room()), (100, 57));
    // Many losses halve the window.
    for millis in [100, 300] {
        link.now = at(millis);
        link.client.timeout(link.now, |_, _| {});
    }
    assert_eq!((link.client.open(), link.client.room()), (100, 0));
}

#[test]
fn a_duplicated_call_is_executed_once_and_gets_the_same_answer() {
    let mut link = Link::new();
    let (_, datagram) = link.call(b"2 + 3", 1);
    let call = link.serve(&datagram).unwrap();
    // A duplicate of a running call is answered by ACCEPT.
    assert_eq!(link.serve(&datagram), None);
    let accepted = link.take_server_output().pop().unwrap();
    assert_eq!((accepted.len(), accepted[12]), (24, 0x0b));
    link.now = at(5);
    let answer = link.reply(call, b"5");
    assert_eq!(value(&answer), 5_000);
    link.now = at(500);
    assert_eq!(link.serve(&datagram), None);
    let again = link.take_server_output().pop().unwrap();
    // The second answer equals the first one except for the time.
    assert_eq!(again[..20], answer[..20]);
    assert_eq!((value(&again), &again[24..]), (0, &answer[24..]));
    assert_eq!(link.receive(&answer), ["1: 5"]);
    // An answer to a call that is not open is ignored.
    assert_eq!(link.receive(&answer), [""; 0]);
    // The next call of the slot replaces the answered one.
    let (_, next) = link.call(b"3 + 4", 2);
    let call = link.serve(&next).unwrap();
    assert_eq!(call.id(), CallId::new(0, 1));
    assert_eq!(
        (link.serve(&datagram), link.take_server_output().len()),
        (None, 0)
    );
}

#[test]
fn the_name_is_omitted_once_a_call_with_it_was_answered() {
    let mut link = Link::new();
    let (_, first) = link.call(b"", 1);
    let (_, second) = link.call(b"", 2);
    assert_eq!(first.len(), 8 + 16 + 2 + 6);
    assert_eq!(second.len(), first.len());
    let call = link.serve(&first).unwrap();
    let answer = link.reply(call, b"");
    link.receive(&answer);
    let (_, third) = link.call(b"", 3);
    assert_eq!(third.len(), 8 + 16);
    assert!(link.serve(&third).is_some());
    // The next call is sent without its name too. It can be cancelled.
    let (id, fourth) = link.call(b"", 4);
    assert_eq!(fourth.len(), 8 + 16);
    link.client.cancel(link.now, id);
}

#[test]
fn calls_and_answers_above_the_limit_are_errors() {
    let mut link = Link::new();
    let mut call = link.client.call(link.now, &Request::new(ADD)).unwrap();
    call.payload().extend([7; 1_400]);
    let refused = call.send(1).unwrap_err();
    assert!(matches!(refused, RequestError::TooLong(_)));
    assert_eq!(
        refused.to_string(),
        "a datagram of 1432 bytes, where at most 1400 are sent"
    );
    assert!(link.client.output().is_empty() && link.client.open() == 0);

    let (_, datagram) = link.call(b"", 1);
    let call = link.serve(&datagram).unwrap();
    let mut answer = link.server.reply(link.now, call).unwrap();
    answer.payload().extend([7; 3_000]);
    assert!(answer.send().is_err());
    assert!(link.server.output().is_empty());
    // The call is still open. A fault omits details that exceed the limit.
    link.server.fault(
        link.now,
        call,
        Fault::new(FaultCode::TOO_LARGE),
        &[7; 3_000],
    );
    let answer = link.take_server_output().pop().unwrap();
    assert_eq!(link.receive(&answer), ["1: too large"]);
}

#[test]
fn larger_datagrams_if_configured() {
    let mut link = Link::new();
    link.client = Client::new(Settings::DEFAULT).with_datagram(65_000);
    link.now = at(100);
    link.connect();
    let (_, datagram) = link.call(&[7; 64_900], 1);
    assert_eq!(datagram.len(), 64_932);
    assert!(link.serve(&datagram).is_some());
}

#[test]
fn a_cancelled_call_is_ended_by_the_server() {
    let mut link = Link::new();
    let (id, datagram) = link.call(b"", 1);
    let call = link.serve(&datagram).unwrap();
    link.server.attach(call, "at work").unwrap();
    assert_eq!(link.client.cancel(link.now, id), Some(1));
    assert_eq!(link.client.cancel(link.now, id), None);
    let cancel = link.take_client_output().pop().unwrap();
    let answer = {
        let event = link
            .server
            .receive(link.now, crate::support::address(4_000), &cancel, |_| None);
        let Some(polywire_frame_udp::server::Event::Cancelled(_, Some("at work"))) = event else {
            panic!("{event:?}");
        };
        link.take_server_output().pop().unwrap()
    };
    assert!(link.server.reply(link.now, call).is_none());
    // The answer is lost. The CANCEL is resent, and answered again.
    link.now = link.client.next_timeout();
    link.client.timeout(link.now, |_, _| {});
    let again = link.take_client_output().pop().unwrap();
    // The datagrams are equal except for `AGAIN`.
    assert_eq!((cancel[FLAGS], again[FLAGS]), (0x20, 0x40));
    assert_eq!(
        (&again[..FLAGS], &again[14..]),
        (&cancel[..FLAGS], &cancel[14..])
    );
    link.serve(&again);
    let answered = link.take_server_output().pop().unwrap();
    assert_eq!((answer[FLAGS], answered[FLAGS]), (0x20, 0x40));
    assert_eq!(
        (&answered[..FLAGS], &answered[14..]),
        (&answer[..FLAGS], &answer[14..])
    );
    assert_eq!(link.client.open(), 1);
    assert_eq!(link.receive(&answer), [""; 0]);
    assert_eq!(link.client.open(), 0);
}

#[test]
fn a_cancellation_that_arrives_before_its_call_prevents_it() {
    let mut link = Link::new();
    let (id, datagram) = link.call(b"", 1);
    link.client.cancel(link.now, id);
    let cancel = link.take_client_output().pop().unwrap();
    link.serve(&cancel);
    assert_eq!(link.take_server_output().len(), 1);
    assert_eq!(link.serve(&datagram), None);
    // Without an answer to the CANCEL, the client frees the slot within 5 s.
    while link.client.open() > 0 {
        link.now = link.client.next_timeout();
        assert!(link.now <= at(5_000));
        link.client.timeout(link.now, |_, _| {});
    }
}

#[test]
fn the_server_ends_calls_at_their_deadline() {
    let mut link = Link::new();
    let request = Request::new(ADD).with_deadline(at(100));
    link.client
        .call(link.now, &request)
        .unwrap()
        .send(1)
        .unwrap();
    let datagram = link.take_client_output().pop().unwrap();
    link.now = at(10);
    let call = link.serve(&datagram).unwrap();
    link.server.attach(call, "at work").unwrap();
    assert_eq!(link.server.next_timeout(), at(110));
    let mut late = Vec::new();
    link.server
        .timeout(at(110), |_, context| late.push(context));
    assert_eq!(late, [Some("at work")]);
    let answer = link.take_server_output().pop().unwrap();
    assert_eq!(link.receive(&answer), ["1: deadline"]);
    assert_eq!(link.server.open(), 0);
}

#[test]
fn after_goaway_the_server_answers_open_calls_and_rejects_new_ones() {
    let mut link = Link::new();
    let (_, first) = link.call(b"", 1);
    let (_, second) = link.call(b"", 2);
    let call = link.serve(&first).unwrap();
    link.server.go_away(Reason::STOP, 1_000);
    let goaway = link.take_server_output().pop().unwrap();
    assert_eq!(link.serve(&second), None);
    let refused = link.take_server_output().pop().unwrap();
    assert_eq!(link.receive(&goaway), ["goaway: the sender stops"]);
    assert_eq!(link.receive(&refused), ["2: unavailable, unstarted"]);
    assert!(matches!(
        link.client.call(link.now, &Request::new(ADD)),
        Err(RequestError::Ending)
    ));
    assert!(!link.client.wants_to_begin(link.now));
    let answer = link.reply(call, b"5");
    assert_eq!(link.receive(&answer), ["1: 5"]);
    // A new connection gets the GOAWAY at once.
    assert!(link.client.wants_to_begin(link.now));
    link.client.begin(link.now, 8);
    let hello = link.take_client_output().pop().unwrap();
    link.serve(&hello);
    let answer = link.take_server_output().pop().unwrap();
    assert!(answer.len() < hello.len());
    assert_eq!(link.receive(&answer), ["goaway: the sender stops"]);
}

#[test]
fn datagrams_are_not_compressed() {
    let settings = Settings::DEFAULT.with_features(Features::DEFLATE);
    let mut link = Link::new();
    link.server = Server::new(settings, Key::default());
    link.client = Client::new(settings);
    link.connect();
    assert_eq!(link.client.peer_settings().features(), Features::NONE);
    let (_, mut datagram) = link.call(&[7; 500], 1);
    datagram[FLAGS] |= 2;
    assert_eq!(
        (link.serve(&datagram), link.take_server_output().len()),
        (None, 0)
    );
}

#[test]
fn one_way_calls_are_started_and_not_answered() {
    let mut link = Link::new();
    let mut message = link.client.one_way(link.now, &Request::new(ADD)).unwrap();
    message.payload().push(9);
    message.send().unwrap();
    let datagram = link.take_client_output().pop().unwrap();
    let event = link
        .server
        .receive(link.now, crate::support::address(4_000), &datagram, |_| {
            Some(3)
        });
    assert!(matches!(
        event,
        Some(polywire_frame_udp::server::Event::OneWay {
            operation: 3,
            payload: [9],
            ..
        })
    ));
    assert_eq!(
        (link.take_server_output().len(), link.client.open()),
        (0, 0)
    );
    assert_eq!(link.client.next_timeout(), Time::NEVER);
}

#[test]
fn a_client_opens_a_new_connection_after_a_long_silence() {
    let mut link = Link::new();
    assert!(!link.client.wants_to_begin(at(19_999)));
    link.call(b"", 1);
    assert!(!link.client.wants_to_begin(at(60_000)));
    let mut link = Link::new();
    assert!(link.client.wants_to_begin(at(20_000)));
    link.now = at(20_000);
    link.connect();
    assert!(!link.client.wants_to_begin(link.now));
}
