//! Publish and subscribe, and one-way calls.

use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_rpc::frames::{Client, Subscription};
use polywire_rpc::topics::{Access, SlowSubscriber};
use polywire_rpc::{CallError, CallErrorKind};
use polywire_rpc::{Methods, RunningServer, Server, Timeouts, Topics};
use tokio::sync::mpsc;

use crate::support::client;

async fn serve(topics: Option<Topics>) -> RunningServer {
    let timeouts = Timeouts::DEFAULT.with_shutdown(Duration::from_millis(200));
    let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    let mut server = Server::methods(methods).frames(true).timeouts(timeouts);
    if let Some(topics) = topics {
        server = server.topics(topics);
    }
    let address = "127.0.0.1:0".parse().unwrap();
    server.build().unwrap().listen(address).await.unwrap()
}

async fn next(subscription: &mut Subscription) -> (u32, String) {
    let message = subscription.next::<String>().await.unwrap().unwrap();
    (message.missed, message.value)
}

fn code(error: &CallError) -> FaultCode {
    error.frame_code().unwrap()
}

#[tokio::test]
async fn a_message_reaches_all_subscribers() {
    let topics = Topics::new();
    let running = serve(Some(topics.clone())).await;
    let (a, b) = (client(&running).await, client(&running).await);
    assert_eq!(a.publish("news", "to nobody").await.unwrap(), 0);
    let mut first = a.subscribe("news").await.unwrap();
    let mut second = b.subscribe("news").await.unwrap();
    let mut other = b.subscribe("sport").await.unwrap();
    assert_eq!(topics.subscribers("news"), 2);
    assert_eq!(a.publish("news", "rain").await.unwrap(), 2);
    assert_eq!(topics.publish("news", "sun").unwrap(), 2);
    assert_eq!(b.publish("sport", "goal").await.unwrap(), 1);
    for subscription in [&mut first, &mut second] {
        assert_eq!(next(subscription).await, (0, "rain".to_owned()));
        assert_eq!(next(subscription).await, (0, "sun".to_owned()));
    }
    assert_eq!(next(&mut other).await.1, "goal");
}

/// Subscribing and publishing with a deadline of zero fails, and the server receives neither.
#[tokio::test]
async fn with_a_zero_deadline_nothing_is_sent() {
    let (sender, mut asked) = mpsc::unbounded_channel();
    let topics = Topics::new().guard(move |_, access| {
        sender.send(format!("{access:?}")).unwrap();
        true
    });
    let running = serve(Some(topics)).await;
    let client = client(&running).await;
    let late = client.with_deadline(Duration::ZERO);
    let error = late.subscribe("late").await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    let error = late.publish("late", "news").await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    let _news = client.subscribe("in time").await.unwrap();
    let expected = format!("{:?}", Access::Subscribe("in time"));
    assert_eq!(asked.recv().await, Some(expected));
}

#[tokio::test]
async fn a_subscription_ends_by_unsubscribe_or_by_drop() {
    let topics = Topics::new();
    let running = serve(Some(topics.clone())).await;
    let client = client(&running).await;
    let mut subscription = client.subscribe("news").await.unwrap();
    let dropped = client.subscribe("news").await.unwrap();
    topics.publish("news", "last").unwrap();
    assert_eq!(next(&mut subscription).await.1, "last");
    subscription.unsubscribe();
    assert_eq!(subscription.next::<String>().await.unwrap(), None);
    drop(dropped);
    client.call::<i32>("Add", (1, 2)).await.unwrap();
    assert_eq!(topics.subscribers("news"), 0);
    assert_eq!(client.publish("news", "gone").await.unwrap(), 0);
}

/// Messages that were queued for a subscription before `unsubscribe` are delivered, even if they wait for credit.
#[tokio::test]
async fn messages_before_the_end_of_a_subscription_are_delivered() {
    let topics = Topics::new();
    let running = serve(Some(topics.clone())).await;
    let client = client(&running).await;
    let mut subscription = client.subscribe("news").await.unwrap();
    // More than the credit of the subscription.
    for number in 0..30_usize {
        let message = "x".repeat(30_000 + number);
        assert_eq!(topics.publish("news", message).unwrap(), 1);
        client.call::<i32>("Add", (1, 2)).await.unwrap();
    }
    subscription.unsubscribe();
    client.call::<i32>("Add", (1, 2)).await.unwrap();
    assert_eq!(topics.publish("news", "too late").unwrap(), 0);
    for number in 0..30 {
        let (missed, message) = next(&mut subscription).await;
        assert_eq!((missed, message.len()), (0, 30_000 + number));
    }
    assert_eq!(subscription.next::<String>().await.unwrap(), None);
}

