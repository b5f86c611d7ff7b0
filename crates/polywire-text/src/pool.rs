//! A bounded pool of buffers.
//!
//! A pool saves what growing costs: a buffer that comes back keeps the capacity
//! that it has reached. What an allocation costs it does not save, since taking
//! and giving back are two locks, and the system's allocator is quicker than
//! that. The benchmark (`text/pool` of `bench/`) has it measured, one thread,
//! beside a new vector each time:
//!
//! | message | size known ahead | grown from 512 bytes |
//! |---|---|---|
//! | 256 bytes | 3 times as long | 3 times as long |
//! | 4 KiB | as long | 0.6 of the time |
//! | 64 KiB | as long | 0.8 |
//! | 1 MiB | 1.1 times as long | 0.9 |
//!
//! So it pays for messages of some KiB and more whose size nobody knows ahead,
//! and costs 35 ns where they are small. Calls and their answers are mostly
//! small, and what a large one gains is less than a tenth of what sending it
//! costs: nothing in Polywire uses the pool today. It is here for programs
//! whose messages are of the other kind.
//!
//! # How it works
//!
//! An array of slots, each a mutex around a vector; an empty vector is an empty
//! slot. To take a buffer, a thread tries the four slots that it calls home and
//! takes the first vector that it finds. When it comes back, from whatever thread,
//! the same four are tried and the vector goes into the first empty one. Threads have different homes
//! while there are enough slots, so they rarely meet. Nobody ever waits: a slot
//! that is locked counts as one that is of no use, a thread that finds nothing
//! makes a new buffer, and a buffer for which there is no place is freed.
//!
//! So it is bounded: at most `buffers` slots, in each at most `most_bytes`. A
//! larger buffer is freed when it comes back, so that one huge message does not
//! stay for ever.
//!
//! Who has a buffer owns its vector, and moves it into the slot when done; there
//! is no unsafe code here, and with it goes the way in which pools usually fail,
//! to give out bytes that somebody still reads. What the compiler does not see
//! (that a slot holds what was put there, that none is lost or doubled on the
//! way, that nobody waits for ever) is model-checked: `tests/pool_model.rs` goes
//! through every order in which threads can meet.

#[cfg(loom)]
use loom::sync::Mutex;
use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};
#[cfg(not(loom))]
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many slots a thread looks at.
const HOME: usize = 4;

/// A bounded pool of buffers.
///
/// | operation | cost |
/// |---|---|
/// | [`Pool::take`] | up to four uncontended locks; no allocation |
/// | dropping a [`Buffer`] | the same; frees it if it is too large or there is no place |
///
/// ```
/// use polywire_text::pool::Pool;
///
/// let pool = Pool::new(16, 64 * 1024);
/// let mut buffer = pool.take();
/// buffer.extend_from_slice(b"a message");
/// assert_eq!(buffer.len(), 9);
/// drop(buffer);
///
/// let again = pool.take();
/// assert!(again.is_empty());
/// assert!(again.capacity() >= 9);
/// ```
pub struct Pool {
    slots: Box<[Slot]>,
    most_bytes: usize,
}

/// Two cache lines, which is what processors fetch at once, so that a slot does
/// not slow its neighbour down.
#[repr(align(128))]
struct Slot(Mutex<Vec<u8>>);

impl Pool {
    /// A pool that keeps at most `buffers` buffers of at most `most_bytes`
    /// capacity each. It starts empty. Without buffers or bytes it keeps none.
    ///
    /// Four times as many buffers as threads is a good number.
    #[must_use]
    pub fn new(buffers: usize, most_bytes: usize) -> Self {
        Self {
            slots: (0..buffers).map(|_| Slot(Mutex::default())).collect(),
            most_bytes,
        }
    }

    /// An empty buffer: one that came back, with its capacity, or a new one
    /// without any.
    #[must_use]
    pub fn take(&self) -> Buffer<'_> {
        let home = thread_number();
        let bytes = self.slots_of(home).find_map(|slot| {
            let mut kept = slot.0.try_lock().ok()?;
            (kept.capacity() > 0).then(|| std::mem::take(&mut *kept))
        });
        Buffer {
            bytes: bytes.unwrap_or_default(),
            home,
            pool: self,
        }
    }

    fn give(&self, home: usize, mut bytes: Vec<u8>) {
        if bytes.capacity() == 0 || bytes.capacity() > self.most_bytes {
            return;
        }
        bytes.clear();
        for slot in self.slots_of(home) {
            if let Ok(mut kept) = slot.0.try_lock()
                && kept.capacity() == 0
            {
                *kept = bytes;
                return;
            }
        }
        // No place: it is freed here.
    }

    /// The slots that the thread of this number looks at, in order.
    fn slots_of(&self, thread: usize) -> impl Iterator<Item = &Slot> {
        let count = self.slots.len();
        let first = (thread.wrapping_mul(HOME))
            .checked_rem(count)
            .unwrap_or_default();
        let (before, from) = self.slots.split_at(first);
        from.iter().chain(before).take(HOME)
    }
}

/// A small number for each thread. Under loom all threads have the same, since
/// its threads are not threads of the system: they meet all the more.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    const NONE: usize = usize::MAX;
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(NONE) };
    }
    // While a thread ends, its variable may be gone already.
    OWN.try_with(|own| {
        if own.get() == NONE {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        own.get()
    })
    .unwrap_or_default()
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("buffers", &self.slots.len())
            .field("most_bytes", &self.most_bytes)
            .finish_non_exhaustive()
    }
}

/// A vector that goes back to its [`Pool`] when it is dropped.
///
/// It may be sent to another thread and dropped there; it goes back to where the
/// thread that took it looks first. One of a pool that lives
/// as long as the program is an owner for
/// [`Bytes::from_owner`](bytes::Bytes::from_owner): then it goes back when the
/// last of those that read it is gone.
///
/// ```
/// use std::sync::LazyLock;
///
/// use bytes::Bytes;
/// use polywire_text::pool::Pool;
///
/// static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new(16, 64 * 1024));
///
/// let mut buffer = POOL.take();
/// buffer.extend_from_slice(b"a message");
/// let message = Bytes::from_owner(buffer);
/// let part = message.slice(2..);
/// drop(message);
/// assert_eq!(part, "message");
/// ```
pub struct Buffer<'pool> {
    bytes: Vec<u8>,
    /// The number of the thread that took it.
    home: usize,
    pool: &'pool Pool,
}

impl Buffer<'_> {
    /// The vector, which does not go back.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<u8> {
        // What is dropped after this has no capacity and is not kept.
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.pool.give(self.home, std::mem::take(&mut self.bytes));
    }
}

impl Deref for Buffer<'_> {
    type Target = Vec<u8>;

    #[inline]
    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for Buffer<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl AsRef<[u8]> for Buffer<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Buffer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("len", &self.bytes.len())
            .field("capacity", &self.bytes.capacity())
            .finish_non_exhaustive()
    }
}
