//! The limits of a server.

use polywire_frame::client::Request;
use polywire_frame::{FaultCode, Settings, Time};
use polywire_frame_udp::Client;
use polywire_frame_udp::server::{self, Limits};

use crate::support::{ADD, Link, at};

#[test]
fn stored_answers_are_bounded_and_a_discarded_one_is_a_fault() {
    let mut link = Link::with(Limits {
        memory_of_one: 30_000,
        ..Limits::DEFAULT
    });
    let mut calls = Vec::new();
    for number in 0..100 {
        link.now = at(number.into());
        let (_, datagram) = link.call(b"", number);
        let call = link.serve(&datagram).unwrap();
        let answer = link.reply(call, &[7; 1_000]);
        assert!(link.server.memory() <= 60_000, "{}", link.server.memory());
        calls.push((datagram, answer));
    }
    let (mut stored, mut discarded) = (0, 0);
    for (number, (datagram, answer)) in calls.iter().enumerate() {
        assert_eq!(link.serve(datagram), None, "call {number}");
        let again = link.take_server_output().pop().unwrap();
        if again == *answer {
            stored += 1;
        } else {
            // The oldest answers were discarded first.
            assert_eq!(stored, 0);
            discarded += 1;
            assert_eq!(link.receive(&again), [format!("{number}: internal")]);
        }
    }
    assert!(
        stored >= 14 && discarded >= 50,
        "{stored} stored, {discarded} discarded"
    );
}

#[test]
fn answers_of_the_client_with_the_most_are_discarded_first() {
    let mut link = Link::with(Limits {
        memory: 400_000,
        ..Limits::DEFAULT
    });
    let (_, small) = link.call(b"", 0);
    let call = link.serve(&small).unwrap();
    let answer = link.reply(call, b"kept");
    let mut greedy = Link {
        client: Client::new(Settings::DEFAULT),
        port: 4_001,
        ..link
    };
    greedy.now = at(1);
    greedy.connect();
    for number in 0..500 {
        let (_, datagram) = greedy.call(b"", number);
        let call = greedy.accept(&datagram);
        greedy.reply(call, &[7; 1_300]);
        assert!(
            greedy.server.memory() <= 400_000,
            "{}",
            greedy.server.memory()
        );
    }
    greedy.port = 4_000;
    assert_eq!(greedy.serve(&small), None);
    assert_eq!(greedy.take_server_output(), [answer]);
}

#[test]
fn calls_are_dropped_without_memory_for_a_table() {
    let mut link = Link::with(Limits {
        memory: 1_000,
        ..Limits::DEFAULT
    });
    let mut served = 0;
    for number in 0..64 {
        let (_, datagram) = link.call(b"", number);
        served += usize::from(link.serve(&datagram).is_some());
        assert!(link.server.memory() <= 1_000);
    }
    assert!((1..20).contains(&served), "{served}");
}

#[test]
fn clients_are_limited_until_they_expire() {
    let mut link = Link::with(Limits {
        peers: 2,
        ..Limits::DEFAULT
    });
    let mut connect = |now: Time, port| {
        link.now = now;
        link.port = port;
        link.client = Client::new(Settings::DEFAULT);
        link.client.begin(now, u64::from(port));
        let hello = link.take_client_output().pop().unwrap();
        link.serve(&hello);
        let answer = link.take_server_output().pop().unwrap();
        let events = link.receive(&answer);
        if events == ["hello"] {
            let (_, datagram) = link.call(b"", 1);
            assert!(link.serve(&datagram).is_some());
            link.take_server_output();
        }
        events[0].clone()
    };
    assert_eq!(connect(at(0), 1), "hello");
    assert_eq!(connect(at(30_000), 2), "hello");
    assert_eq!(
        connect(at(30_001), 3),
        "goaway: the limit of connections is reached"
    );
    // A client that the server knows may open a new connection.
    assert_eq!(connect(at(40_000), 2), "hello");
    link.now = link.server.next_timeout();
    assert_eq!(link.now, at(60_000));
    link.server.timeout(link.now, |_, _| {});
    assert_eq!(link.server.peers(), 1);
}

#[test]
fn slots_of_a_client_are_bounded_by_the_settings() {
    let mut link = Link::new();
    let mut open = 0;
    while link.client.room() > 0 {
        let (_, datagram) = link.call(&[0; 30], open);
        link.accept(&datagram);
        open += 1;
    }
    assert_eq!(open, 1_024);
    assert!(link.client.call(link.now, &Request::new(ADD)).is_err());
    // A slot above the limit.
    let (_, mut datagram) = {
        let mut link = Link::new();
        link.call(b"", 1)
    };
    datagram[16..18].copy_from_slice(&1_024_u16.to_le_bytes());
    let mut link = Link::new();
    assert_eq!(
        (link.serve(&datagram), link.take_server_output().len()),
        (None, 0)
    );
    datagram[16..18].copy_from_slice(&1_023_u16.to_le_bytes());
    assert!(link.serve(&datagram).is_some());
}

