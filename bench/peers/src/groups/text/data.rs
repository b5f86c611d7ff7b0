//! Base64, hexadecimal, lists, scanning, UTF-8 and the string type, beside base64-simd,
//! const-hex, sonic-rs, memchr, simdutf8 and the standard library.

use std::sync::Arc;

use base64_simd::{AsOut, STANDARD};
use polywire_gate::groups::text::{base64, list, scan, strings};
use polywire_gate::{Group, Quote, same};

pub(crate) fn cases(group: &mut Group) {
    base64(group);
    hex(group);
    lists(group);
    scanning(group);
    utf8(group);
    text_type(group);
}

/// The loops of our own Base64 are those of base64-simd: this measures what we add to them.
fn base64(group: &mut Group) {
    let (bytes, text) = (base64::bytes(768), base64::text(768));
    group.extend("base64, write 768 bytes", |case| {
        case.peer_with(
            "base64-simd",
            vec![0; text.len()],
            move |out: &mut Vec<u8>| _ = STANDARD.encode(bytes, out.as_mut_slice().as_out()),
            move |out, ()| same(out, text),
        )
        .target_near_best(1.1);
    });
    for (name, len) in [("32 bytes", 32), ("768 bytes", 768)] {
        let (bytes, text) = (base64::bytes(len), base64::text(len));
        let name = format!("base64, read {name} into a new shared blob");
        group.extend(&name, |case| {
            case.peer(
                "base64-simd, Arc<[u8]>",
                move || STANDARD.decode_to_vec(text).map(Arc::<[u8]>::from),
                move |shared| shared.as_deref().ok() == Some(bytes),
            )
            .target_near_best(1.1);
        });
    }
    let lines = base64::lines(768);
    group.extend("base64, read 768 bytes in lines", |case| {
        case.peer(
            "base64-simd, forgiving",
            move || base64_simd::forgiving_decode_to_vec(lines),
            move |vec| vec.as_deref().ok() == Some(bytes),
        )
        .target_near_best(1.1);
    });
}

fn hex(group: &mut Group) {
    let (keys, digits) = (list::keys(), list::digits());
    group.extend("hex, append 100 keys of 32 bytes", |case| {
        case.peer_writes(
            "const-hex, a String each",
            move |out| {
                for key in keys.as_chunks::<32>().0 {
                    out.extend_from_slice(const_hex::encode(key).as_bytes());
                }
            },
            move |out| same(out, digits.as_bytes()),
        )
        .target_near_best(1.1);
    });
    group.extend("hex, read 100 keys of 32 bytes, any case", |case| {
        case.peer_with(
            "const-hex",
            vec![[0; 32]; 100],
            move |out: &mut Vec<[u8; 32]>| {
                let mut pairs = digits.as_bytes().as_chunks::<64>().0.iter().zip(out);
                pairs.all(|(text, out)| const_hex::decode_to_slice(text, out).is_ok())
            },
            move |out, all| *all && out.as_flattened() == keys,
        )
        .target_near_best(1.1);
    });
}

/// orly in Go, measured on a machine like the one of BENCHMARKS.md: the case and nanoseconds.
const ORLY: [(&str, &str, f64); 4] = [
    (
        "hex array of 20, read",
        "UnmarshalHexArray, 20 items",
        1_905.0,
    ),
    (
        "hex array of 100, read",
        "UnmarshalHexArray, 100 items",
        9_900.0,
    ),
    (
        "string array of 3, read",
        "UnmarshalStringArray, 3 items",
        246.0,
    ),
    (
        "string array of 100, read",
        "UnmarshalStringArray, 100 items",
        9_900.0,
    ),
];

