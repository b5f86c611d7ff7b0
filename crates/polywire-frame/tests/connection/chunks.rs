//! Events do not depend on how the bytes are split.

use polywire_frame::server::{Connection, Step};
use polywire_frame::{Settings, Time};
use proptest::prelude::*;

use crate::support::{Link, drain, resolve, server_event};

/// The output of a client that sends many kinds of frames.
fn stream() -> Vec<u8> {
    let mut link = Link::new();
    for (context, payload) in [&b""[..], b"some", &[0; 3_000]].iter().enumerate() {
        let id = link.call(payload, context as u32);
        if context == 1 {
            link.client.cancel(id);
        }
    }
    link.client.subscribe("topic", &[], 9).unwrap();
    link.client.ping(1, 2);
    let mut bytes = drain(link.client.output());
    // A frame of an unknown kind, which is ignored.
    bytes.extend([
        2, 0, 0, 0, 0x90, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    link.client.wrote();
    link.client.go_away();
    bytes.extend(drain(link.client.output()));
    bytes
}

fn events(stream: &[u8], cuts: &[usize]) -> Vec<String> {
    let mut server = Connection::new(Settings::DEFAULT);
    let mut events = Vec::new();
    let (mut from, mut wants, mut room) = (0, 0, Vec::new());
    for end in cuts.iter().copied().chain([stream.len()]) {
        let end = end.min(stream.len());
        loop {
            let input = &stream[from..end.max(from)];
            match server
                .receive(Time::ZERO, input, &mut room, resolve)
                .unwrap()
            {
                Step::Consumed(bytes, event) => {
                    assert!(
                        input.len() >= wants,
                        "{wants} bytes were wanted for nothing"
                    );
                    wants = 0;
                    from += bytes;
                    events.extend(event.map(|event| server_event(&event)));
                }
                Step::NeedMore(bytes) => {
                    assert!(bytes > input.len());
                    wants = bytes;
                    break;
                }
            }
        }
    }
    assert_eq!(from, stream.len());
    events
}

#[test]
fn events_are_the_same_for_every_split_point() {
    let stream = stream();
    let whole = events(&stream, &[]);
    assert_eq!(whole.len(), 7);
    for cut in 0..stream.len() {
        assert_eq!(events(&stream, &[cut]), whole, "cut at {cut}");
    }
    let all: Vec<_> = (0..stream.len()).collect();
    assert_eq!(events(&stream, &all), whole);
}

proptest! {
    #[test]
    fn events_are_the_same_for_random_split_points(mut cuts in prop::collection::vec(0_usize..3_400, 0..40)) {
        cuts.sort_unstable();
        let stream = stream();
        prop_assert_eq!(events(&stream, &cuts), events(&stream, &[]));
    }

    #[test]
    fn arbitrary_bytes_never_panic_or_stall(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        connected: bool,
    ) {
        let mut server = Connection::<usize, &'static str>::new(Settings::DEFAULT);
        let mut stream = vec![];
        if connected {
            stream.extend([0xf7, 0x50, 0x57, 1, 0, 0, 0, 0, 1]);
            stream.resize(20, 0);
        }
        stream.extend(bytes);
        let (mut from, mut room) = (0, Vec::new());
        while let Ok(Step::Consumed(bytes, _)) = server.receive(Time::ZERO, &stream[from..], &mut room, resolve) {
            prop_assert!(bytes > 0);
            from += bytes;
        }
    }
}
