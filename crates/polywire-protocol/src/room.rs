//! How much space a message will take, as far as those before it tell.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What a message begins with if none came before. A piece of this size costs an
/// allocator no more than a smaller one.
const LEAST: usize = 512;

/// What a message begins with at most: a large one doubles its space a few times,
/// and may.
const MOST: usize = 64 * 1024;

/// Up to here allocators have a piece at hand: the next larger one takes the
/// most common of them as long as a small message takes altogether.
const SMALL: usize = 1024;

/// The space that messages of one kind lately took. A guess and nothing more:
/// threads may write it as they like.
#[derive(Debug)]
pub struct Room(AtomicUsize);

impl Default for Room {
    fn default() -> Self {
        Self(AtomicUsize::new(LEAST))
    }
}

impl Room {
    /// An empty vector for the next message.
    pub(crate) fn vec(&self) -> Vec<u8> {
        Vec::with_capacity(self.0.load(Ordering::Relaxed))
    }

    /// A message took so many bytes. Mostly that was to be expected and nothing
    /// is written, so that threads do not take the guess from one another.
    pub(crate) fn took(&self, len: usize) {
        let room = self.0.load(Ordering::Relaxed);
        // Writers reserve a little more than they write.
        let mut wanted = len + len / 8 + 64;
        if wanted > SMALL && len + 64 <= SMALL {
            wanted = SMALL;
        }
        if wanted > room && room < MOST {
            self.0.store(wanted.min(MOST), Ordering::Relaxed);
        } else if wanted < room / 4 && room > LEAST {
            self.0.store((room / 2).max(LEAST), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_messages() {
        let room = Room::default();
        let now = || room.vec().capacity();
        assert_eq!(now(), LEAST);
        room.took(400);
        assert_eq!(now(), 514);
        room.took(950);
        assert_eq!(now(), SMALL);
        room.took(970);
        assert_eq!(now(), 1155);
        room.took(8000);
        assert_eq!(now(), 9064);
        room.took(5000);
        assert_eq!(now(), 9064);
        room.took(1 << 20);
        assert_eq!(now(), MOST);
        for _ in 0..20 {
            room.took(10);
        }
        assert_eq!(now(), LEAST);
    }
}
