//! The worst cases: members in another order, twice as much of everything, and messages that begin
//! large values and end early.

use crate::{Group, same};
use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_schema::{Body, Decode, Limits, Map, Member, Value};

use super::corpus::{CONTENTS, Side, name};
use super::dynamic;
use super::oracle;

pub(super) fn cases(group: &mut Group) {
    permuted(group);
    growth(group);
    truncated(group);
    short_lists(group);
}

/// A pseudo-random sequence that is the same in every run.
struct Shuffle(u64);

impl Shuffle {
    fn below(&mut self, limit: usize) -> usize {
        // Knuth's MMIX generator. Its high bits are the most random.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }

    /// The value with the members of each struct in a different order.
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::List(items) => Value::List(items.iter().map(|item| self.value(item)).collect()),
            Value::Map(map) => {
                let mut entries: Vec<_> = map
                    .entries()
                    .iter()
                    .map(|(key, value)| (key.clone(), self.value(value)))
                    .collect();
                for last in (1..entries.len()).rev() {
                    entries.swap(last, self.below(last + 1));
                }
                Value::Map(Map::from_iter(entries))
            }
            other => other.clone(),
        }
    }
}

/// The request of this value.
fn request(value: &Value) -> &'static [u8] {
    dynamic::write_call(value, Vec::new()).leak()
}

/// The body with the members of each struct in a different order.
pub(super) fn permuted_body(xml: &[u8]) -> &'static [u8] {
    request(&Shuffle(7).value(&oracle::value_of(xml)))
}

fn permuted(group: &mut Group) {
    for content in CONTENTS {
        if !matches!(content.letter, "c" | "d") {
            continue;
        }
        let file = content.file(Side::Request);
        group.case_from(
            name(content, Side::Request, "permuted, read Value"),
            [file.as_str()],
            |case, [xml]| {
                dynamic::reads(case, Side::Request, permuted_body(xml));
                case.target_instructions_of_case(name(content, Side::Request, "read Value"), 1.4);
            },
        );
    }
}

fn growth(group: &mut Group) {
    let record = |index: i64| {
        Value::from(Map::from_iter([
            ("id", Value::from(index)),
            (
                "name",
                Value::from("a name of more than twenty-three bytes"),
            ),
            (
                "tags",
                Value::List(vec![Value::from("a&b"), Value::from(true)]),
            ),
        ]))
    };
    for (name, records) in [("growth, 500 structs", 500), ("growth, 1000 structs", 1000)] {
        let xml = request(&Value::List((0..records).map(record).collect()));
        let case = group.case(name);
        dynamic::reads(case, Side::Request, xml);
        if records == 1000 {
            case.target_instructions_of_case("growth, 500 structs", 2.1);
        }
    }
}

/// Whether reading the body is an error.
fn refused(xml: &'static [u8]) -> bool {
    let body = Body::from(xml);
    let Ok((_, mut decoder)) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)
    else {
        return true;
    };
    let read = decoder
        .parameter()
        .and_then(|_| Value::decode(Member::DOCUMENT, &mut decoder));
    read.is_err()
}

/// Bodies of a megabyte that begin a value and do not end it. The memory reserved for the value must
/// not depend on how much of the body is left.
fn truncated(group: &mut Group) {
    const MEGABYTE: usize = 1 << 20;
    const HEAD: &str = "<?xml version=\"1.0\"?><methodCall><methodName>echo</methodName>\
        <params><param><value>";
    let filler = " ".repeat(MEGABYTE);
    let letters = "QUJD".repeat(MEGABYTE / 4);
    let one = "<value><int>1</int></value>";
    let member = "<member><name>n</name><value><int>1</int></value></member>";
    let kinds = [
        ("array", format!("<array><data>{one}{filler}")),
        ("struct", format!("<struct>{member}{filler}")),
        ("string", format!("<string>{letters}")),
        ("base64", format!("<base64>{letters}")),
    ];
    for (kind, content) in kinds {
        let xml: &'static [u8] = format!("{HEAD}{content}").into_bytes().leak();
        group
            .case(format!("a megabyte that ends within its first {kind}"))
            .bytes(xml.len())
            .polywire(move || refused(xml), |answer| same(answer, &true))
            // Room for a parameter, a few items and the error.
            .target_peak_bytes(2048);
    }
}

/// The decoder reserves as much for a list as the list before it had. One long list must not make
/// thousands of short lists large.
fn short_lists(group: &mut Group) {
    let long: Vec<Value> = (0..5_000).map(Value::from).collect();
    let short = (0..2_500).map(|index| Value::List(vec![Value::from(index)]));
    let lists: Vec<Value> = std::iter::once(Value::List(long)).chain(short).collect();
    let xml = request(&Value::List(lists));
    let case = group.case("a long list before thousands of short ones");
    dynamic::reads(case, Side::Request, xml);
    case.target_peak_bytes(6 * xml.len() as u64);
}
