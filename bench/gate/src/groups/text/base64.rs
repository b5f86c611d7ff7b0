//! Base64, both ways.

use crate::{Group, same};
use polywire_text::base64::{self, STANDARD};
use polywire_text::reference::base64 as reference;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    let (bytes, text) = (bytes(768), text(768));
    group
        .case("base64, write 768 bytes")
        .bytes(bytes.len())
        .polywire_writes(
            move |out| base64::push(out, bytes),
            move |out| same(out, text),
        )
        .target_allocations(0);
    for (name, len) in [("32 bytes", 32), ("768 bytes", 768)] {
        let (bytes, text) = (self::bytes(len), self::text(len));
        group
            .case(format!("base64, read {name} into a new shared blob"))
            .bytes(text.len())
            .polywire(
                move || base64::decode(text),
                move |blob| blob.as_deref() == Ok(bytes),
            )
            .target_allocations(1);
    }
    let lines = lines(768);
    group
        .case("base64, read 768 bytes in lines")
        .bytes(lines.len())
        .polywire(
            move || STANDARD.decode_with_white_space(lines),
            move |blob| blob.as_deref() == Ok(bytes),
        )
        .target_allocations(1);
}

/// The bytes that are encoded.
pub fn bytes(len: usize) -> &'static [u8] {
    let bytes = (0..len).map(|at| (at * 37 + at / 251) as u8);
    bytes.collect::<Vec<u8>>().leak()
}

/// The same bytes in Base64.
pub fn text(len: usize) -> &'static [u8] {
    let text = reference::encode(
        bytes(len),
        base64::Alphabet::Standard,
        base64::Padding::Required,
    );
    text.leak().as_bytes()
}

/// The same in lines of 76 characters, as many XML-RPC peers write them.
pub fn lines(len: usize) -> &'static [u8] {
    let lines = text(len).chunks(76).map(|line| [line, b"\n"].concat());
    lines.collect::<Vec<_>>().concat().leak()
}
