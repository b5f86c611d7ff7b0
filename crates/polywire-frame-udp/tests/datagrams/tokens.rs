//! Handshakes and tokens.

use polywire_frame::FaultCode;
use polywire_frame::server::Fault;
use polywire_frame::{Header, Kind, Settings};
use polywire_frame_udp::Client;

use crate::support::{Link, at};

/// A datagram of an unknown client.
fn datagram_of_unknown_client(kind: Kind, token: u64) -> Vec<u8> {
    let header = Header {
        length: 0,
        kind,
        flags: polywire_frame::Flags::NONE,
        code: 1,
        id: 0,
        value: 0,
    };
    [&token.to_le_bytes()[..], &header.bytes()].concat()
}

#[test]
fn answers_to_handshakes_are_not_longer_than_requests() {
    let mut link = Link::new();
    link.port = 4_001;
    let mut client = Client::<u32>::new(Settings::DEFAULT);
    client.begin(link.now, 99);
    let (_, hello) = client.output().iter().next().unwrap();
    assert!(hello.len() >= 128);
    link.serve(hello);
    let answer = link.take_server_output().pop().unwrap();
    assert!(answer.len() <= hello.len(), "{}", answer.len());
    // A HELLO without padding, or truncated, gets no answer.
    for len in [8 + 16, 127, hello.len() - 1] {
        link.serve(&hello[..len]);
    }
    let mut short = datagram_of_unknown_client(Kind::HELLO, 0);
    link.serve(&short);
    short.extend([0; 200]);
    link.serve(&short);
    // Frames of all kinds with token 0 and trailing bytes get no answer.
    for kind in 0..=u8::MAX {
        let mut datagram = datagram_of_unknown_client(Kind(kind), 0);
        datagram.extend([0; 200]);
        link.serve(&datagram);
    }
    assert_eq!(link.take_server_output(), [[0_u8; 0]; 0]);
    assert_eq!(link.server.peers(), 0);
}

#[test]
fn an_unknown_token_is_returned_without_a_body() {
    let mut link = Link::new();
    for kind in 0..=u8::MAX {
        let datagram = datagram_of_unknown_client(Kind(kind), 0x1234_5678_9abc_def0);
        link.serve(&datagram);
        let answers = link.take_server_output();
        let calls = [Kind::CALL, Kind::ONEWAY, Kind::CANCEL, Kind::PING].contains(&Kind(kind));
        assert_eq!(answers.len(), usize::from(calls), "{:?}", Kind(kind));
        for answer in answers {
            // The answer is token 0 and a GOAWAY with code 0x18 and the unknown token.
            let words = "0000000000000000 00000000 10 00 1800 f0debc9a78563412";
            assert_eq!(hex(&answer), words.replace(' ', ""));
            // The client ignores a GOAWAY for a token that is not its own.
            assert_eq!(link.receive(&answer), [""; 0]);
        }
    }
    assert_eq!(link.server.peers(), 0);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn clients_of_a_restarted_server_repeat_the_handshake() {
    let mut link = Link::new();
    let (_, datagram) = link.call(b"", 1);
    // A server with another key does not know the token.
    let mut other = polywire_frame_udp::Server::<usize, &str, _>::new(
        Settings::DEFAULT,
        std::collections::hash_map::RandomState::new(),
    );
    other.receive(link.now, crate::support::address(4_000), &datagram, |_| {
        Some(1)
    });
    let goaway = other.output().iter().next().unwrap().1.to_vec();
    assert_eq!(link.receive(&goaway), ["goaway: the token is unknown"]);
    assert!(link.client.wants_to_begin(link.now) && link.client.room() == 0);
    let lost = link.client.begin(at(10), 5);
    assert_eq!(lost.len(), 1);
    assert!(lost[0].context == 1 && lost[0].sent);
    let hello = link.take_client_output().pop().unwrap();
    // The GOAWAY of the old connection does not end the new one.
    assert_eq!(link.receive(&goaway), [""; 0]);
    other.output_mut().clear();
    other.receive(link.now, crate::support::address(4_000), &hello, |_| {
        Some(1)
    });
    let answer = other.output().iter().next().unwrap().1.to_vec();
    assert_eq!(link.receive(&answer), ["hello"]);
}

#[test]
fn a_hello_answer_with_another_nonce_is_ignored() {
    let mut link = Link::new();
    let mut client = Client::<u32>::new(Settings::DEFAULT);
    client.begin(link.now, 0x77);
    let mut other = Client::<u32>::new(Settings::DEFAULT);
    other.begin(link.now, 0x78);
    let (_, hello) = other.output().iter().next().unwrap();
    link.serve(hello);
    let answer = link.take_server_output().pop().unwrap();
    assert_eq!(client.receive(link.now, &answer), None);
    assert!(!client.is_open());
}

#[test]
fn a_new_client_at_the_same_address_replaces_the_old_one() {
    let mut link = Link::new();
    let (_, old) = link.call(b"old", 1);
    let call = link.serve(&old).unwrap();
    link.server.attach(call, "at work").unwrap();
    // A second client connects from the same address in the same millisecond.
    link.client = Client::new(Settings::DEFAULT);
    link.client.begin(link.now, 3);
    let hello = link.take_client_output().pop().unwrap();
    link.serve(&hello);
    let answer = link.take_server_output().pop().unwrap();
    link.now = at(2);
    assert_eq!(link.receive(&answer), ["hello"]);
    let (_, new) = link.call(b"new", 2);
    let next = link.serve(&new).unwrap();
    assert_eq!(link.server.peers(), 1);
    // The old client is replaced. The result of its call is dropped, and the call is not executed again.
    link.server
        .fault(link.now, call, Fault::new(FaultCode::INTERNAL), b"");
    assert!(link.server.reply(link.now, call).is_none());
    assert_eq!(link.serve(&old), None);
    let goaway = link.take_server_output().pop().unwrap();
    assert_eq!(link.receive(&goaway), [""; 0]);
    let answer = link.reply(next, b"for you");
    assert_eq!(link.receive(&answer), ["2: for you"]);
}

#[test]
fn after_goaway_a_client_is_known_until_its_token_expires() {
    let mut link = Link::new();
    let (_, datagram) = link.call(b"", 1);
    let call = link.serve(&datagram).unwrap();
    assert_eq!(link.client.leave().len(), 1);
    let goaway = link.take_client_output().pop().unwrap();
    link.serve(&goaway);
    assert_eq!((link.server.open(), link.server.memory()), (0, 0));
    assert!(link.server.reply(link.now, call).is_none());
    assert_eq!(
        (link.serve(&datagram), link.take_server_output().len()),
        (None, 0)
    );
    // After a minute, the token has expired.
    link.now = at(60_001);
    link.server.timeout(link.now, |_, _| {});
    assert_eq!(link.server.peers(), 0);
    assert_eq!(
        (link.serve(&datagram), link.take_server_output().len()),
        (None, 1)
    );
}

/// Three clients connect from one address at the same time, before any of them makes a call.
#[test]
fn concurrent_handshakes_of_one_address_get_different_tokens() {
    let mut link = Link::new();
    link.port = 4_001;
    let mut tokens = Vec::new();
    for nonce in 0..3 {
        link.client = Client::new(Settings::DEFAULT);
        link.client.begin(link.now, nonce);
        let hello = link.take_client_output().pop().unwrap();
        link.serve(&hello);
        let answer = link.take_server_output().pop().unwrap();
        tokens.push(answer[..8].to_vec());
    }
    assert_eq!(link.server.peers(), 0);
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 3);
}