fn lists(group: &mut Group) {
    for count in [20, 100] {
        let (keys, array) = (&list::keys()[..count * 32], list::hex_array(count));
        group.extend(&format!("hex array of {count}, read"), |case| {
            let decode = |texts: Vec<&str>| -> Vec<[u8; 32]> {
                let keys = texts.iter().map(const_hex::decode_to_array);
                keys.collect::<Result<_, _>>().unwrap_or_default()
            };
            case.peer(
                "sonic-rs, const-hex",
                move || sonic_rs::from_slice(array).map(decode).unwrap_or_default(),
                move |found| found.as_flattened() == keys,
            )
            .target_near_best(1.1);
        });
    }
    for (name, file) in list::STRING_ARRAYS {
        let Ok(array) = group.data(file) else {
            continue;
        };
        let array = list::without_raw_controls(array);
        let texts = list::strings(array);
        group.extend(&format!("{name}, read"), |case| {
            case.peer(
                "sonic-rs, Vec<String>",
                move || sonic_rs::from_slice::<Vec<String>>(array).unwrap_or_default(),
                move |found| same(found, &texts),
            )
            .target_near_best(1.1);
        });
    }
    for (name, function, nanoseconds) in ORLY {
        group.extend(name, |case| {
            case.quote(Quote::new("orly", function).nanoseconds(nanoseconds));
        });
    }
}

fn scanning(group: &mut Group) {
    let document = scan::document();
    let name = "scan: to the next quote, backslash or control, 120 bytes, 1000 times";
    group.extend(name, |case| {
        case.peer(
            "memchr3, which ignores control characters",
            scan::strides(document, |bytes| {
                memchr::memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len())
            }),
            move |sum| same(sum, &(document.len() - 1000)),
        )
        .target_near_best(1.1);
    });
}

fn utf8(group: &mut Group) {
    let text = scan::mixed_scripts();
    group.extend("UTF-8: 419 KB of many scripts", |case| {
        case.peer(
            "simdutf8",
            move || simdutf8::basic::from_utf8(text.as_bytes()).map_or(0, str::len),
            move |len| same(len, &text.len()),
        )
        .target_near_best(1.1);
    });
    for (what, script) in scan::SHORT_SCRIPTS {
        let std = scan::each_short(script, |bytes| str::from_utf8(bytes).map_or(0, str::len));
        let simd = scan::each_short(script, |bytes| {
            simdutf8::basic::from_utf8(bytes).map_or(0, str::len)
        });
        let total = std();
        group.extend(&format!("UTF-8: 1000 short strings, {what}"), |case| {
            case.peer("simdutf8", simd, move |sum| same(sum, &total))
                .peer("std", std, move |sum| same(sum, &total))
                .target_near_best(1.1);
        });
    }
}

fn text_type(group: &mut Group) {
    const COUNT: usize = strings::COUNT;
    for (kind, len) in strings::KINDS {
        let source = strings::source(len);
        let name = format!("make and drop {COUNT} {kind} strings of a body");
        group.extend(&name, |case| {
            case.peer(
                "String",
                move || {
                    let body = source.clone();
                    let part = |at| body[at * len..at * len + len].to_owned();
                    let strings: Vec<String> = (0..COUNT).map(part).collect();
                    strings::total(&strings)
                },
                move |sum| same(sum, &(COUNT * len)),
            )
            .target_near_best(1.1);
        });
    }
    let [(_, short), (_, long)] = strings::KINDS;
    let strings = strings::strings(short);
    let sum = strings::last_bytes(&strings);
    group.extend("clone 1000 short strings and look at each", |case| {
        case.peer(
            "String",
            move || strings::last_bytes(&strings.to_vec()),
            move |found| same(found, &sum),
        )
        .target_near_best(1.1);
    });
    let strings = strings::strings(long);
    group.extend("copy 1000 long strings of all sorts of places", |case| {
        case.peer(
            "String",
            move || strings.iter().map(|own| own.as_str().to_owned()).collect(),
            move |copies: &Vec<String>| same(&strings::total(copies), &(COUNT * long)),
        )
        .target_near_best(1.1);
    });
}
