//! What the generic paths do with values besides reading and writing them: look up members, copy,
//! and write a small reply into a new buffer.

use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};
use polywire_schema::{Encoder, Map, Member, Value};

use super::corpus::{CONTENTS, Side};
use super::oracle;
use crate::{Group, same};

pub(super) fn cases(group: &mut Group) {
    for size in [5, 1000] {
        let names: Vec<String> = member_names(size);
        let map: Map = entries(size).into_iter().collect();
        let expected = (0..size as i64).sum::<i64>();
        group
            .case(format!("look up {size} of {size} members"))
            .polywire(
                move || {
                    let found = names.iter().map(|name| map.get(name));
                    found.map(integer).sum::<i64>()
                },
                move |answer| same(answer, &expected),
            );
    }
    clones(group);
    let expected = small_reply(FIRST_BUFFER);
    group
        .case("a small reply, by its first buffer")
        .bytes(expected.len())
        .calls(500)
        .polywire(
            || small_reply(FIRST_BUFFER),
            move |answer| same(answer, &expected),
        )
        .target_allocations(1);
}

/// The members of a struct.
pub fn entries(size: usize) -> Vec<(String, Value)> {
    let entry = |index| (format!("member{index}"), Value::from(index as i64));
    (0..size).map(entry).collect()
}

/// The names of its members, in another order.
pub fn member_names(size: usize) -> Vec<String> {
    let name = |index: usize| format!("member{}", index * 7 % size);
    (0..size).map(name).collect()
}

/// The integer that was found.
pub fn integer(found: Option<&Value>) -> i64 {
    found.and_then(Value::as_i64).unwrap_or_default()
}

/// The capacity that our servers give to the buffer of a first reply.
const FIRST_BUFFER: usize = 512;

/// A reply of some 150 bytes, written into a new buffer of that capacity.
pub fn small_reply(capacity: usize) -> Vec<u8> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::with_capacity(capacity));
    encoder.string(Member::DOCUMENT, "Hello, and welcome to this server");
    encoder.finish().unwrap_or_default()
}

fn clones(group: &mut Group) {
    for content in CONTENTS {
        if !matches!(content.letter, "d" | "e" | "f") {
            continue;
        }
        let file = content.file(Side::Request);
        let name = format!("clone a Value: {}", content.words);
        group.case_from(name, [file.as_str()], |case, [xml]| {
            let value = oracle::value_of(xml);
            let expected = value.clone();
            case.polywire(move || value.clone(), move |answer| same(answer, &expected));
        });
    }
}
