//! Buffers that the connections of a thread read into.

use std::cell::Cell;
use std::thread::LocalKey;

/// A buffer of a thread: connections that wait have none of their own.
pub(super) type ReadBuffer = Cell<Vec<u8>>;

/// Lends the buffer of this thread, of so many bytes, to `read`.
///
/// The buffer is taken and not borrowed: `read` runs handlers, and one that blocks on a call of its own has a
/// connection of this thread read while it runs. That connection gets a buffer that is allocated for it.
#[inline]
pub(super) fn with_buffer<R>(
    buffer: &'static LocalKey<ReadBuffer>,
    bytes: usize,
    read: impl FnOnce(&mut [u8]) -> R,
) -> R {
    let mut own = buffer.take();
    if own.is_empty() {
        own = allocate(bytes);
    }
    let result = read(&mut own);
    buffer.set(own);
    result
}

/// The system gives memory only for what is used.
#[cold]
fn allocate(bytes: usize) -> Vec<u8> {
    vec![0; bytes]
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static BUFFER: ReadBuffer = const { Cell::new(Vec::new()) };
    }

    #[test]
    fn a_read_within_a_read_has_another_buffer() {
        let first = with_buffer(&BUFFER, 8, |outer| {
            outer.fill(1);
            with_buffer(&BUFFER, 8, |inner| inner.fill(2));
            assert_eq!(outer, [1; 8]);
            outer.as_ptr()
        });
        with_buffer(&BUFFER, 8, |again| assert_eq!(again.as_ptr(), first));
    }
}
