//! The pool under every order in which its threads can meet. By
//! `scripts/check-memory loom`; an ordinary `cargo test` has nothing here.
#![cfg(loom)]
#![allow(clippy::unwrap_used, reason = "tests")]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;
use polywire_text::pool::Pool;

/// A mark in the buffer's bytes that tells whether somebody else writes there.
fn use_it(pool: &Pool, mark: u8) {
    let mut buffer = pool.take();
    assert!(buffer.is_empty());
    buffer.extend_from_slice(&[mark; 8]);
    thread::yield_now();
    assert_eq!(**buffer, [mark; 8]);
}

/// The addresses of the buffers that are out.
struct Out([AtomicUsize; 4]);

impl Out {
    fn new() -> Self {
        Self([0; 4].map(AtomicUsize::new))
    }

    fn take(&self, own: usize, address: usize) {
        for (at, other) in self.0.iter().enumerate() {
            assert!(at == own || other.load(Ordering::SeqCst) != address);
        }
        self.0[own].store(address, Ordering::SeqCst);
    }

    fn give(&self, own: usize) {
        self.0[own].store(0, Ordering::SeqCst);
    }
}

#[test]
fn no_buffer_is_handed_out_twice() {
    loom::model(|| {
        let pool = Arc::new(Pool::new(2, 64));
        let out = Arc::new(Out::new());
        // One buffer is in the pool, which both threads want.
        pool.take().reserve_exact(64);
        let threads: Vec<_> = (0..2)
            .map(|own| {
                let (pool, out) = (Arc::clone(&pool), Arc::clone(&out));
                thread::spawn(move || {
                    let mut buffer = pool.take();
                    buffer.reserve_exact(64);
                    out.take(own, buffer.as_ptr() as usize);
                    buffer.push(1);
                    assert_eq!(**buffer, [1]);
                    out.give(own);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        // Both are back, and they are two.
        let (one, other) = (pool.take(), pool.take());
        assert!(one.is_empty() && other.is_empty());
        assert!(one.capacity() == 0 || one.as_ptr() != other.as_ptr());
    });
}

#[test]
fn what_is_read_is_not_given_out() {
    loom::model(|| {
        let pool: &'static Pool = Box::leak(Box::new(Pool::new(1, 64)));
        let read = Arc::new(AtomicBool::new(false));
        let mut buffer = pool.take();
        buffer.extend_from_slice(b"answer");
        let message = bytes::Bytes::from_owner(buffer);
        let reader = {
            let (message, read) = (message.clone(), Arc::clone(&read));
            thread::spawn(move || {
                assert_eq!(message, "answer");
                read.store(true, Ordering::SeqCst);
                drop(message);
            })
        };
        drop(message);
        let mut next = pool.take();
        // The buffer of the answer comes only when the reader is done with it.
        assert!(next.capacity() == 0 || read.load(Ordering::SeqCst));
        next.extend_from_slice(b"others");
        reader.join().unwrap();
    });
}

#[test]
fn no_more_than_the_bound_are_kept() {
    loom::model(|| {
        let pool = Arc::new(Pool::new(1, 64));
        let threads: Vec<_> = (1..=2)
            .map(|mark| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || use_it(&pool, mark))
            })
            .collect();
        use_it(&pool, 3);
        for thread in threads {
            thread.join().unwrap();
        }
        let kept = [pool.take(), pool.take(), pool.take()];
        let kept = kept.iter().filter(|buffer| buffer.capacity() > 0).count();
        assert!(kept <= 1);
    });
}
