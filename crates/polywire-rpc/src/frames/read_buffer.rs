//! Read buffers that the connections of a thread share.

use std::cell::Cell;
use std::thread::LocalKey;

/// The read buffer of a thread. Idle connections have no buffer of their own.
pub(super) type ReadBuffer = Cell<Vec<u8>>;

/// Calls `read` with the buffer of this thread, which has `bytes` bytes.
///
/// The buffer is taken instead of borrowed: `read` runs handlers, and while a handler blocks on a call of its own,
/// another connection of this thread may read. That connection gets a new buffer.
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

/// Zeroed memory of the system uses physical memory only for the pages that are written.
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
    fn nested_reads_use_separate_buffers() {
        let first = with_buffer(&BUFFER, 8, |outer| {
            outer.fill(1);
            with_buffer(&BUFFER, 8, |inner| inner.fill(2));
            assert_eq!(outer, [1; 8]);
            outer.as_ptr()
        });
        with_buffer(&BUFFER, 8, |again| assert_eq!(again.as_ptr(), first));
    }
}
