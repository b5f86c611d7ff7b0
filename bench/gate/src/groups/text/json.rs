//! Escapes of JSON strings, both ways, beside serde_json and sonic-rs.

use crate::{Case, Group, Quote, same, same_bytes};
use polywire_text::escape::{
    LoneSurrogate, json_escaped_len, json_string, json_string_end, push_json, push_json_ascii,
    push_json_bytes, push_json_string, push_unescaped_json, push_unescaped_json_str, read_json_str,
    read_json_string, unescape_json_in_place,
};
use polywire_text::reference::json as twin;

const SMALL: &str = "bench/nostr/text_small.bin";
const REAL: &str = "bench/nostr/text_real_8k.bin";
const LARGE: &str = "bench/nostr/text_large_8192.bin";

const STRICT: LoneSurrogate = LoneSurrogate::Refuse;

pub(super) fn cases(group: &mut Group) {
    for (what, file) in [("a line of 116 bytes", SMALL), ("8 KB of real text", REAL)] {
        match group.data(file).map(str::from_utf8) {
            Ok(Ok(text)) => beside_peers(group, what, text),
            Ok(Err(error)) => group.skip(file, error.to_string()),
            Err(reason) => group.skip(file, reason),
        }
    }
    against_the_seed(group);
    units(group);
    lines(group);
    densities(group);
    growth(group);
}

