use std::future::poll_fn;

use tokio::io::AsyncReadExt;
use tungstenite::protocol::Role;

use super::*;

/// Polls the driver once. It must return `Pending`.
async fn poll(driver: &mut Driver<tokio::io::DuplexStream>) {
    let polled = poll_fn(|cx| Poll::Ready(driver.poll(cx))).await;
    assert!(polled.is_pending());
}

// Whether a stream accepts exactly what was written, and nothing more later, cannot be arranged over TCP.
#[tokio::test(start_paused = true)]
async fn the_write_timeout_begins_when_the_stream_blocks() {
    let limits = WebSocketLimits::DEFAULT.with_ping(None, Duration::from_secs(20));
    let frame_len = 2 + 18;
    let (ours, mut theirs) = tokio::io::duplex(frame_len);
    let queue = Arc::new(Queue::new(&limits, None));
    let codec = Codec::new(ours, &Bytes::new(), Role::Server, &limits);
    let counts = Arc::new(Counts::default());
    let mut driver = Driver::new(codec, Arc::clone(&queue), Arc::clone(&counts), limits);
    queue.try_send(vec![1; 18].into()).unwrap();
    poll(&mut driver).await;
    assert!(!driver.blocked);

    // The stream is full now. The next message is sent later than the write timeout.
    tokio::time::advance(limits.write_timeout * 2).await;
    queue.try_send(vec![2; 18].into()).unwrap();
    poll(&mut driver).await;
    assert!(driver.blocked);
    assert!(queue.is_open());
    tokio::time::advance(limits.write_timeout / 2).await;
    poll(&mut driver).await;
    assert!(queue.is_open());

    // The peer reads both messages.
    let mut frame = vec![0; frame_len];
    for byte in [1, 2] {
        theirs.read_exact(&mut frame).await.unwrap();
        assert_eq!(frame[2..], [byte; 18]);
        poll(&mut driver).await;
    }
    assert!(!driver.blocked);

    // A peer that reads nothing is a slow reader after the timeout, not before.
    queue.try_send(vec![3; 40].into()).unwrap();
    poll(&mut driver).await;
    assert!(driver.blocked && queue.is_open());
    tokio::time::advance(limits.write_timeout).await;
    poll(&mut driver).await;
    assert!(!queue.is_open());
    assert_eq!(counts.stats().slow_readers, 1);
}
