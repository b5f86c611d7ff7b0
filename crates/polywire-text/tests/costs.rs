//! The costs that `Text` and `Blob` promise, in allocations.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::borrow::Cow;
use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use polywire_text::{Blob, Body, Text};

/// The system allocator with a counter per thread.
struct Counting;

thread_local! {
    static COUNT: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn tally(bytes: usize) {
    // Allocations while a thread ends are not counted.
    let _ = COUNT.try_with(|count| {
        let (allocations, all) = count.get();
        count.set((allocations + 1, all + bytes));
    });
}

// SAFETY: each method calls `System` with its arguments and returns the result; `tally` neither
// allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tally(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        tally(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and bytes of `work`, without the drop of its result.
fn cost<T>(work: impl FnOnce() -> T) -> (usize, usize) {
    let before = COUNT.get();
    let made = black_box(work());
    let after = COUNT.get();
    drop(made);
    (after.0 - before.0, after.1 - before.1)
}

const LONG: &str = "a string of fifty bytes, which is not to be inline";
const NOTHING: (usize, usize) = (0, 0);
/// The size of an `Arc<[u8]>`: two counters and the bytes, in whole words.
const COPY: (usize, usize) = (1, 72);
const VECTOR: (usize, usize) = (1, 40);
const BYTES: (usize, usize) = (1, 48);

fn exact() -> String {
    LONG.to_owned()
}

#[test]
fn short_strings_cost_nothing() {
    for short in ["", "London", "three and twenty bytes."] {
        let (string, boxed, arc) = (short.to_owned(), Box::from(short), Arc::from(short));
        let (vec, bytes) = (
            short.as_bytes().to_vec(),
            Bytes::from_static(short.as_bytes()),
        );
        let blob = Blob::from(short.as_bytes());
        assert_eq!(cost(|| Text::from(short)), NOTHING);
        assert_eq!(cost(|| Text::from(string)), NOTHING);
        assert_eq!(
            cost(|| Text::from(Box::<str>::clone(&boxed))).0,
            usize::from(!short.is_empty())
        );
        assert_eq!(cost(|| Text::from(Arc::<str>::clone(&arc))), NOTHING);
        assert_eq!(cost(|| Text::try_from(vec).unwrap()), NOTHING);
        assert_eq!(cost(|| Text::try_from(bytes).unwrap()), NOTHING);
        assert_eq!(cost(|| Text::try_from(blob).unwrap()), NOTHING);
        assert_eq!(cost(|| short.chars().collect::<Text>()), NOTHING);
        assert_eq!(
            cost(|| Text::format(format_args!("{}", black_box(short)))),
            NOTHING
        );
        let text = Text::from(short);
        assert_eq!(cost(|| text.clone()), NOTHING);
        assert_eq!(cost(|| text.slice(..).unwrap()), NOTHING);
        assert_eq!(cost(|| text.into_owned()), NOTHING);
    }
}

#[test]
fn long_strings_cost_what_the_table_says() {
    assert_eq!(LONG.len(), 50);
    assert_eq!(cost(|| Text::from_static(LONG)), NOTHING);
    assert_eq!(cost(|| Text::from(LONG)), COPY);
    let (string, boxed, vec) = (exact(), exact().into_boxed_str(), exact().into_bytes());
    assert_eq!(cost(|| Text::from(string)), VECTOR);
    assert_eq!(cost(|| Text::from(boxed)), VECTOR);
    assert_eq!(cost(|| Text::try_from(vec).unwrap()), VECTOR);
    let cow: Cow<'_, str> = Cow::Owned(exact());
    assert_eq!(cost(|| Text::from(cow)), VECTOR);
    let mut roomy = String::with_capacity(102);
    roomy.push_str(LONG);
    assert_eq!(cost(|| Text::from(roomy)), COPY);
    let arc: Arc<str> = Arc::from(LONG);
    assert_eq!(cost(|| Text::from(arc)), NOTHING);
    let bytes = Bytes::from(exact());
    assert_eq!(cost(|| Text::try_from(bytes).unwrap()), BYTES);
    let blob = Blob::from(exact().into_bytes());
    assert_eq!(cost(|| Text::try_from(blob).unwrap()), NOTHING);
}

#[test]
fn ranges_of_a_body_share_one_handle() {
    let body = Body::from(LONG.repeat(10));
    let whole = std::str::from_utf8(body.as_bytes()).unwrap();
    // The handle, and the allocation that makes a `Bytes` of a vector shared.
    assert_eq!(cost(|| body.text(&whole[..50])), (2, 72));
    for at in 1..100 {
        assert_eq!(cost(|| body.text(&whole[at..at + 50])), NOTHING);
    }
    let text = body.text(&whole[10..200]);
    assert_eq!(cost(|| text.clone()), NOTHING);
    assert_eq!(cost(|| text.slice(10..100).unwrap()), NOTHING);
    assert_eq!(cost(|| text.slice_ref(&text[10..100])), NOTHING);
    assert_eq!(cost(|| text.clone().into_bytes()), NOTHING);
    assert_eq!(cost(|| text.into_owned()), (1, 208));
}

#[test]
fn parts_cost_what_the_table_says() {
    let vector = Text::from(exact());
    assert_eq!(cost(|| vector.slice(10..40).unwrap()), NOTHING);
    let part = vector.slice(10..40).unwrap();
    assert_eq!(cost(|| part.slice(..28).unwrap()), NOTHING);
    let constant = Text::from_static(LONG);
    assert_eq!(cost(|| constant.slice(10..40).unwrap()), NOTHING);
    let copy = Text::from(LONG);
    assert_eq!(cost(|| copy.slice(..).unwrap()), NOTHING);
    let (allocations, bytes) = cost(|| copy.slice(10..40).unwrap());
    assert_eq!((allocations, bytes), (2, 72));
    assert_eq!(cost(|| copy.slice(10..30).unwrap()), NOTHING);
}

#[test]
fn what_is_given_back_is_not_copied() {
    let (string, vec, arc): (_, _, Arc<str>) = (exact(), exact().into_bytes(), Arc::from(LONG));
    let starts = (string.as_ptr(), vec.as_ptr(), arc.as_ptr());
    let (string, vec, arc) = (Text::from(string), Blob::from(vec), Text::from(arc));
    assert_eq!(cost(|| String::from(string.clone())), (1, 50));
    assert_eq!(
        cost(|| {
            let back = String::from(string);
            assert_eq!(back.as_ptr(), starts.0);
            back
        }),
        NOTHING
    );
    assert_eq!(
        cost(|| {
            let back = Vec::from(vec);
            assert_eq!(back.as_ptr(), starts.1);
            back
        }),
        NOTHING
    );
    assert_eq!(
        cost(|| {
            let back = Arc::<str>::from(arc.clone());
            assert_eq!(back.as_ptr(), starts.2);
            back
        }),
        NOTHING
    );
    assert_eq!(cost(|| Box::<str>::from(arc.clone())), (1, 50));
    assert_eq!(cost(|| Rc::<str>::from(arc.clone())), COPY);
    assert_eq!(cost(|| arc.into_owned()), NOTHING);
    let body = Bytes::from(exact());
    let start = body.as_ptr();
    let blob = Blob::from(body);
    assert_eq!(
        cost(|| {
            let back = Vec::from(blob);
            assert_eq!(back.as_ptr(), start);
            back
        }),
        NOTHING
    );
}

#[test]
fn bytes_cost_what_the_table_says() {
    let short = Text::from("London");
    assert_eq!(cost(|| short.into_bytes()), (1, 6));
    assert_eq!(cost(|| Text::from_static(LONG).into_bytes()), NOTHING);
    let copy = Text::from(LONG);
    let (allocations, bytes) = cost(|| copy.into_bytes());
    assert!(allocations == 1 && bytes <= 48, "{bytes}");
    let vector = Text::from(exact());
    let clone = vector.clone();
    let (allocations, bytes) = cost(|| clone.into_bytes());
    assert!(allocations <= 1 && bytes <= 48, "{bytes}");
    assert!(cost(|| vector.into_bytes()).0 <= 1);
    let copy = Text::from(LONG);
    assert_eq!(cost(|| copy.into_blob()), NOTHING);
}
