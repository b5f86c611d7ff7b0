use bytes::Bytes;

use super::*;

#[test]
fn every_length_round_trips() {
    let source: Vec<u8> = (1..=100).collect();
    for len in 0..=source.len() {
        let inline = Repr::inline(&source[..len]);
        assert_eq!(inline.is_some(), len <= INLINE_CAPACITY);
        let copy = Repr::copy(&source[..len]);
        assert_eq!(copy.as_bytes(), &source[..len]);
        assert_eq!(copy.len(), len);
        assert_eq!(copy.is_inline(), len <= INLINE_CAPACITY);
        let window = source.first_chunk().unwrap();
        let prefix = Repr::inline_window(window, len);
        assert_eq!(prefix.is_some(), len <= INLINE_CAPACITY);
        if let Some(prefix) = prefix {
            assert_eq!(prefix.as_bytes(), &source[..len]);
        }
    }
}

#[test]
fn ascii_is_tested_at_every_offset() {
    let mut window = vec![b'a'; 40];
    for len in 0..=INLINE_CAPACITY {
        for at in 0..window.len() {
            window[at] = 0xc3;
            let found = Repr::inline_ascii_prefix(&window, len);
            assert_eq!(found.is_some(), at >= len, "{len} {at}");
            let short = Repr::inline_ascii_prefix(&window[..len], len);
            assert_eq!(short.is_some(), at >= len, "{len} {at}");
            window[at] = b'a';
        }
    }
    for len in INLINE_CAPACITY + 1..50 {
        assert!(Repr::inline_ascii_prefix(&window, len).is_none());
    }
}

#[test]
fn small_parts_of_large_bodies_are_copied() {
    let body = Body::from(vec![b'x'; 64 * 1024]);
    assert!(!body.blob(&body.as_bytes()[10..10 + 24]).is_shared());
    assert!(!body.blob(&body.as_bytes()[10..10 + 255]).is_shared());
    assert!(body.blob(&body.as_bytes()[10..10 + 256]).is_shared());
    let small = Body::from(vec![b'x'; SHARE_WHOLE]);
    assert!(small.blob(&small.as_bytes()[10..10 + 24]).is_shared());
    assert!(!small.blob(&small.as_bytes()[10..20]).is_shared());
}

#[test]
fn a_vector_is_taken_over_unless_half_of_it_is_unused() {
    for capacity in [38, 76, 77, 78, 1 << 20] {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.resize(38, b'x');
        let start = bytes.as_ptr();
        assert_eq!(bytes.capacity(), capacity);
        let repr = Repr::from_vec(bytes);
        assert_eq!(repr.as_bytes(), [b'x'; 38]);
        assert!(!repr.is_shared());
        let kept = repr.as_bytes().as_ptr() == start;
        assert_eq!(kept, capacity <= 77, "{capacity}");
        assert_eq!(repr.heap_size(), if kept { capacity } else { 38 });
        // It is not copied again.
        let before = repr.as_bytes().as_ptr();
        let repr = repr.into_unshared();
        assert_eq!(repr.as_bytes().as_ptr(), before);
        // And given back as what it was.
        let vec = repr.into_vec();
        assert_eq!(vec.as_ptr() == start, kept);
    }
}

#[test]
fn bytes_may_be_part_of_something_larger() {
    let whole = Bytes::from(vec![b'x'; 1000]);
    let repr = Repr::from_bytes(whole.slice(100..138));
    assert!(repr.is_shared());
    assert!(!repr.into_unshared().is_shared());
}

#[test]
fn bytes_of_other_allocations_are_copied() {
    let body = Body::from(vec![b'x'; 100]);
    let other = vec![b'y'; 100];
    assert!(!body.blob(&other).is_shared());
    assert_eq!(body.blob(&other).as_bytes(), &other[..]);
}

#[test]
fn all_forms_have_the_same_bytes() {
    static SOURCE: [u8; 200] = {
        let mut bytes = [0; 200];
        let mut at = 0;
        while at < bytes.len() {
            bytes[at] = at as u8;
            at += 1;
        }
        bytes
    };
    let source = SOURCE.to_vec();
    let bytes = Bytes::from(source.clone());
    let forms = || {
        [
            Repr::copy(&source),
            Repr::from_static(&SOURCE),
            Repr::from_vec(source.clone()),
            Repr::from_vec(source.clone()).part(&[]),
            Repr::from_bytes(bytes.clone()),
            Repr::from_bytes(Bytes::from(source.clone())),
            Repr::inline(&source[..23]).unwrap(),
        ]
    };
    for repr in forms() {
        let expected = repr.as_bytes().to_vec();
        for range in [0..expected.len(), 1.min(expected.len())..expected.len()] {
            let part = repr.part(&repr.as_bytes()[range.clone()]);
            let expected = &expected[range];
            assert_eq!(part.as_bytes(), expected);
            let [one, two, three] = [part.clone(), part.clone(), part.clone()];
            assert_eq!(one.into_bytes(), expected);
            assert_eq!(two.into_vec(), expected);
            assert_eq!(&*three.into_arc(), expected);
            assert_eq!(part.clone().into_unshared().as_bytes(), expected);
            assert!(part.heap_size() <= 200);
            // Alone now.
            assert_eq!(part.into_vec(), expected);
        }
    }
    for repr in forms() {
        let expected = repr.as_bytes().to_vec();
        assert_eq!(repr.into_bytes(), expected);
    }
}
