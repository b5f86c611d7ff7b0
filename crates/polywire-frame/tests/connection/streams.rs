//! Streams of items, and their credit.

use polywire_frame::client::Request;
use polywire_frame::{CallId, Settings};

use crate::support::{ADD, Link};

fn streaming(link: &mut Link) -> CallId {
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
fn items_of_both_sides_then_the_answer() {
    let mut link = Link::new();
    let id = streaming(&mut link);
    assert!(send(&mut link, id, b"one"));
    assert_eq!(link.serve(), ["hello", "0#0 op 3 open: ", "0#0 item: one"]);
    assert!(push(&mut link, id, b"1"));
    assert_eq!(link.answer(), ["hello", "0#0 item after 0: 1"]);
    assert!(send(&mut link, id, b"two"));
    link.client.end(id);
    link.client.end(id);
    assert!(!send(&mut link, id, b"three"));
    assert_eq!(link.serve(), ["0#0 item: two", "0#0 end"]);
    link.reply(id, b"sum");
    assert_eq!(link.answer(), ["0#0 (1) in 0 us: sum"]);
    assert!(!push(&mut link, id, b"2"));
}

#[test]
fn an_answer_before_the_end_is_no_mistake() {
    let mut link = Link::new();
    let id = streaming(&mut link);
    link.serve();
    link.reply(id, b"enough");
    assert!(send(&mut link, id, b"more"));
    link.client.end(id);
    assert_eq!(link.serve(), [""; 0]);
    assert_eq!(link.answer(), ["hello", "0#0 (1) in 0 us: enough"]);
}

#[test]
fn credit_bounds_what_is_on_its_way() {
    let settings = Settings::DEFAULT.with_window(65_536);
    let mut link = Link::with(settings, settings).greeted();
    let id = streaming(&mut link);
    link.serve();
    let item = vec![0; 30_000];
    for sends in [true, true, true, false] {
        assert_eq!(send(&mut link, id, &item), sends);
        assert_eq!(push(&mut link, id, &item), sends);
    }
    assert_eq!(link.serve().len(), 3);
    assert_eq!(link.answer().len(), 3);
    // When no credit is left, the receiver returns credit after each consumed item.
    link.server.consumed(id, 30_016);
    link.client.consumed(id, 30_016);
    assert_eq!(link.answer(), ["0#0 writable"]);
    assert_eq!(link.serve(), ["0#0 writable"]);
    assert!(send(&mut link, id, &item) && push(&mut link, id, &item));
    assert_eq!(link.serve().len() + link.answer().len(), 2);
}

#[test]
fn all_streams_together_are_bounded_too() {
    let settings = Settings::DEFAULT.with_items(1 << 20).with_window(1 << 20);
    let mut link = Link::with(settings, settings).greeted();
    let (a, b) = (streaming(&mut link), streaming(&mut link));
    link.serve();
    let item = vec![0; (1 << 20) - 16];
    assert!(send(&mut link, a, &item) && push(&mut link, a, &item));
    // Stream `b` has credit, but the connection has none.
    assert!(!send(&mut link, b, b"x") && !push(&mut link, b, b"x"));
    assert_eq!((link.serve().len(), link.answer().len()), (1, 1));
    // The call ends before its items are consumed.
    link.reply(a, b"");
    link.answer();
    link.server.consumed(a, 1 << 20);
    link.client.consumed(a, 1 << 20);
    assert_eq!(link.answer(), ["all writable"]);
    assert_eq!(link.serve(), ["all writable"]);
    assert!(send(&mut link, b, b"x") && push(&mut link, b, b"x"));
    assert_eq!(link.serve(), ["1#0 item: x"]);
    assert_eq!(link.answer(), ["1#0 item after 0: x"]);
}

#[test]
fn headers_count_for_credit() {
    let settings = Settings::DEFAULT.with_items(1 << 20);
    let mut link = Link::with(settings, settings).greeted();
    let id = streaming(&mut link);
    link.serve();
    for _ in 0..200 {
        for _ in 0..1_000 {
            assert!(send(&mut link, id, b"") && push(&mut link, id, b""));
        }
        assert_eq!(link.serve().len(), 1_000);
        assert_eq!(link.answer().len(), 1_000);
        // Each item costs 16 bytes of credit: the frame header and an empty body.
        for _ in 0..1_000 {
            link.server.consumed(id, link.cost);
            link.client.consumed(id, link.cost);
        }
    }
    assert_eq!(link.cost, 16);
}

#[test]
fn unread_items_of_ended_calls_give_credit_back_at_once() {
    let settings = Settings::DEFAULT.with_items(1 << 20).with_window(1 << 20);
    let mut link = Link::with(settings, settings).greeted();
    let a = streaming(&mut link);
    link.serve();
    let item = vec![0; (1 << 20) - 16];
    assert!(send(&mut link, a, &item) && push(&mut link, a, &item));
    link.reply(a, b"");
    assert!(link.client.cancel(a).is_some());
    // Both items arrive after the end of their call.
    assert_eq!(link.serve(), [""; 0]);
    assert_eq!(link.answer(), ["0#0 freed", "all writable"]);
    assert_eq!(link.serve(), ["all writable"]);
}

#[test]
fn without_credit_an_item_breaks_the_connection() {
    let mut link = Link::new().greeted();
    streaming(&mut link);
    link.serve();
    // Six items of 60,016 bytes each. When the fifth item begins, some of the 256 KiB of credit is left. When the sixth
    // begins, none is.
    let mut items = Vec::new();
    for _ in 0..6 {
        items.extend([0x60, 0xea, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        items.resize(items.len() + 60_000, 0);
    }
    link.to_server = items;
    let broken = link.try_serve().unwrap_err();
    assert!(
        broken
            .to_string()
            .starts_with("frames: expected no ITEM without credit"),
        "{broken}"
    );
}

#[test]
fn a_stream_that_began_early_gets_the_rest_of_the_window() {
    let mut link = Link::new();
    let id = streaming(&mut link);
    let item = vec![0; 60_000];
    assert!(send(&mut link, id, &item) && send(&mut link, id, &item));
    assert!(!send(&mut link, id, &item));
    link.serve();
    // After HELLO, the credit is 256 KiB minus the bytes that were already sent.
    assert_eq!(link.answer(), ["hello"]);
    assert!(send(&mut link, id, &item) && send(&mut link, id, &item) && send(&mut link, id, &item));
    assert!(!send(&mut link, id, &item));
    assert_eq!(link.serve().len(), 3);
}

#[test]
fn credit_may_come_before_the_first_item() {
    let settings = Settings::DEFAULT.with_window(65_536);
    let mut link = Link::with(settings, settings).greeted();
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
