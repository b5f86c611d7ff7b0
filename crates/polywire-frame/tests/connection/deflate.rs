//! Compressed payloads, and payloads with a wrong length.

use polywire_frame::client::{self, Request, RequestError};
use polywire_frame::server::{self, Fault};
use polywire_frame::{FaultCode, Features, Settings};

use crate::support::{ADD, Link, at, drain};

/// Both sides read compressed payloads, and compress payloads of at least 100 bytes.
fn link() -> Link {
    with(Settings::DEFAULT.with_features(Features::DEFLATE))
}

fn with(settings: Settings) -> Link {
    let mut link = Link::with(settings, settings);
    link.client = client::Connection::new(settings).with_compression(100);
    link.server = server::Connection::new(settings).with_compression(100);
    link.connected()
}

/// A compressible text.
fn text(bytes: usize) -> String {
    "as long as it is, ".chars().cycle().take(bytes).collect()
}

#[test]
fn payloads_of_all_kinds_arrive_unchanged() {
    let mut link = link();
    let long = text(5_000);
    let item = |link: &mut Link, id| {
        let mut item = link.client.item(id).unwrap();
        item.payload().extend(long.as_bytes());
        item.send().unwrap();
    };
    let request = Request::new(ADD).with_items().with_deadline(at(9_000));
    let mut call = link.client.call(link.now, &request).unwrap();
    call.payload().extend(long.as_bytes());
    let id = call.send(1).unwrap();
    item(&mut link, id);
    let mut topic = link
        .client
        .publish(link.now, "news", &[], at(9_000))
        .unwrap();
    topic.share(long.clone().into());
    let topic = topic.send(2).unwrap();
    let mut one_way = link.client.one_way(link.now, &Request::new(ADD)).unwrap();
    one_way.payload().extend(long.as_bytes());
    one_way.send().unwrap();
    assert!(
        link.client.output().len() < 700,
        "{:?}",
        link.client.output()
    );
    assert_eq!(
        link.serve(),
        [
            format!("0#0 op 3 by 9000 ms open: {long}"),
            format!("0#0 item: {long}"),
            format!("1#0 publish news: {long}"),
            format!("one-way op 3: {long}"),
        ]
    );
    let mut item = link.server.item(id, 0).unwrap();
    item.share(long.clone().into());
    item.send().unwrap();
    link.reply(id, long.as_bytes());
    link.fault(topic, Fault::new(FaultCode::NAMED), long.as_bytes());
    assert!(link.server.output().len() < 500);
    assert_eq!(
        link.receive(),
        [
            format!("0#0 item after 0: {long}"),
            format!("0#0 (1) in 0 us: {long}"),
            format!("1#0 (2) named: {long}"),
        ]
    );
}

#[test]
fn large_payloads() {
    let settings = Settings::DEFAULT.with_features(Features::DEFLATE);
    let mut link = link();
    link.client = client::Connection::new(settings).with_compression(100);
    link.server = server::Connection::new(settings).with_compression(100);
    let mut link = link.connected();
    let large = text(3 << 20);
    let mut call = link.client.call(link.now, &Request::new(ADD)).unwrap();
    call.share(large.clone().into());
    let id = call.send(1).unwrap();
    assert!(link.client.output().len() < 40_000);
    assert_eq!(link.serve(), [format!("0#0 op 3: {large}")]);
    let mut answer = link.server.reply(link.now, id).unwrap();
    answer.share(large.clone().into());
    answer.send().unwrap();
    assert_eq!(link.receive(), [format!("0#0 (1) in 0 us: {large}")]);
}

#[test]
fn only_long_compressible_payloads_are_compressed() {
    let wire = |link: &mut Link, payload: &[u8]| {
        link.call(payload, 1);
        let sent = drain(link.client.output());
        link.client.wrote();
        // Without the 16-byte header, and without the 8-byte extension with the name in the first call.
        sent.len() - if sent[5] & 1 == 1 { 24 } else { 16 }
    };
    let mut both = link();
    assert_eq!(wire(&mut both, &[7; 99]), 99);
    assert_eq!(wire(&mut both, &[7; 100]), 20);
    let noise: Vec<u8> = (0..200_u32).map(|at| ((at * at * 97) >> 3) as u8).collect();
    assert_eq!(wire(&mut both, &noise), 200);
    // Payloads are not compressed if the server lacks the feature, or if its HELLO has not arrived.
    let offers = Settings::DEFAULT.with_features(Features::DEFLATE);
    let mut one = Link::with(offers, Settings::DEFAULT);
    one.client = client::Connection::new(offers).with_compression(100);
    let mut one = one.connected();
    assert_eq!(wire(&mut one, &[7; 5_000]), 5_000);
    let mut early = client::Connection::<u32>::new(offers).with_compression(100);
    let mut call = early.call(at(0), &Request::new(ADD)).unwrap();
    call.payload().extend([7; 5_000]);
    call.send(1).unwrap();
    assert!(early.output().len() > 5_000);
}

