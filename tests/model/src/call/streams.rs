//! Handlers on their own threads, and the task of the connection.

use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;
use loom::future::block_on;
use loom::thread;
use polywire_frame::CallId;

use super::completion::{CallResult, Completion, CompletionQueue};
use super::pipe::{Pipe, SendStatus};
use crate::methods::MethodReply;
use crate::sync::Arc;
use crate::topics::{QueuePolicy, SlowSubscriber};

const CALL: CallId = CallId::new(0, 0);

fn reply(len: usize) -> CallResult {
    CallResult {
        result: Ok(MethodReply(len)),
        memory: None,
    }
}

/// Each completion is fetched once, and wakes the task that waits for it.
#[test]
fn answers_arrive() {
    loom::model(|| {
        let completions = Arc::new(CompletionQueue::<u32>::default());
        let handlers: Vec<_> = (0..2)
            .map(|call| {
                let completions = Arc::clone(&completions);
                thread::spawn(move || {
                    completions.push(Completion {
                        call,
                        operation: 0,
                        outcome: reply(call as usize),
                        unstarted: false,
                    });
                })
            })
            .collect();
        let mut calls = Vec::new();
        block_on(poll_fn(|context| {
            let pending = completions.take(context);
            calls.extend(pending.completions.iter().map(|completion| completion.call));
            match calls.len() {
                2 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        }));
        calls.sort_unstable();
        assert_eq!(calls, [0, 1]);
        for handler in handlers {
            handler.join().unwrap();
        }
    });
}

/// Takes from a pipe what the connection takes. Returns the outcome of the call if it is set.
fn fetch(pipe: &Pipe, items: &mut Vec<Bytes>, read: &mut u32) -> Option<CallResult> {
    *read += pipe.take_read_bytes();
    while let Some(status) = pipe.send_next(|item| {
        items.push(item.payload.clone());
        SendStatus::Success
    }) {
        assert_eq!(status, SendStatus::Success);
    }
    pipe.take_outcome()
}

/// Items are sent in order and before the reply, and no item is lost.
#[test]
fn items_leave_before_the_answer() {
    loom::model(|| {
        let completions = Arc::new(CompletionQueue::default());
        let pipe = Pipe::new(CALL, 100, Arc::clone(&completions), false, None);
        let own = Arc::clone(&pipe);
        let handler = thread::spawn(move || {
            for number in 0..2_u8 {
                let mut item = Bytes::copy_from_slice(&[number]);
                block_on(poll_fn(|context| own.poll_send(&mut item, context))).unwrap();
            }
            own.set_outcome(reply(7));
        });
        let (mut items, mut read) = (Vec::new(), 0);
        block_on(poll_fn(|context| {
            for pipe in completions.take(context).pipes {
                if let Some(answer) = fetch(&pipe, &mut items, &mut read) {
                    assert_eq!(answer.result.unwrap(), MethodReply(7));
                    return Poll::Ready(());
                }
            }
            Poll::Pending
        }));
        assert_eq!(items, [&[0_u8][..], &[1]]);
        handler.join().unwrap();
    });
}

/// A handler that reads is woken by each item and by the end of the stream. The connection learns
/// how many bytes were read.
#[test]
fn items_that_arrive_are_read() {
    // At most three preemptions: without a bound, the test takes minutes.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let completions = Arc::new(CompletionQueue::default());
        let pipe = Pipe::new(CALL, 100, Arc::clone(&completions), true, None);
        let own = Arc::clone(&pipe);
        let handler = thread::spawn(move || {
            let mut count = 0;
            while block_on(poll_fn(|context| own.poll_next(context))).is_some() {
                count += 1;
            }
            own.set_outcome(reply(count));
        });
        pipe.push_incoming(20, b"one");
        pipe.push_incoming(30, b"two");
        pipe.end_incoming();
        let (mut items, mut read) = (Vec::new(), 0);
        block_on(poll_fn(|context| {
            for pipe in completions.take(context).pipes {
                if let Some(answer) = fetch(&pipe, &mut items, &mut read) {
                    assert_eq!(answer.result.unwrap(), MethodReply(2));
                    return Poll::Ready(());
                }
            }
            Poll::Pending
        }));
        // `close` returns the bytes that `take_read_bytes` has not returned.
        assert_eq!(read + pipe.close(), 50);
        handler.join().unwrap();
    });
}

/// A handler that waits for an item is woken when its call ends.
#[test]
fn a_call_that_ends_wakes_its_handler() {
    loom::model(|| {
        let completions = Arc::new(CompletionQueue::default());
        let pipe = Pipe::new(CALL, 100, completions, true, None);
        let own = Arc::clone(&pipe);
        let handler = thread::spawn(move || {
            let read = block_on(poll_fn(|context| own.poll_next(context)));
            assert_eq!(read, None);
        });
        pipe.close();
        handler.join().unwrap();
    });
}

/// Two threads publish to a slow subscriber. It receives what fits, and the number of dropped messages.
#[test]
fn a_slow_subscriber_learns_what_it_missed() {
    loom::model(|| {
        let policy = QueuePolicy {
            max_messages: 1,
            max_bytes: 1_000,
            slow: SlowSubscriber::DropOldest,
            is_memory_exhausted: false,
        };
        let completions = Arc::new(CompletionQueue::default());
        let pipe = Pipe::new(CALL, 100, Arc::clone(&completions), false, None);
        let publishers: Vec<_> = (0..2_u8)
            .map(|number| {
                let pipe = Arc::clone(&pipe);
                thread::spawn(move || pipe.push_message(&Bytes::copy_from_slice(&[number]), policy))
            })
            .collect();
        let (mut received, mut missed) = (0, 0);
        block_on(poll_fn(|context| {
            for pipe in completions.take(context).pipes {
                pipe.take_read_bytes();
                while let Some(SendStatus::Success) = pipe.send_next(|item| {
                    received += 1;
                    missed += item.missed;
                    SendStatus::Success
                }) {}
            }
            match received + missed {
                2 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        }));
        for publisher in publishers {
            assert!(publisher.join().unwrap());
        }
    });
}