/// The same string, written and read by all.
fn beside_peers(group: &mut Group, what: &str, text: &'static str) {
    let escaped = twin::escape(text.as_bytes());
    let quoted: &'static [u8] = [b"\"", &escaped[..], b"\""].concat().leak();
    let quoted_text = str::from_utf8(quoted).unwrap_or_default();
    let small = text.len() < 1000;
    let escaping = group.case(format!("JSON: escape {what}"));
    escaping
        .bytes(text.len())
        .polywire_writes(
            move |out| {
                out.push(b'"');
                push_json(out, text);
                out.push(b'"');
            },
            move |out| same_bytes(out, quoted),
        )
        .peer_writes(
            "serde_json",
            move |out| _ = serde_json::to_writer(out, text),
            move |out| same_bytes(out, quoted),
        )
        .peer_writes(
            "sonic-rs",
            move |out| _ = sonic_rs::to_writer(out, text),
            move |out| same_bytes(out, quoted),
        )
        .target_allocations(0);
    targets(escaping, small);
    if !small {
        escaping.quote(Quote::new("orly (Go)", SEED).nanoseconds(30_600.0));
    }
    let reading = group.case(format!("JSON: unescape {what}"));
    reading
        .bytes(text.len())
        .polywire_with(
            String::new(),
            move |out: &mut String| {
                out.clear();
                read_json_str(out, &quoted[1..], STRICT).is_ok()
            },
            move |out, _| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .peer(
            "serde_json",
            move || serde_json::from_str::<String>(quoted_text).unwrap_or_default(),
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .peer(
            "sonic-rs",
            move || sonic_rs::from_str::<String>(quoted_text).unwrap_or_default(),
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .target_allocations(0);
    targets(reading, small);
    if !small {
        reading.quote(Quote::new("orly (Go)", SEED).nanoseconds(11_000.0));
    }
    // The same kind of answer as the peers give: a string of its own.
    let owned = group.case(format!("JSON: unescape {what} into a string of its own"));
    owned
        .bytes(text.len())
        .polywire(
            move || {
                json_string(&quoted[1..], STRICT)
                    .map_or_else(|_| String::new(), |(text, _)| text.into_owned())
            },
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .peer(
            "serde_json",
            move || serde_json::from_str::<String>(quoted_text).unwrap_or_default(),
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .peer(
            "sonic-rs",
            move || sonic_rs::from_str::<String>(quoted_text).unwrap_or_default(),
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .target_allocations(1);
    targets(owned, small);
}

fn targets(case: &mut Case, small: bool) {
    if small {
        case.target_ratio_time("serde_json", 1.5);
    } else {
        case.target_ratio_time("sonic-rs", 1.2);
    }
}

const SEED: &str = "escape and unescape of the text package, Go; its report, and a run on the same kind of machine";

/// Escape and unescape again, with the caller's buffers.
fn against_the_seed(group: &mut Group) {
    let figures = [
        ("a line", SMALL, 594.0, 687.0, 2.0, (304, 2)),
        (
            "8 KB of every byte",
            LARGE,
            46_600.0,
            45_800.0,
            5.0,
            (42_240, 3),
        ),
    ];
    for (what, file, after, here, at_least, allocated) in figures {
        group.case_from(
            format!("JSON: {what} there and back"),
            [file],
            |case, [bytes]| {
                let (size, count) = allocated;
                let published = Quote::new("orly (Go), as published", SEED)
                    .nanoseconds(after)
                    .bytes_allocated(size)
                    .allocations(count);
                let measured = Quote::new("orly (Go), measured here", SEED).nanoseconds(here);
                case.polywire_with(
                    (Vec::new(), Vec::new()),
                    move |(escaped, back): &mut (Vec<u8>, Vec<u8>)| {
                        escaped.clear();
                        back.clear();
                        push_json_bytes(escaped, bytes);
                        push_unescaped_json(back, escaped, STRICT).is_ok()
                    },
                    move |(_, back), _| same_bytes(back, bytes),
                )
                .quote(published)
                .quote(measured)
                .target_ratio_time("orly (Go), measured here", at_least)
                .target_allocations(0);
            },
        );
    }
}

/// Another script in ASCII, as Python's `json.dumps` writes it: nearly all of it is
/// escapes of four digits.
fn units(group: &mut Group) {
    let text: &'static str = "日本語の文章は、JSONでは\n長くなる。".repeat(100).leak();
    let escaped = String::from_utf8(twin::escape_ascii(text)).unwrap_or_default();
    let quoted: &'static str = format!("\"{escaped}\"").leak();
    group
        .case("JSON: unescape Japanese that was written in ASCII")
        .bytes(text.len())
        .polywire_with(
            String::new(),
            move |out: &mut String| {
                out.clear();
                read_json_str(out, &quoted.as_bytes()[1..], STRICT).is_ok()
            },
            move |out, _| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .peer(
            "serde_json",
            move || serde_json::from_str::<String>(quoted).unwrap_or_default(),
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .peer(
            "sonic-rs",
            move || sonic_rs::from_str::<String>(quoted).unwrap_or_default(),
            move |out| same_bytes(out.as_bytes(), text.as_bytes()),
        )
        .target_allocations(0)
        .target_near_best(1.1);
}

/// Short strings of many lengths, as the members of documents are.
fn lines(group: &mut Group) {
    let mut random = Random(7);
    let strings: Vec<String> = (0..1000)
        .map(|at| {
            let len = [3, 5, 8, 10, 12, 17, 24, 36, 60, 90][at % 10] + random.below(6);
            let mut text: String = (0..len)
                .map(|_| char::from(b'a' + random.below(26) as u8))
                .collect();
            // One in five has something to escape.
            if random.below(5) == 0 {
                let place = random.below(len);
                text.replace_range(place..=place, "\n");
            }
            text
        })
        .collect();
    let mut document = b"[".to_vec();
    for text in &strings {
        push_json_string(&mut document, text, *b"\",");
    }
    if let Some(last) = document.last_mut() {
        *last = b']';
    }
    let document: &'static str = String::from_utf8(document).unwrap_or_default().leak();
    let strings: &'static [String] = strings.leak();
    group
        .case("JSON: write 1000 short strings")
        .bytes(document.len())
        .polywire_writes(
            move |out| {
                out.push(b'[');
                for text in strings {
                    push_json_string(out, text, *b"\",");
                }
                if let Some(last) = out.last_mut() {
                    *last = b']';
                }
            },
            move |out| same_bytes(out, document.as_bytes()),
        )
        .peer_writes(
            "serde_json",
            move |out| _ = serde_json::to_writer(out, strings),
            move |out| same_bytes(out, document.as_bytes()),
        )
        .peer_writes(
            "sonic-rs",
            move |out| _ = sonic_rs::to_writer(out, strings),
            move |out| same_bytes(out, document.as_bytes()),
        )
        .target_allocations(0)
        .target_near_best(1.1);
    let total: usize = strings.iter().map(String::len).sum();
    group
        .case("JSON: read 1000 short strings, borrowed where they can be")
        .bytes(document.len())
        .polywire(
            move || {
                let (mut at, mut sum) = (1, 0);
                while let Ok((text, read)) = json_string(&document.as_bytes()[at + 1..], STRICT) {
                    sum += text.len();
                    at += read + 2;
                    if at >= document.len() {
                        break;
                    }
                }
                sum
            },
            move |sum| same(sum, &total),
        )
        .peer(
            "serde_json",
            move || serde_json::from_str(document).map_or(0, borrowed),
            move |sum| same(sum, &total),
        )
        .peer(
            "sonic-rs",
            move || sonic_rs::from_str(document).map_or(0, borrowed),
            move |sum| same(sum, &total),
        )
        .target_near_best(1.1);
}

#[derive(serde::Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

fn borrowed(strings: Vec<Borrowed<'_>>) -> usize {
    strings.into_iter().map(|text| text.0.len()).sum()
}

/// 8 KiB with more or less to escape at random places: a loop that guesses where
/// the next is pays for each wrong guess.
fn densities(group: &mut Group) {
    const MEASURE: usize = 5;
    // First the measure, which the others name.
    for percent in [MEASURE, 0, 50] {
        let mut random = Random(percent as u64 + 1);
        let bytes: Vec<u8> = (0..8192)
            .map(|_| {
                if random.below(100) < percent {
                    b"\"\\\n\t\r\x08\x0c"[random.below(7)]
                } else {
                    b'a' + random.below(26) as u8
                }
            })
            .collect();
        let bytes: &'static [u8] = bytes.leak();
        let escaped: &'static [u8] = twin::escape(bytes).leak();
        let case = group.case(format!("JSON: escape 8 KiB, {percent}% of it"));
        case.bytes(bytes.len()).polywire_writes(
            move |out| push_json_bytes(out, bytes),
            move |out| same_bytes(out, escaped),
        );
        if percent != MEASURE {
            case.target_time_of_case(format!("JSON: escape 8 KiB, {MEASURE}% of it"), 2.0);
        }
        let case = group.case(format!("JSON: unescape 8 KiB, {percent}% of it"));
        case.bytes(bytes.len()).polywire_writes(
            move |out| _ = push_unescaped_json(out, escaped, STRICT),
            move |out| same_bytes(out, bytes),
        );
        if percent != MEASURE {
            case.target_time_of_case(format!("JSON: unescape 8 KiB, {MEASURE}% of it"), 2.0);
        }
    }
}

/// Twice the input, at most 2.1 times the instructions, function by function.
fn growth(group: &mut Group) {
    fn pair(
        group: &mut Group,
        name: &str,
        text: &str,
        run: fn(&[u8], &str, &mut Vec<u8>) -> usize,
        expected: fn(&[u8], &str) -> usize,
    ) {
        let once = format!("JSON: {name}");
        for (name, times) in [(once.clone(), 1), (format!("{once}, twice the input"), 2)] {
            let text: &'static str = text.repeat(times).leak();
            let escaped: &'static [u8] = twin::escape(text.as_bytes()).leak();
            let expected = expected(escaped, text);
            let case = group.case(name);
            case.bytes(text.len()).polywire_with(
                Vec::new(),
                move |out: &mut Vec<u8>| {
                    out.clear();
                    run(escaped, text, out)
                },
                move |_, found| same(found, &expected),
            );
            if times == 2 {
                case.target_instructions_of_case(once.clone(), 2.1);
            }
        }
    }
    let text = "a line of some words, \"quoted\"\n\tand a path C:\\x, é, 日本語, 😀\n".repeat(60);
    let whole = |escaped: &[u8], _: &str| escaped.len();
    let back = |_: &[u8], text: &str| text.len();
    pair(
        group,
        "escape",
        &text,
        |_, text, out| {
            push_json(out, text);
            out.len()
        },
        whole,
    );
    pair(
        group,
        "escape to ASCII",
        &text,
        |_, text, out| {
            push_json_ascii(out, text);
            out.len()
        },
        |_, text| twin::escape_ascii(text).len(),
    );
    pair(
        group,
        "length when escaped",
        &text,
        |_, text, _| json_escaped_len(text.as_bytes()),
        whole,
    );
    pair(
        group,
        "unescape",
        &text,
        |escaped, _, out| {
            _ = push_unescaped_json(out, escaped, STRICT);
            out.len()
        },
        back,
    );
    pair(
        group,
        "unescape a str",
        &text,
        |escaped, _, _| {
            let mut out = String::new();
            _ = push_unescaped_json_str(
                &mut out,
                str::from_utf8(escaped).unwrap_or_default(),
                STRICT,
            );
            out.len()
        },
        back,
    );
    pair(
        group,
        "unescape in place",
        &text,
        |escaped, _, out| {
            // In pieces: a long copy is one instruction a byte to the counter.
            for piece in escaped.chunks(512) {
                out.extend_from_slice(piece);
            }
            unescape_json_in_place(out, STRICT).unwrap_or(0)
        },
        back,
    );
    pair(
        group,
        "read to the closing quote",
        &text,
        |escaped, _, out| {
            // There is none: the end of all is the error's offset.
            read_json_string(out, escaped, STRICT).unwrap_or_else(|error| error.offset)
        },
        whole,
    );
    pair(
        group,
        "find the closing quote",
        &text,
        |escaped, _, _| json_string_end(escaped).map_or_else(|error| error.offset, |end| end.len),
        whole,
    );
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}
