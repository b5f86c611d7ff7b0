//! Base64, both ways. The loops are those of `base64-simd`, which stands
//! beside us too: what is measured is what we put around it. 768 bytes are a
//! kilobyte of text. A blob is shared, so beside it stands what one would make
//! to share it; the vector, which nobody shares, is a case of its own.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64_simd::{AsOut, STANDARD as SIMD};
use crate::{Group, same};
use polywire_text::base64::{self as ours, Encoder, STANDARD};

pub(super) fn cases(group: &mut Group) {
    for (name, len) in [
        ("32 bytes", 32),
        ("768 bytes", 768),
        ("768 bytes, twice the input", 2 * 768),
    ] {
        let bytes = bytes(len);
        let text = text(bytes);
        let twice = len > 768;
        write(group, name, bytes, text, twice);
        read(group, name, bytes, text, twice);
        pieces(group, name, bytes, text, twice);
        lines(group, name, bytes, text, twice);
    }
}

fn bytes(len: usize) -> &'static [u8] {
    let bytes = (0..len).map(|at| (at * 37 + at / 251) as u8);
    bytes.collect::<Vec<u8>>().leak()
}

fn text(bytes: &[u8]) -> &'static [u8] {
    BASE64.encode(bytes).leak().as_bytes()
}

fn write(group: &mut Group, name: &str, bytes: &'static [u8], text: &'static [u8], twice: bool) {
    let slice = move |out: &Vec<u8>, (): &()| same(out, text);
    let case = group
        .case(format!("base64, write {name}"))
        .bytes(bytes.len())
        .polywire_writes(
            move |out| ours::push(out, bytes),
            move |out| same(out, text),
        )
        .peer_with(
            "base64-simd",
            vec![0; text.len()],
            move |out: &mut Vec<u8>| _ = SIMD.encode(bytes, out.as_mut_slice().as_out()),
            slice,
        )
        .peer_with(
            "base64",
            vec![0; text.len()],
            move |out: &mut Vec<u8>| _ = BASE64.encode_slice(bytes, out),
            slice,
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if twice {
        case.target_instructions_of_case("base64, write 768 bytes", 2.1);
    }
}

fn read(group: &mut Group, name: &str, bytes: &'static [u8], text: &'static [u8], twice: bool) {
    let check = move |out: &Vec<u8>, fine: &bool| *fine && out == bytes;
    let case = group
        .case(format!("base64, read {name}"))
        .bytes(text.len())
        .polywire_with(
            vec![0; bytes.len()],
            move |out| STANDARD.decode_to_slice(text, out).is_ok(),
            check,
        )
        .peer_with(
            "base64-simd",
            vec![0; bytes.len()],
            move |out: &mut Vec<u8>| SIMD.decode(text, out.as_mut_slice().as_out()).is_ok(),
            check,
        )
        .peer_with(
            "base64",
            vec![0; bytes.len()],
            move |out: &mut Vec<u8>| BASE64.decode_slice(text, out).is_ok(),
            check,
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if twice {
        case.target_instructions_of_case("base64, read 768 bytes", 2.1);
    }
    let case = group
        .case(format!("base64, read {name} into a new vector"))
        .bytes(text.len())
        .polywire(
            move || {
                let mut out = Vec::new();
                STANDARD.push_decoded(&mut out, text).map(|()| out)
            },
            move |vec| vec.as_deref() == Ok(bytes),
        )
        .peer(
            "base64-simd",
            move || SIMD.decode_to_vec(text),
            move |vec| vec.as_deref().ok() == Some(bytes),
        )
        .peer(
            "base64",
            move || BASE64.decode(text),
            move |vec| vec.as_deref() == Ok(bytes),
        )
        .target_allocations(1)
        .target_near_best(1.1);
    if twice {
        case.target_instructions_of_case("base64, read 768 bytes into a new vector", 2.1);
    }
    // One allocation with the counts of a shared value in it.
    let case = group
        .case(format!("base64, read {name} into a new shared blob"))
        .bytes(text.len())
        .polywire(
            move || ours::decode(text),
            move |blob| blob.as_deref() == Ok(bytes),
        )
        .peer(
            "base64-simd, Arc<[u8]>",
            move || SIMD.decode_to_vec(text).map(Arc::<[u8]>::from),
            move |shared| shared.as_deref().ok() == Some(bytes),
        )
        .peer(
            "base64, Arc<[u8]>",
            move || BASE64.decode(text).map(Arc::<[u8]>::from),
            move |shared| shared.as_deref() == Ok(bytes),
        )
        .target_allocations(1)
        .target_near_best(1.1);
    if twice {
        case.target_instructions_of_case("base64, read 768 bytes into a new shared blob", 2.1);
    }
}

/// In pieces of seven bytes, which is nobody's multiple of three.
fn pieces(group: &mut Group, name: &str, bytes: &'static [u8], text: &'static [u8], twice: bool) {
    let case = group
        .case(format!("base64, write {name} in pieces of 7 bytes"))
        .bytes(bytes.len())
        .polywire_writes(
            move |out| {
                let mut encoder = Encoder::new(STANDARD);
                for piece in bytes.chunks(7) {
                    encoder.push(out, piece);
                }
                encoder.finish(out);
            },
            move |out| same(out, text),
        )
        .peer_with(
            "base64",
            Some(Vec::new()),
            move |state: &mut Option<Vec<u8>>| {
                let mut out = state.take().unwrap_or_default();
                out.clear();
                let mut writer = base64::write::EncoderWriter::new(out, &BASE64);
                for piece in bytes.chunks(7) {
                    let _ = std::io::Write::write_all(&mut writer, piece);
                }
                *state = writer.finish().ok();
            },
            move |out, ()| same(out.as_deref().unwrap_or_default(), text),
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if twice {
        case.target_instructions_of_case("base64, write 768 bytes in pieces of 7 bytes", 2.1);
    }
}

/// In lines of 76 characters, as XML-RPC's peers break them.
fn lines(group: &mut Group, name: &str, bytes: &'static [u8], text: &'static [u8], twice: bool) {
    let mut lines = Vec::new();
    for line in text.chunks(76) {
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
    let lines: &'static [u8] = lines.leak();
    let case = group
        .case(format!("base64, read {name} in lines"))
        .bytes(lines.len())
        .polywire(
            move || STANDARD.decode_with_white_space(lines),
            move |blob| blob.as_deref() == Ok(bytes),
        )
        // It takes more than white space, such as bits that mean nothing.
        .peer(
            "base64-simd, forgiving",
            move || base64_simd::forgiving_decode_to_vec(lines),
            move |vec| vec.as_deref().ok() == Some(bytes),
        )
        .peer(
            "base64, behind a filter",
            move || {
                let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
                let packed: Vec<u8> = lines.iter().copied().filter(|b| !is_space(b)).collect();
                BASE64.decode(packed)
            },
            move |vec| vec.as_deref() == Ok(bytes),
        )
        .target_allocations(1)
        .target_near_best(1.1);
    if twice {
        case.target_instructions_of_case("base64, read 768 bytes in lines", 2.1);
    }
}