#[test]
fn all_limits_count_uncompressed_bytes() {
    let settings = Settings::DEFAULT
        .with_features(Features::DEFLATE)
        .with_frame(1 << 20)
        .with_bytes(1 << 20)
        .with_window(65_536);
    let mut link = with(settings);
    // The byte limit of open calls counts uncompressed payloads.
    link.call(&vec![7; 700_000], 1);
    link.call(&vec![7; 700_000], 2);
    assert!(link.client.output().len() < 10_000);
    assert_eq!(link.client.room(), 0);
    link.serve();
    // The first call has an extension of 8 bytes.
    assert_eq!(link.server.open_bytes(), 2 * 700_000 + 8);
    // The frame limit counts the uncompressed payload.
    let mut link = with(settings);
    let mut call = link.client.call(link.now, &Request::new(ADD)).unwrap();
    call.payload().extend(vec![7; 1 << 20]);
    assert!(matches!(call.send(1), Err(RequestError::TooLarge(_))));
    // Credit counts uncompressed items in both directions.
    let request = Request::new(ADD).with_items();
    let call = link.client.call(link.now, &request).unwrap();
    let id = call.send(1).unwrap();
    link.serve();
    for _ in 0..2 {
        let mut item = link.client.item(id).unwrap();
        item.payload().extend([7; 40_000]);
        item.send().unwrap();
        let mut item = link.server.item(id, 0).unwrap();
        item.payload().extend([7; 40_000]);
        item.send().unwrap();
    }
    assert!(link.client.item(id).is_none() && link.server.item(id, 0).is_none());
    assert!(link.client.output().len() < 500 && link.server.output().len() < 500);
    link.serve();
    assert_eq!(link.cost, 40_016);
    link.server.consumed(id, 80_032);
    assert_eq!(link.receive().last().unwrap(), "0#0 writable");
    assert!(link.client.item(id).is_some());
}

#[test]
fn wrong_lengths_are_an_error() {
    // 20 bytes `a`, compressed.
    let packed = [0x4b, 0x4c, 0xc4, 0x04, 0x00];
    let says = |length: u32, packed: &[u8]| {
        let mut link = link();
        let mut frame = (4 + packed.len() as u32).to_le_bytes().to_vec();
        // A call in slot 0 of operation 1, whose name was never sent.
        frame.extend([2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        frame.extend(length.to_le_bytes());
        frame.extend(packed);
        link.to_server = frame;
        match link.try_serve() {
            Ok(events) => events.join(""),
            Err(error) => error.to_string().replace("frames: expected ", ""),
        }
    };
    assert_eq!(says(20, &packed), "0#0 unknown None");
    for length in [0, 19, 21, 16 << 20] {
        let words =
            format!("a payload of {length} bytes, compressed, found something else, at byte 78");
        assert_eq!(says(length, &packed), words);
    }
    let words = "a payload of 20 bytes, compressed, found something else, at byte 78";
    assert_eq!(says(20, &packed[..4]), words);
    assert_eq!(says(20, &[&packed[..], &[0]].concat()), words);
    assert_eq!(says(20, b"not compressed at all"), words);
    assert_eq!(says(20, b""), words);
    // An empty payload is compressed to two bytes.
    assert_eq!(says(0, &[3, 0]), "0#0 unknown None");
    // A length above the limit is rejected before decompression.
    assert_eq!(
        says((16 << 20) + 1, &packed),
        "a body of at most 16777216 bytes when it is unpacked, found 16777217, at byte 78"
    );
    assert_eq!(
        says(u32::MAX, &packed),
        "a body of at most 16777216 bytes when it is unpacked, found 4294967295, at byte 78"
    );
}

#[test]
fn a_compressed_payload_without_a_length_is_an_error() {
    let mut link = link();
    link.to_server = vec![3, 0, 0, 0, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3];
    let error = link.try_serve().unwrap_err().to_string();
    assert_eq!(
        error,
        "frames: expected a compressed payload with its length, at byte 78"
    );
}