/// Clones of `Topics` share their settings: those of a clone apply to messages that the original publishes.
#[tokio::test]
async fn clones_share_their_settings() {
    let publisher = Topics::new();
    let topics = publisher
        .clone()
        .queue(4, 1 << 20)
        .slow(SlowSubscriber::End);
    let (_, _, fault) = flood_by(&publisher, topics).await;
    assert_eq!(code(&fault.unwrap()), FaultCode::OVERLOADED);
}

/// All queues together have a limit of memory. A subscriber that reads receives all messages, even if the queue of a
/// slow subscriber takes all of this memory.
#[tokio::test]
async fn all_queues_share_one_memory_limit() {
    let topics = Topics::new().queue(1 << 20, 1 << 30).memory(200_000);
    let (handed, got, fault) = flood(topics).await;
    assert!(fault.is_none());
    assert!(handed.iter().all(|count| *count == 1));
    let missed: u32 = got.iter().map(|(missed, _)| missed).sum();
    assert_eq!(missed as usize + got.len(), 101);
    // The messages for which there was credit or that the client has not read yet, and 200,000 bytes of the queue.
    assert!(got.len() < 40, "{} came", got.len());
    let topics = Topics::new().queue(1 << 20, 1 << 30).memory(200_000);
    let running = serve(Some(topics.clone())).await;
    let client = client(&running).await;
    let mut quick = client.subscribe("news").await.unwrap();
    let slow = client.subscribe("news").await.unwrap();
    for number in 0..100_usize {
        topics.publish("news", "x".repeat(20_000 + number)).unwrap();
        let (missed, message) = next(&mut quick).await;
        assert_eq!((missed, message.len()), (0, 20_000 + number));
    }
    // The memory of a dropped subscription is free again.
    drop(slow);
    client.call::<i32>("Add", (1, 2)).await.unwrap();
    for _ in 0..8 {
        assert_eq!(topics.publish("news", "x".repeat(20_000)).unwrap(), 1);
    }
    for _ in 0..8 {
        assert_eq!(next(&mut quick).await.0, 0);
    }
}

/// Publishes 100 messages of 20 kB while the subscriber does not read, and then `end`. Returns the number of queues
/// that accepted each message; the received messages, as `missed` and number; and the error of the subscription.
async fn flood(topics: Topics) -> (Vec<u32>, Vec<(u32, usize)>, Option<CallError>) {
    flood_by(&topics.clone(), topics).await
}

