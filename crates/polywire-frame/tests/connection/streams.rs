//! Streams of items, and their credit.

use polywire_frame::client::Request;
use polywire_frame::{CallId, Settings};

use crate::support::{ADD, Link};

fn call_with_items(link: &mut Link) -> CallId {
    let request = Request::new(ADD).with_items();
    link.client
        .call(link.now, &request)
        .unwrap()
        .send(1)
        .unwrap()
}

fn send(link: &mut Link, id: CallId, payload: &[u8]) -> bool {
    let Some(mut item) = link.client.item(id) else {
        return false;
    };
    item.payload().extend_from_slice(payload);
    item.send().is_ok()
}

fn push(link: &mut Link, id: CallId, payload: &[u8]) -> bool {
    let Some(mut item) = link.server.item(id, 0) else {
        return false;
    };
    item.payload().extend_from_slice(payload);
    item.send().is_ok()
}

#[test]
fn items_in_both_directions_before_the_reply() {
    let mut link = Link::new();
    let id = call_with_items(&mut link);
    assert!(send(&mut link, id, b"one"));
    assert_eq!(link.serve(), ["hello", "0#0 op 3 open: ", "0#0 item: one"]);
    assert!(push(&mut link, id, b"1"));
    assert_eq!(link.receive(), ["hello", "0#0 item after 0: 1"]);
    assert!(send(&mut link, id, b"two"));
    link.client.end(id);
    link.client.end(id);
    assert!(!send(&mut link, id, b"three"));
    assert_eq!(link.serve(), ["0#0 item: two", "0#0 end"]);
    link.reply(id, b"sum");
    assert_eq!(link.receive(), ["0#0 (1) in 0 us: sum"]);
    assert!(!push(&mut link, id, b"2"));
}

#[test]
fn a_reply_before_the_end_of_the_stream_is_allowed() {
    let mut link = Link::new();
    let id = call_with_items(&mut link);
    link.serve();
    link.reply(id, b"enough");
    assert!(send(&mut link, id, b"more"));
    link.client.end(id);
    assert_eq!(link.serve(), [""; 0]);
    assert_eq!(link.receive(), ["hello", "0#0 (1) in 0 us: enough"]);
}

#[test]
fn credit_bounds_items_in_flight() {
    let settings = Settings::DEFAULT.with_window(65_536);
    let mut link = Link::with(settings, settings).connected();
    let id = call_with_items(&mut link);
    link.serve();
    let item = vec![0; 30_000];
    for sends in [true, true, true, false] {
        assert_eq!(send(&mut link, id, &item), sends);
        assert_eq!(push(&mut link, id, &item), sends);
    }
    assert_eq!(link.serve().len(), 3);
    assert_eq!(link.receive().len(), 3);
    // When no credit is left, the receiver returns credit after each consumed item.
    link.server.consumed(id, 30_016);
    link.client.consumed(id, 30_016);
    assert_eq!(link.receive(), ["0#0 writable"]);
    assert_eq!(link.serve(), ["0#0 writable"]);
    assert!(send(&mut link, id, &item) && push(&mut link, id, &item));
    assert_eq!(link.serve().len() + link.receive().len(), 2);
}

#[test]
fn all_streams_share_one_credit_limit() {
    let settings = Settings::DEFAULT.with_items(1 << 20).with_window(1 << 20);
    let mut link = Link::with(settings, settings).connected();
    let (a, b) = (call_with_items(&mut link), call_with_items(&mut link));
    link.serve();
    let item = vec![0; (1 << 20) - 16];
    assert!(send(&mut link, a, &item) && push(&mut link, a, &item));
    // Stream `b` has credit, but the connection has none.
    assert!(!send(&mut link, b, b"x") && !push(&mut link, b, b"x"));
    assert_eq!((link.serve().len(), link.receive().len()), (1, 1));
    // The call ends before its items are consumed.
    link.reply(a, b"");
    link.receive();
    link.server.consumed(a, 1 << 20);
    link.client.consumed(a, 1 << 20);
    assert_eq!(link.receive(), ["all writable"]);
    assert_eq!(link.serve(), ["all writable"]);
    assert!(send(&mut link, b, b"x") && push(&mut link, b, b"x"));
    assert_eq!(link.serve(), ["1#0 item: x"]);
    assert_eq!(link.receive(), ["1#0 item after 0: x"]);
}

