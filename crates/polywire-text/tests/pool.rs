//! The pool of buffers.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{LazyLock, Mutex};

use bytes::Bytes;
use polywire_text::pool::Pool;

#[test]
fn a_buffer_comes_back_empty_and_with_its_capacity() {
    let pool = Pool::new(4, 1024);
    let mut buffer = pool.take();
    assert_eq!(buffer.capacity(), 0);
    buffer.extend_from_slice(&[1; 500]);
    let (start, capacity) = (buffer.as_ptr(), buffer.capacity());
    drop(buffer);
    let buffer = pool.take();
    assert_eq!((buffer.as_ptr(), buffer.capacity()), (start, capacity));
    assert!(buffer.is_empty());
}

#[test]
fn a_buffer_above_the_bound_is_not_kept() {
    let pool = Pool::new(4, 1024);
    pool.take().reserve_exact(1025);
    assert_eq!(pool.take().capacity(), 0);
    pool.take().reserve_exact(1024);
    assert_eq!(pool.take().capacity(), 1024);
}

#[test]
fn no_more_than_so_many_are_kept() {
    for buffers in 0..=6 {
        let pool = Pool::new(buffers, 1024);
        let many: Vec<_> = (0..10)
            .map(|_| {
                let mut buffer = pool.take();
                buffer.push(1);
                buffer
            })
            .collect();
        drop(many);
        let again: Vec<_> = (0..10).map(|_| pool.take()).collect();
        let kept = again.iter().filter(|buffer| buffer.capacity() > 0).count();
        // One thread looks at four slots.
        assert_eq!(kept, buffers.min(4));
    }
}

#[test]
fn a_detached_buffer_is_not_kept() {
    let pool = Pool::new(4, 1024);
    let mut buffer = pool.take();
    buffer.extend_from_slice(b"kept");
    assert_eq!(buffer.into_vec(), b"kept");
    assert_eq!(pool.take().capacity(), 0);
}

/// What a pool of another toolkit got wrong.
#[test]
fn bytes_of_a_message_outlive_what_is_written_next() {
    static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new(4, 1024));
    let pool = &*POOL;
    let mut buffer = pool.take();
    buffer.extend_from_slice(b"the first message");
    let first = Bytes::from_owner(buffer);
    let part = first.slice(4..9);
    drop(first);
    for _ in 0..10 {
        let mut buffer = pool.take();
        buffer.extend_from_slice(b"XXXXXXXXXXXXXXXXX");
        let next = Bytes::from_owner(buffer);
        assert_eq!(part, "first");
        drop(next);
    }
    let start = part.as_ptr();
    drop(part);
    // Now it is free.
    let [one, two] = [pool.take(), pool.take()];
    let taken = [one.as_ptr(), two.as_ptr()];
    assert!(taken.map(|at| at.wrapping_add(4)).contains(&start));
}

#[test]
fn threads_never_see_each_others_bytes() {
    let pool = Pool::new(6, 1024);
    let passed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for mark in 0..8_u8 {
            let (pool, passed) = (&pool, &passed);
            scope.spawn(move || {
                for round in 0..if cfg!(miri) { 10 } else { 2000 } {
                    let mut buffer = pool.take();
                    assert!(buffer.is_empty());
                    buffer.resize(64, mark);
                    if round % 7 == 0 {
                        // Given back by another thread.
                        passed.lock().unwrap().push((mark, buffer));
                        let other = passed.lock().unwrap().pop();
                        if let Some((mark, buffer)) = other {
                            assert!(buffer.iter().all(|byte| *byte == mark));
                        }
                    } else {
                        std::hint::black_box(&mut *buffer);
                        assert!(buffer.iter().all(|byte| *byte == mark));
                    }
                }
            });
        }
    });
}

/// The usual way of a message: made by one thread, let go by another.
#[test]
fn what_another_thread_drops_comes_back() {
    let pool = Pool::new(64, 1024);
    let first = {
        let mut buffer = pool.take();
        buffer.extend_from_slice(&[1; 100]);
        let start = buffer.as_ptr() as usize;
        std::thread::scope(|scope| {
            scope.spawn(move || drop(buffer));
        });
        start
    };
    assert_eq!(pool.take().as_ptr() as usize, first);
}
