//! Arbitrary datagrams cause no panic. Without a valid token, an answer is never longer than the request.

use polywire_frame::client::Request;
use polywire_frame::server::Fault;
use polywire_frame::{FaultCode, Time};
use polywire_frame_udp::server::Limits;
use proptest::prelude::*;

use crate::support::{ADD, Link, at};

/// The bytes after a token: a nearly valid frame, or arbitrary bytes.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![0..4_u32, 0..0x2_0000_u32, any::<u32>()];
    let head = (0..0x20_u8, 0..0x20_u8, 0..6_u16, number.clone(), number);
    let body = prop::collection::vec(any::<u8>(), 0..60);
    let nearly = (head, body, any::<bool>()).prop_map(|(head, body, wrong)| {
        let (kind, flags, code, id, value) = head;
        let length = body.len() as u32 + u32::from(wrong);
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend([kind, flags & 0x09]);
        bytes.extend(code.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        bytes.extend(value.to_le_bytes());
        bytes.extend(body);
        bytes
    });
    prop_oneof![nearly, prop::collection::vec(any::<u8>(), 0..200)]
}

/// Selects the token: 0 is the zero token, 1 an unknown token, and other numbers the token of the connection.
fn token() -> impl Strategy<Value = u8> {
    0..8_u8
}

proptest! {
    #[test]
    fn arbitrary_datagrams_do_not_panic_the_server_or_exceed_its_memory(
        datagrams in prop::collection::vec((token(), frame(), 0..3_000_u64), 1..60),
        small: bool,
    ) {
        let mut limits = Limits::DEFAULT;
        if small {
            limits.memory = 5_000;
            limits.memory_of_one = 500;
        }
        let mut link = Link::with(limits);
        let (_, first) = link.call(b"", 1);
        let right = first[..8].to_vec();
        let mut millis = 0;
        let mut open = Vec::new();
        for (token, frame, later) in datagrams {
            millis += later;
            link.now = at(millis);
            let token = match token {
                0 => vec![0; 8],
                1 => vec![7; 8],
                _ => right.clone(),
            };
            let datagram = [&token[..], &frame].concat();
            let before = link.server.peers();
            open.extend(link.serve(&datagram));
            prop_assert!(link.server.memory() <= limits.memory);
            if token != right || before == 0 && link.server.peers() == 0 {
                let bytes: usize = link.server.output().iter().map(|(_, sent)| sent.len()).sum();
                prop_assert!(bytes <= datagram.len(), "{bytes} for {}", datagram.len());
            }
            link.take_server_output();
            if millis % 3 == 0
                && let Some(call) = open.pop()
            {
                link.server.fault(link.now, call, Fault::new(FaultCode::NAMED), b"no");
            }
            link.server.timeout(link.now, |_, _| {});
        }
        // All open calls are answered.
        for call in open {
            link.server.fault(link.now, call, Fault::new(FaultCode::NAMED), b"no");
        }
        link.server.timeout(at(u64::from(u32::MAX) * 2_000), |_, _| {});
        prop_assert_eq!((link.server.peers(), link.server.memory()), (0, 0));
        prop_assert_eq!(link.server.open(), 0);
    }

    #[test]
    fn arbitrary_datagrams_to_a_client_end_each_call_once(
        datagrams in prop::collection::vec((token(), frame(), 0..3_000_u64), 1..60),
        greeted: bool,
    ) {
        let mut link = Link::new();
        let (_, first) = link.call(b"", 1);
        let right = first[..8].to_vec();
        if !greeted {
            link.client.begin(link.now, 5);
        }
        let (mut millis, mut ended) = (0, 0_u32);
        let mut made = u32::from(greeted);
        for (token, frame, later) in datagrams {
            millis += later;
            link.now = at(millis);
            let token = match token {
                0 => vec![0; 8],
                1 => vec![7; 8],
                _ => right.clone(),
            };
            let events = link.receive(&[&token[..], &frame].concat());
            ended += u32::from(events.iter().any(|events| events.starts_with(char::is_numeric)));
            let request = Request::new(ADD).with_deadline(at(millis + 500));
            if let Ok(call) = link.client.call(link.now, &request)
                && call.send(2).is_ok()
            {
                made += 1;
            }
            link.client.timeout(link.now, |_, _| ended += 1);
            link.take_client_output();
        }
        let lost = link.client.begin(link.now, 6).len() as u32;
        prop_assert_eq!(made, ended + lost);
        prop_assert!(link.client.next_timeout() < Time::NEVER);
    }
}