#[test]
fn headers_count_for_credit() {
    let settings = Settings::DEFAULT.with_items(1 << 20);
    let mut link = Link::with(settings, settings).connected();
    let id = call_with_items(&mut link);
    link.serve();
    for _ in 0..200 {
        for _ in 0..1_000 {
            assert!(send(&mut link, id, b"") && push(&mut link, id, b""));
        }
        assert_eq!(link.serve().len(), 1_000);
        assert_eq!(link.receive().len(), 1_000);
        // Each item costs 16 bytes of credit: the frame header and an empty body.
        for _ in 0..1_000 {
            link.server.consumed(id, link.cost);
            link.client.consumed(id, link.cost);
        }
    }
    assert_eq!(link.cost, 16);
}

#[test]
fn unread_items_of_ended_calls_return_their_credit_at_once() {
    let settings = Settings::DEFAULT.with_items(1 << 20).with_window(1 << 20);
    let mut link = Link::with(settings, settings).connected();
    let a = call_with_items(&mut link);
    link.serve();
    let item = vec![0; (1 << 20) - 16];
    assert!(send(&mut link, a, &item) && push(&mut link, a, &item));
    link.reply(a, b"");
    assert!(link.client.cancel(a).is_some());
    // Both items arrive after the end of their call.
    assert_eq!(link.serve(), [""; 0]);
    assert_eq!(link.receive(), ["0#0 freed", "all writable"]);
    assert_eq!(link.serve(), ["all writable"]);
}

#[test]
fn an_item_without_credit_is_a_protocol_error() {
    let mut link = Link::new().connected();
    call_with_items(&mut link);
    link.serve();
    // Six items of 60,016 bytes each. When the fifth item begins, some of the 256 KiB of credit is left. When the sixth
    // begins, none is.
    let mut items = Vec::new();
    for _ in 0..6 {
        items.extend([0x60, 0xea, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        items.resize(items.len() + 60_000, 0);
    }
    link.to_server = items;
    let error = link.try_serve().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("frames: expected no ITEM without credit"),
        "{error}"
    );
}

#[test]
fn a_stream_opened_before_hello_gets_the_rest_of_the_window() {
    let mut link = Link::new();
    let id = call_with_items(&mut link);
    let item = vec![0; 60_000];
    assert!(send(&mut link, id, &item) && send(&mut link, id, &item));
    assert!(!send(&mut link, id, &item));
    link.serve();
    // After HELLO, the credit is 256 KiB minus the bytes that were already sent.
    assert_eq!(link.receive(), ["hello"]);
    assert!(send(&mut link, id, &item) && send(&mut link, id, &item) && send(&mut link, id, &item));
    assert!(!send(&mut link, id, &item));
    assert_eq!(link.serve().len(), 3);
}

#[test]
fn credit_may_arrive_before_the_first_item() {
    let settings = Settings::DEFAULT.with_window(65_536);
    let mut link = Link::with(settings, settings).connected();
    let id = link.call(b"", 1);
    link.serve();
    // CREDIT of 100,000 bytes.
    link.to_server = [
        &[0, 0, 0, 0, 9, 0, 0, 0][..],
        &[0; 4],
        &100_000_u32.to_le_bytes(),
    ]
    .concat();
    assert_eq!(link.serve(), [""; 0]);
    let mut sent = 0;
    while let Some(mut item) = link.server.item(id, 0) {
        item.payload().extend([7; 9_984]);
        item.send().unwrap();
        sent += 1;
    }
    assert_eq!(sent, 17);
}
