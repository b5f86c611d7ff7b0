//! Escapes of JSON, XML, URLs and forms, beside serde_json, sonic-rs, quick-xml,
//! percent-encoding and form_urlencoded.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use polywire_gate::groups::text::{REAL_TEXT, json, percent, xml};
use polywire_gate::{Case, Group, same, same_bytes};
use quick_xml::escape;
use serde::Deserialize;

pub(crate) fn cases(group: &mut Group) {
    json_text(group);
    json_short(group);
    xml_text(group);
    xml_short(group);
    percent_encoding(group);
    forms(group);
}

fn json_text(group: &mut Group) {
    if let Ok(text) = group.data(REAL_TEXT) {
        let text = json::utf8(text);
        let quoted = json::quoted(text);
        group.extend("JSON: escape 8 KB of real text", |case| {
            case.peer_writes(
                "serde_json",
                move |out| _ = serde_json::to_writer(out, text),
                move |out| same_bytes(out, quoted.as_bytes()),
            )
            .peer_writes(
                "sonic-rs",
                move |out| _ = sonic_rs::to_writer(out, text),
                move |out| same_bytes(out, quoted.as_bytes()),
            )
            .target_ratio_time("sonic-rs", 1.2);
        });
        group.extend(
            "JSON: unescape 8 KB of real text into a string of its own",
            |case| {
                json_unescape(case, text, quoted).target_ratio_time("sonic-rs", 1.2);
            },
        );
    }
    if let Ok(text) = group.data(json::LINE) {
        let text = json::utf8(text);
        group.extend(
            "JSON: unescape a line of 116 bytes into a string of its own",
            |case| {
                let quoted = json::quoted(text);
                json_unescape(case, text, quoted).target_ratio_time("serde_json", 1.5);
            },
        );
    }
    let text = json::japanese();
    group.extend(
        "JSON: unescape Japanese that was written in ASCII",
        |case| {
            json_unescape(case, text, json::quoted_ascii(text)).target_near_best(1.1);
        },
    );
}

fn json_unescape<'a>(case: &'a mut Case, text: &'static str, quoted: &'static str) -> &'a mut Case {
    case.peer(
        "serde_json",
        move || serde_json::from_str::<String>(quoted).unwrap_or_default(),
        move |out| same_bytes(out.as_bytes(), text.as_bytes()),
    )
    .peer(
        "sonic-rs",
        move || sonic_rs::from_str::<String>(quoted).unwrap_or_default(),
        move |out| same_bytes(out.as_bytes(), text.as_bytes()),
    )
}

fn json_short(group: &mut Group) {
    let strings = json::short_strings();
    let document = json::short_strings_json();
    group.extend("JSON: write 1000 short strings", |case| {
        case.peer_writes(
            "serde_json",
            move |out| _ = serde_json::to_writer(out, strings),
            move |out| same_bytes(out, document.as_bytes()),
        )
        .peer_writes(
            "sonic-rs",
            move |out| _ = sonic_rs::to_writer(out, strings),
            move |out| same_bytes(out, document.as_bytes()),
        )
        .target_near_best(1.1);
    });
    let total: usize = strings.iter().map(String::len).sum();
    group.extend(
        "JSON: read 1000 short strings, borrowed where they can be",
        |case| {
            case.peer(
                "serde_json",
                move || serde_json::from_str(document).map_or(0, total_of_borrowed),
                move |sum| same(sum, &total),
            )
            .peer(
                "sonic-rs",
                move || sonic_rs::from_str(document).map_or(0, total_of_borrowed),
                move |sum| same(sum, &total),
            )
            .target_near_best(1.1);
        },
    );
}

#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

fn total_of_borrowed(strings: Vec<Borrowed<'_>>) -> usize {
    strings.into_iter().map(|text| text.0.len()).sum()
}

/// quick-xml escapes into a string of its own, which its writer then copies.
fn xml_text(group: &mut Group) {
    let text = xml::text(8192, 50);
    let expected = xml::escaped(&text);
    group.extend("XML text out, 8 KiB, 5%", |case| {
        case.peer_writes(
            "quick-xml",
            move |out| out.extend_from_slice(escape::partial_escape(&*text).as_bytes()),
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .target_near_best(1.1);
    });
    for (name, special) in [
        ("XML text in, 8 KiB, 0%", 0),
        ("XML text in, 8 KiB, 5%", 50),
    ] {
        let text = xml::text(8192, special);
        let escaped = xml::escaped(&text);
        group.extend(name, |case| {
            case.peer(
                "quick-xml",
                move || escape::unescape(&escaped).map(Cow::into_owned),
                move |read| same(read, &Ok(text.clone())),
            )
            .target_near_best(1.1);
        });
    }
}

fn xml_short(group: &mut Group) {
    let texts = xml::short_texts();
    let written: Vec<String> = texts.iter().map(|text| xml::escaped(text)).collect();
    let expected = written.concat();
    let all = texts.concat();
    group.extend("XML text out, 1000 of 20 bytes", |case| {
        case.peer_writes(
            "quick-xml",
            move |out| {
                for text in &texts {
                    out.extend_from_slice(escape::partial_escape(&**text).as_bytes());
                }
            },
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .target_near_best(1.1);
    });
    group.extend("XML text in, 1000 of 20 bytes", |case| {
        case.peer_writes(
            "quick-xml",
            move |out| {
                for text in &written {
                    out.extend_from_slice(escape::unescape(text).unwrap_or_default().as_bytes());
                }
            },
            move |out| same_bytes(out, all.as_bytes()),
        )
        .target_near_best(1.1);
    });
}

/// All but the unreserved characters.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn percent_encoding(group: &mut Group) {
    let text = percent::text(8192);
    let expected = percent::encoded(&text);
    group.extend("percent out, 8 KiB, 5%", |case| {
        case.peer_writes(
            "percent-encoding",
            move |out| {
                for part in utf8_percent_encode(&text, ENCODED) {
                    out.extend_from_slice(part.as_bytes());
                }
            },
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .target_near_best(1.1);
    });
    let expected = percent::text(8192);
    let text = percent::encoded(&expected);
    group.extend("percent in, 8 KiB, 5%", |case| {
        case.peer(
            "percent-encoding",
            move || percent_decode_str(&text).decode_utf8().map(Cow::into_owned),
            move |read| same(read, &Ok(expected.clone())),
        )
        .target_near_best(1.1);
    });
}

fn forms(group: &mut Group) {
    let query = percent::query();
    let pairs = percent::pairs(&query);
    let expected = percent::sizes(&pairs);
    let read = query.clone();
    group.extend("form in, 1 KiB", |case| {
        case.peer(
            "form_urlencoded",
            move || {
                let pairs = form_urlencoded::parse(read.as_bytes());
                pairs.fold((0, 0), |(count, bytes), (key, value)| {
                    (count + 1, bytes + key.len() + value.len())
                })
            },
            move |found| same(found, &expected),
        )
        .target_near_best(1.1);
    });
    group.extend("form out, 1 KiB", |case| {
        case.peer_writes(
            "form_urlencoded",
            move |out| {
                let mut separator = "";
                for (key, value) in &pairs {
                    out.extend_from_slice(separator.as_bytes());
                    separator = "&";
                    for part in form_urlencoded::byte_serialize(key.as_bytes()) {
                        out.extend_from_slice(part.as_bytes());
                    }
                    out.push(b'=');
                    for part in form_urlencoded::byte_serialize(value.as_bytes()) {
                        out.extend_from_slice(part.as_bytes());
                    }
                }
            },
            move |out| same_bytes(out, query.as_bytes()),
        )
        .target_near_best(1.1);
    });
}