/// Connects a new client at this address.
fn connect_other(link: Link, host: u8, port: u16) -> Link {
    let mut link = Link {
        client: Client::new(Settings::DEFAULT),
        host,
        port,
        ..link
    };
    link.connect();
    link
}

/// Makes one answered call in each of the last `slots` slots, from the last slot downwards.
fn use_slots(link: &mut Link, slots: u16) {
    let (_, mut datagram) = link.call(b"", 1);
    for slot in (1_024 - slots..1_024).rev() {
        datagram[16..18].copy_from_slice(&slot.to_le_bytes());
        let call = link.serve(&datagram).unwrap();
        link.reply(call, &[7; 1_000]);
    }
}

#[test]
fn a_high_slot_uses_no_more_memory_than_a_low_one() {
    let mut link = Link::new();
    let (_, datagram) = link.call(b"", 1);
    link.serve(&datagram).unwrap();
    let low = link.server.memory();
    let mut link = Link::new();
    use_slots(&mut link, 1);
    let high = link.server.memory() - 1_000;
    assert!(low > 0 && high < low + 1_000, "{low} and {high} bytes");
}

#[test]
fn one_host_leaves_memory_for_others() {
    // Less memory than all answers need.
    let memory = 1 << 20;
    let mut link = Link::with(Limits {
        memory,
        peers_per_host: 30,
        ..Limits::DEFAULT
    });
    for port in 1..=30 {
        link = connect_other(link, 2, port);
        use_slots(&mut link, 1_024);
        assert!(link.server.memory() <= memory);
    }
    // One more client of this host is rejected. Clients of other hosts are served.
    link = Link {
        client: Client::new(Settings::DEFAULT),
        port: 31,
        ..link
    };
    link.client.begin(link.now, 1);
    let hello = link.take_client_output().pop().unwrap();
    link.serve(&hello);
    let answer = link.take_server_output().pop().unwrap();
    assert_eq!(
        link.receive(&answer),
        ["goaway: the limit of connections is reached"]
    );
    link = connect_other(link, 3, 1);
    for number in 0..1_000 {
        let (_, datagram) = link.call(b"", number);
        let call = link.serve(&datagram).unwrap();
        let answer = link.reply(call, b"5");
        assert_eq!(link.receive(&answer), [format!("{number}: 5")]);
    }
    assert_eq!(link.server.peers(), 31);
}

#[test]
fn a_handshake_flood_from_one_host_does_not_affect_others() {
    let mut link = Link::new();
    let mut flood = Client::<u32>::new(Settings::DEFAULT);
    flood.begin(link.now, 9);
    let (_, hello) = flood.output().iter().next().unwrap();
    // Another host requests many tokens.
    link.host = 2;
    let mut answers = 0;
    for _ in 0..20_000 {
        link.serve(hello);
        answers += link.take_server_output().len();
    }
    assert!((1_000..2_000).contains(&answers), "{answers}");
    // Tokens that were issued before remain valid, and another host still gets a token.
    link.host = 1;
    link.now = at(29_000);
    let (_, datagram) = link.call(b"", 1);
    assert!(link.serve(&datagram).is_some());
    let link = connect_other(link, 3, 1);
    assert!(link.client.is_open());
}

#[test]
fn limits_on_calls_are_sent_to_clients() {
    let mut link = Link::new();
    link.server.limit_calls(3);
    link.client = Client::new(Settings::DEFAULT);
    link.port = 4_001;
    link.client.begin(link.now, 8);
    let hello = link.take_client_output().pop().unwrap();
    assert_eq!(link.serve(&hello), None);
    let answers = link.take_server_output();
    assert_eq!(answers.len(), 2);
    // The answers together are not longer than the request.
    assert!(answers.iter().map(Vec::len).sum::<usize>() <= hello.len());
    assert_eq!(link.receive(&answers[0]), ["hello"]);
    // The datagram with the limit is lost.
    for number in 1..=4 {
        let (_, datagram) = link.call(b"", number);
        let call = link.serve(&datagram).unwrap();
        assert_eq!(link.server.open_of(call), number);
    }
    let (_, datagram) = link.call(b"", 5);
    let call = link.serve(&datagram).unwrap();
    let full = server::Fault::unstarted(FaultCode::OVERLOADED);
    link.server.fault(link.now, call, full, b"");
    let datagrams = link.take_server_output();
    assert_eq!(datagrams.len(), 2);
    assert_eq!(link.receive(&datagrams[0]), ["5: overloaded, unstarted"]);
    assert_eq!(link.server.open_of(call), 4);
    assert!(link.client.room() > 0);
    assert_eq!(link.receive(&datagrams[1]), ["Limits"]);
    assert_eq!(link.client.room(), 0);
    // A client that has received the limit applies it.
    link.client = Client::new(Settings::DEFAULT);
    link.port = 4_002;
    link.client.begin(link.now, 9);
    let hello = link.take_client_output().pop().unwrap();
    assert_eq!(link.serve(&hello), None);
    for answer in link.take_server_output() {
        link.receive(&answer);
    }
    assert_eq!(link.client.room(), 3);
}
