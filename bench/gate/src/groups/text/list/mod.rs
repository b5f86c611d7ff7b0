//! Quoted strings, keys, booleans, arrays and lists, both ways, beside what
//! the seed published of orly (Go) and what was measured of it on a machine
//! like ours. Where it published nothing (keys, booleans, short strings,
//! hexadecimal), what people use stands there instead.

mod quotes;

use crate::{Group, Quote, same};
use polywire_text::escape::LoneSurrogate;
use polywire_text::hex::Case;
use polywire_text::list::{self, Strings};
use polywire_text::quote;

const LONE: LoneSurrogate = LoneSurrogate::Refuse;

/// What a case is called in orly, and what it takes there: as published, and
/// as measured here.
struct Orly {
    function: &'static str,
    published: f64,
    here: f64,
    bytes: u64,
    allocations: u64,
}

const PUBLISHED: &str = "orly, published";
const HERE: &str = "orly, here";

impl Orly {
    fn quotes(&self) -> [Quote; 2] {
        let source = format!(
            "next.orly.dev, pkg/encoders/text/PERFORMANCE_REPORT.md, {}, after",
            self.function
        );
        let here = format!(
            "{}, Go, measured on the same kind of machine",
            self.function
        );
        [
            Quote::new(PUBLISHED, source)
                .nanoseconds(self.published)
                .bytes_allocated(self.bytes)
                .allocations(self.allocations),
            Quote::new(HERE, here).nanoseconds(self.here),
        ]
    }

    /// The faster of both: what has to be beaten.
    const fn faster(&self) -> &'static str {
        if self.published < self.here {
            PUBLISHED
        } else {
            HERE
        }
    }
}

pub(super) fn cases(group: &mut Group) {
    hex_arrays(group);
    string_arrays(group);
    lists(group);
    quotes::cases(group);
}

/// A file, or a line that says that it was skipped.
fn data(group: &mut Group, file: &str) -> Option<&'static [u8]> {
    let found = group.data(file);
    found.map_err(|error| group.skip(file, error)).ok()
}

/// The same array with each item twice.
fn doubled(array: &[u8]) -> &'static [u8] {
    let inside = &array[1..array.len() - 1];
    [b"[", inside, b",", inside, b"]"].concat().leak()
}

fn hex_arrays(group: &mut Group) {
    let of_20 = Orly {
        function: "UnmarshalHexArray, 20 items",
        published: 2_330.0,
        here: 1_905.0,
        bytes: 3_328,
        allocations: 23,
    };
    let of_100 = Orly {
        function: "UnmarshalHexArray, 100 items",
        published: 11_698.0,
        here: 9_900.0,
        bytes: 17_152,
        allocations: 105,
    };
    if let Some(array) = data(group, "bench/nostr/hexarray_20.json") {
        hex_array(group, "of 20", array, Some(&of_20), None);
    }
    if let Some(array) = data(group, "bench/nostr/hexarray_100.json") {
        hex_array(group, "of 100", array, Some(&of_100), None);
        let twice = doubled(array);
        hex_array(
            group,
            "of 100, twice the input",
            twice,
            None,
            Some("of 100"),
        );
    }
}