async fn flood_by(
    topics: &Topics,
    served: Topics,
) -> (Vec<u32>, Vec<(u32, usize)>, Option<CallError>) {
    let running = serve(Some(served)).await;
    let client = client(&running).await;
    let mut slow = client.subscribe("news").await.unwrap();
    let mut handed = Vec::new();
    for number in 0..100_usize {
        let message = "x".repeat(20_000 + number);
        handed.push(topics.publish("news", &message).unwrap());
        // Lets the task of the connection run.
        client.call::<i32>("Add", (1, 2)).await.unwrap();
    }
    let mut got = Vec::new();
    let mut fault = None;
    let end = || topics.publish("news", "end").unwrap() == 1;
    let mut ended = end();
    loop {
        match slow.next::<String>().await {
            Ok(Some(message)) if message.value == "end" => {
                got.push((message.missed, 0));
                break;
            }
            Ok(Some(message)) => {
                got.push((message.missed, message.value.len() - 20_000));
                ended = ended || end();
            }
            Ok(None) => break,
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    (handed, got, fault)
}

#[tokio::test]
async fn by_default_a_slow_subscriber_gets_the_newest_messages() {
    let (handed, got, fault) = flood(Topics::new().queue(4, 1 << 20)).await;
    assert!(fault.is_none());
    assert!(handed.iter().all(|count| *count == 1));
    // Each message is received, or counted in `missed` of the message after the gap.
    let missed: u32 = got.iter().map(|(missed, _)| missed).sum();
    assert_eq!(missed as usize + got.len(), 101);
    let tail: Vec<_> = got[got.len() - 4..].iter().map(|(_, n)| *n).collect();
    assert_eq!(tail, [97, 98, 99, 0]);
    let mut expected = 0;
    for (missed, number) in &got[..got.len() - 1] {
        expected += *missed as usize;
        assert_eq!(*number, expected);
        expected += 1;
    }
}

#[tokio::test]
async fn with_drop_newest_a_slow_subscriber_gets_the_oldest_messages() {
    let topics = Topics::new().queue(4, 1 << 20);
    let (handed, got, fault) = flood(topics.slow(SlowSubscriber::DropNewest)).await;
    assert!(fault.is_none());
    let all: u32 = handed.iter().sum();
    assert!(all < 100);
    // All accepted messages arrive without a gap. The last message has the number of those that were dropped.
    let (last, first) = got.split_last().unwrap();
    assert_eq!(first.len(), all as usize);
    for (index, (missed, number)) in first.iter().enumerate() {
        assert_eq!((*missed, *number), (0, index));
    }
    assert!(last.0 as usize >= 100 - first.len());
}

#[tokio::test]
async fn with_end_a_slow_subscriber_is_unsubscribed() {
    let topics = Topics::new().queue(4, 1 << 20);
    let (handed, got, fault) = flood(topics.slow(SlowSubscriber::End)).await;
    let fault = fault.unwrap();
    assert_eq!(code(&fault), FaultCode::OVERLOADED);
    assert_eq!(
        fault.fault().unwrap().message(),
        "this subscriber was too slow"
    );
    let all: u32 = handed.iter().sum();
    assert!(got.len() <= all as usize && all < 100);
}

#[tokio::test]
async fn the_guard_decides_who_may_subscribe_and_publish() {
    let topics = Topics::new().guard(|_, access| access == Access::Subscribe("news"));
    let running = serve(Some(topics)).await;
    let client = client(&running).await;
    client.subscribe("news").await.unwrap();
    let error = client.subscribe("secret").await.unwrap_err();
    assert_eq!(code(&error), FaultCode::FORBIDDEN);
    let error = client.publish("news", 1).await.unwrap_err();
    assert_eq!(code(&error), FaultCode::FORBIDDEN);
}

#[tokio::test]
async fn a_server_without_topics_rejects_subscriptions() {
    let running = serve(None).await;
    let client = client(&running).await;
    for error in [
        client.subscribe("news").await.unwrap_err(),
        client.publish("news", 1).await.unwrap_err(),
    ] {
        assert_eq!(code(&error), FaultCode::UNSUPPORTED);
        assert_eq!(
            error.fault().unwrap().message(),
            "this server has no topics"
        );
    }
    assert!(client.subscribe("").await.is_err());
}

#[tokio::test]
async fn shutdown_ends_subscriptions() {
    let running = serve(Some(Topics::new())).await;
    let client = client(&running).await;
    let mut subscription = client.subscribe("news").await.unwrap();
    let stopping = tokio::spawn(async move { running.shutdown().await });
    let error = subscription.next::<String>().await.unwrap_err();
    assert_eq!(code(&error), FaultCode::UNAVAILABLE);
    stopping.await.unwrap();
}

#[tokio::test]
async fn one_way_calls_arrive() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let methods = Methods::new().method("Note", move |(number, text): (u32, String)| {
        let sender = sender.clone();
        async move {
            let _ = sender.send((number, text.len()));
        }
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client: Client = client(&running).await;
    for number in 0..1_000_u32 {
        let text = "x".repeat(number as usize * 10);
        client.notify("Note", (number, text)).await.unwrap();
    }
    for number in 0..1_000 {
        assert_eq!(
            receiver.recv().await.unwrap(),
            (number, number as usize * 10)
        );
    }
    let error = client.notify("no\nname", ()).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Encode, "{error}");
}

/// A panic of the guard denies the access. The connection remains open.
#[tokio::test]
async fn a_guard_that_panics_denies_access() {
    let topics = Topics::new().guard(|_, access| {
        assert_ne!(access, Access::Subscribe("broken"));
        true
    });
    let running = serve(Some(topics)).await;
    let client = client(&running).await;
    let mut news = client.subscribe("news").await.unwrap();
    let error = client.subscribe("broken").await.err().unwrap();
    assert_eq!(code(&error), FaultCode::FORBIDDEN);
    client.publish("news", "rain").await.unwrap();
    assert_eq!(next(&mut news).await.1, "rain");
}

/// The server copies the list of subscribers in chunks of 256.
#[tokio::test]
async fn subscribers_in_several_chunks_get_each_message_once() {
    let topics = Topics::new();
    let running = serve(Some(topics.clone())).await;
    let client = client(&running).await;
    let mut subscriptions = Vec::new();
    for _ in 0..600 {
        subscriptions.push(client.subscribe("news").await.unwrap());
    }
    assert_eq!(topics.publish("news", "first").unwrap(), 600);
    // The last of the first chunk, the first of the second, and others.
    let mut index = 0;
    subscriptions.retain(|_| {
        index += 1;
        ![256, 257].contains(&index) && index % 7 != 0
    });
    while topics.subscribers("news") != subscriptions.len() {
        tokio::task::yield_now().await;
    }
    let accepted = topics.publish("news", "second").unwrap();
    assert_eq!(accepted as usize, subscriptions.len());
    topics.publish("news", "third").unwrap();
    for subscription in &mut subscriptions {
        for text in ["first", "second", "third"] {
            assert_eq!(next(subscription).await, (0, text.to_owned()));
        }
    }
}
