//! What a server keeps at most, and what becomes of the rest.

use polywire_frame::client::Request;
use polywire_frame::datagram::Client;
use polywire_frame::datagram::server::Limits;
use polywire_frame::{Settings, Time};

use crate::support::{ADD, Link, at};

#[test]
fn kept_answers_are_bounded_and_one_that_is_forgotten_is_a_fault() {
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
    let (mut kept, mut forgotten) = (0, 0);
    for (number, (datagram, answer)) in calls.iter().enumerate() {
        assert_eq!(link.serve(datagram), None, "call {number}");
        let again = link.answered().pop().unwrap();
        if again == *answer {
            kept += 1;
        } else {
            // Those that are forgotten are the oldest.
            assert_eq!(kept, 0);
            forgotten += 1;
            assert_eq!(link.hear(&again), [format!("{number}: internal")]);
        }
    }
    assert!(
        kept >= 14 && forgotten >= 50,
        "{kept} kept, {forgotten} forgotten"
    );
}

#[test]
fn who_has_most_forgets_first() {
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
    greedy.greet();
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
    assert_eq!(greedy.answered(), [answer]);
}

#[test]
fn without_room_for_a_table_calls_are_dropped() {
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
fn only_so_many_clients_are_known_until_they_are_silent() {
    let mut link = Link::with(Limits {
        peers: 2,
        ..Limits::DEFAULT
    });
    let mut known = |now: Time, port| {
        link.now = now;
        link.port = port;
        link.client = Client::new(Settings::DEFAULT);
        link.client.begin(now, u64::from(port));
        let hello = link.sent().pop().unwrap();
        link.serve(&hello);
        let answer = link.answered().pop().unwrap();
        let told = link.hear(&answer);
        if told == ["hello"] {
            let (_, datagram) = link.call(b"", 1);
            assert!(link.serve(&datagram).is_some());
            link.answered();
        }
        told[0].clone()
    };
    assert_eq!(known(at(0), 1), "hello");
    assert_eq!(known(at(30_000), 2), "hello");
    assert_eq!(known(at(30_001), 3), "goaway: there is no room for more");
    // One who is known may begin anew.
    assert_eq!(known(at(40_000), 2), "hello");
    link.now = link.server.next_timeout();
    assert_eq!(link.now, at(60_000));
    link.server.timeout(link.now, |_, _| {});
    assert_eq!(link.server.peers(), 1);
}

#[test]
fn no_client_has_more_slots_or_bytes_than_the_settings_say() {
    let mut link = Link::new();
    let mut open = 0;
    while link.client.room() > 0 {
        let (_, datagram) = link.call(&[0; 30], open);
        link.accept(&datagram);
        open += 1;
    }
    assert_eq!(open, 1_024);
    assert!(link.client.call(link.now, &Request::new(ADD)).is_err());
    // A slot that there is not.
    let (_, mut datagram) = {
        let mut link = Link::new();
        link.call(b"", 1)
    };
    datagram[16..18].copy_from_slice(&1_024_u16.to_le_bytes());
    let mut link = Link::new();
    assert_eq!((link.serve(&datagram), link.answered().len()), (None, 0));
    datagram[16..18].copy_from_slice(&1_023_u16.to_le_bytes());
    assert!(link.serve(&datagram).is_some());
}