fn hex_array(
    group: &mut Group,
    name: &str,
    array: &'static [u8],
    orly: Option<&Orly>,
    half: Option<&str>,
) {
    let texts: Vec<String> = serde_json::from_slice(array).unwrap_or_default();
    let keys: Vec<[u8; 32]> = texts
        .iter()
        .filter_map(|text| const_hex::decode_to_array(text).ok())
        .collect();
    assert!(!keys.is_empty() && keys.len() == texts.len());
    let keys: &'static [[u8; 32]] = keys.leak();
    let decode = |texts: Vec<&str>| -> Vec<[u8; 32]> {
        let keys = texts.iter().map(const_hex::decode_to_array);
        keys.collect::<Result<_, _>>().unwrap_or_default()
    };
    let read = group
        .case(format!("hex array {name}, read"))
        .bytes(array.len())
        .polywire(
            move || {
                let mut keys: Vec<[u8; 32]> = Vec::new();
                let rest = list::read_hex_arrays(&mut keys, array, Case::Lower);
                rest.map(|_| keys)
            },
            move |found| found.as_deref() == Ok(keys),
        )
        .peer(
            "serde_json, const-hex",
            move || {
                serde_json::from_slice(array)
                    .map(decode)
                    .unwrap_or_default()
            },
            move |found| same(found, keys),
        )
        .peer(
            "sonic-rs, const-hex",
            move || sonic_rs::from_slice(array).map(decode).unwrap_or_default(),
            move |found| same(found, keys),
        )
        .target_allocations(1)
        .target_near_best(1.1);
    if let Some(orly) = orly {
        for quote in orly.quotes() {
            read.quote(quote);
        }
        read.target_ratio_time(orly.faster(), 5.0);
    }
    if let Some(half) = half {
        read.target_instructions_of_case(format!("hex array {half}, read"), 2.1);
    }
    let flat = group
        .case(format!("hex array {name}, read flat into a buffer"))
        .bytes(array.len())
        .polywire_with(
            Vec::new(),
            move |out| {
                out.clear();
                list::read_hex(out, array, 32, Case::Lower).is_ok()
            },
            move |out, fine| *fine && out == keys.as_flattened(),
        )
        .target_allocations(0);
    if let Some(half) = half {
        let half = format!("hex array {half}, read flat into a buffer");
        flat.target_instructions_of_case(half, 2.1);
    }
    let write = group
        .case(format!("hex array {name}, write"))
        .bytes(array.len())
        .polywire_writes(
            move |out| list::push_hex(out, keys),
            move |out| same(out, array),
        )
        .peer_writes(
            "serde_json, const-hex",
            move |out| {
                let texts: Vec<String> = keys.iter().map(const_hex::encode).collect();
                let _ = serde_json::to_writer(out, &texts);
            },
            move |out| same(out, array),
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if let Some(half) = half {
        write.target_instructions_of_case(format!("hex array {half}, write"), 2.1);
    }
}

fn string_arrays(group: &mut Group) {
    let of_3 = Orly {
        function: "UnmarshalStringArray, 3 items",
        published: 302.2,
        here: 246.0,
        bytes: 440,
        allocations: 5,
    };
    let of_100 = Orly {
        function: "UnmarshalStringArray, 100 items",
        published: 9_827.0,
        here: 9_900.0,
        bytes: 10_776,
        allocations: 105,
    };
    if let Some(array) = data(group, "bench/nostr/strarray_3.json") {
        string_array(group, "of 3", array, Some((&of_3, 2.0)), None);
    }
    if let Some(array) = data(group, "bench/nostr/strarray_100.json") {
        let array = without_raw_controls(array);
        string_array(group, "of 100", array, Some((&of_100, 5.0)), None);
        let twice = doubled(array);
        string_array(
            group,
            "of 100, twice the input",
            twice,
            None,
            Some("of 100"),
        );
    }
}

/// The array that orly wrote holds control characters as they are, which JSON
/// forbids and all of us refuse: the same with escapes, which is 8% more.
fn without_raw_controls(array: &[u8]) -> &'static [u8] {
    let mut out = Vec::new();
    for byte in array {
        match byte {
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
    out.leak()
}

fn string_array(
    group: &mut Group,
    name: &str,
    array: &'static [u8],
    orly: Option<(&Orly, f64)>,
    half: Option<&str>,
) {
    let texts: Vec<String> = serde_json::from_slice(array).unwrap_or_default();
    assert!(!texts.is_empty());
    let texts: &'static [String] = texts.leak();
    let read = group
        .case(format!("string array {name}, read"))
        .bytes(array.len())
        .polywire(
            move || {
                let mut strings = Strings::new();
                let rest = strings.read(array, LONE);
                rest.map(|_| strings)
            },
            move |found| found.as_ref().is_ok_and(|strings| strings.iter().eq(texts)),
        )
        .peer(
            "serde_json, Vec<String>",
            move || serde_json::from_slice::<Vec<String>>(array).unwrap_or_default(),
            move |found| same(found, texts),
        )
        .peer(
            "sonic-rs, Vec<String>",
            move || sonic_rs::from_slice::<Vec<String>>(array).unwrap_or_default(),
            move |found| same(found, texts),
        )
        .target_allocations(2)
        .target_near_best(1.1);
    if let Some((orly, ratio)) = orly {
        for quote in orly.quotes() {
            read.quote(quote);
        }
        read.target_ratio_time(orly.faster(), ratio);
    }
    if let Some(half) = half {
        read.target_instructions_of_case(format!("string array {half}, read"), 2.1);
    }
    let again = group
        .case(format!("string array {name}, read into buffers"))
        .bytes(array.len())
        .polywire_with(
            Strings::new(),
            move |strings| strings.read(array, LONE).is_ok(),
            move |strings, fine| *fine && strings.iter().eq(texts),
        )
        .target_allocations(0);
    if let Some(half) = half {
        let half = format!("string array {half}, read into buffers");
        again.target_instructions_of_case(half, 2.1);
    }
    let strings = group
        .case(format!(
            "string array {name}, read into the caller's strings"
        ))
        .bytes(array.len())
        .polywire_with(
            Vec::new(),
            move |out| list::read_strings(out, array, LONE).is_ok(),
            move |out: &Vec<String>, fine| *fine && out == texts,
        )
        .target_allocations(0);
    if let Some(half) = half {
        let half = format!("string array {half}, read into the caller's strings");
        strings.target_instructions_of_case(half, 2.1);
    }
    let len: usize = texts.iter().map(String::len).sum();
    let one_by_one = group
        .case(format!("string array {name}, read one by one"))
        .bytes(array.len())
        .polywire(
            move || {
                let items = list::items(array, LONE);
                items
                    .map_while(Result::ok)
                    .map(|item| item.len())
                    .sum::<usize>()
            },
            move |found| same(found, &len),
        );
    if let Some(half) = half {
        let half = format!("string array {half}, read one by one");
        one_by_one.target_instructions_of_case(half, 2.1);
    }
    let mut written = Vec::new();
    list::push_strings(&mut written, texts);
    let written: &'static [u8] = written.leak();
    let write = group
        .case(format!("string array {name}, write"))
        .bytes(written.len())
        .polywire_writes(
            move |out| list::push_strings(out, texts),
            move |out| same(out, written),
        )
        .peer_writes(
            "serde_json",
            move |out| _ = serde_json::to_writer(out, texts),
            move |out| same(out, written),
        )
        .peer_writes(
            "sonic-rs",
            move |out| _ = sonic_rs::to_writer(out, texts),
            move |out| same(out, written),
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if let Some(half) = half {
        write.target_instructions_of_case(format!("string array {half}, write"), 2.1);
    }
}

fn lists(group: &mut Group) {
    let of_3 = Orly {
        function: "AppendList, 3 items",
        published: 60.97,
        here: 72.0,
        bytes: 0,
        allocations: 0,
    };
    for (name, count) in [("3", 3), ("100", 100), ("100, twice the input", 200)] {
        let items: Vec<String> = (1..=count).map(|at| format!("item{at}")).collect();
        let items: &'static [String] = items.leak();
        let quoted: Vec<String> = items.iter().map(|item| format!("\"{item}\"")).collect();
        let list: &'static [u8] = quoted.join(",").leak().as_bytes();
        let write = group
            .case(format!("list of {name}, write"))
            .bytes(list.len())
            .polywire_writes(
                move |out| {
                    list::push_separated(out, items, b',', |out, item| quote::push(out, item));
                },
                move |out| same(out, list),
            )
            .peer_writes(
                "serde_json, item by item",
                move |out| {
                    for (at, item) in items.iter().enumerate() {
                        if at > 0 {
                            out.push(b',');
                        }
                        let _ = serde_json::to_writer(&mut *out, item);
                    }
                },
                move |out| same(out, list),
            )
            .target_allocations(0)
            .target_near_best(1.1);
        if count == 3 {
            for quote in of_3.quotes() {
                write.quote(quote);
            }
            write.target_ratio_time(of_3.faster(), 2.0);
        } else if count == 200 {
            write.target_instructions_of_case("list of 100, write", 2.1);
        }
        let len: usize = items.iter().map(String::len).sum();
        let read = group
            .case(format!("list of {name}, read"))
            .bytes(list.len())
            .polywire(
                move || {
                    let mut sum = 0;
                    let rest = list::read_separated(list, b',', |bytes| {
                        let (item, rest) = quote::unquote(bytes, LONE)?;
                        sum += item.len();
                        Ok(rest)
                    });
                    rest.map(|_| sum)
                },
                move |found| *found == Ok(len),
            )
            .target_allocations(0);
        if count == 200 {
            read.target_instructions_of_case("list of 100, read", 2.1);
        }
    }
}
