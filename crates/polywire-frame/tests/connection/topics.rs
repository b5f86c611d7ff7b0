//! Publish and subscribe.

use polywire_frame::server::Fault;
use polywire_frame::{FaultCode, Time};

use crate::support::Link;

#[test]
fn a_subscription_from_subscribe_to_unsubscribe() {
    let mut link = Link::new();
    let id = link.client.subscribe("news", &[], 1).unwrap();
    assert_eq!(link.serve(), ["hello", "0#0 subscribe news"]);
    link.server.accept(id);
    let mut item = link.server.item(id, 3).unwrap();
    item.payload().extend_from_slice(b"late");
    item.send().unwrap();
    assert_eq!(
        link.receive(),
        ["hello", "0#0 accepted", "0#0 item after 3: late"]
    );
    link.client.unsubscribe(id);
    assert_eq!(link.serve(), ["0#0 unsubscribe"]);
    link.reply(id, b"");
    assert_eq!(link.receive(), ["0#0 (1) in 0 us: "]);
    assert_eq!((link.client.open(), link.server.open()), (0, 0));
}

#[test]
fn a_subscription_can_be_rejected_and_ended() {
    let mut link = Link::new();
    let id = link.client.subscribe("secrets", &[], 1).unwrap();
    link.serve();
    link.fault(id, Fault::unstarted(FaultCode::FORBIDDEN), b"");
    assert_eq!(link.receive(), ["hello", "0#0 (1) forbidden unstarted: "]);
    let id = link.client.subscribe("news", &[], 2).unwrap();
    link.serve();
    link.server.accept(id);
    link.fault(id, Fault::new(FaultCode::OVERLOADED), b"");
    assert_eq!(link.receive(), ["0#1 accepted", "0#1 (2) overloaded: "]);
}

#[test]
fn published_messages_are_acknowledged() {
    let mut link = Link::new();
    let mut message = link
        .client
        .publish(link.now, "news", &[], Time::NEVER)
        .unwrap();
    message.payload().extend_from_slice(b"rain");
    let id = message.send(1).unwrap();
    assert_eq!(link.serve(), ["hello", "0#0 publish news: rain"]);
    link.reply(id, &2_u32.to_le_bytes());
    assert_eq!(link.receive(), ["hello", "0#0 (1) in 0 us: \u{2}\0\0\0"]);
    assert!(link.client.publish(link.now, "", &[], Time::NEVER).is_err());
    assert!(link.client.subscribe("a\u{7f}", &[], 1).is_err());
    assert!(link.client.output().is_empty());
}
