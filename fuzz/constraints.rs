//! Inputs and the constraints of one model: the validator and a naive twin of
//! its rules find the same wrong.

use std::sync::LazyLock;

use polywire_codec::json::{JsonDecoder, JsonProfile};
use polywire_model::Loader;
use polywire_protocol::{FaultKind, Validator};
use polywire_schema::{Decoder, Map, SchemaSet, Value, decode_structure};

use super::readers::SMALL;

static SET: LazyLock<SchemaSet<'static>> = LazyLock::new(|| {
    let text = include_str!("constraints.smithy");
    let loaded = Loader::new()
        .add_text("constraints.smithy", text)
        .assemble();
    let model = loaded.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("fuzz#Constrained").unwrap().unwrap()
});

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| Validator::new(SET.service(0)).unwrap());

/// More failures are counted and not listed.
const LISTED: usize = 64;

pub(crate) fn any(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let operation = SET.service(0).find_operation("Put").unwrap();
    let Ok(mut decoder) = JsonDecoder::from_str(text, JsonProfile::DEFAULT, &SMALL) else {
        return;
    };
    let mut input = Map::new();
    let decoder: &mut dyn Decoder<'_> = &mut decoder;
    if decode_structure(&mut input, operation.input().root(), decoder).is_err() {
        return;
    }
    let mut expected = Vec::new();
    members(&input, "", &mut expected);
    let found = match VALIDATOR.check(operation, &input) {
        Ok(()) => Vec::new(),
        Err(fault) => {
            assert_eq!(fault.kind(), FaultKind::Invalid);
            let count = fault.message().split(' ').next().unwrap();
            assert_eq!(count, expected.len().to_string(), "{fault} {input:?}");
            let fields = fault.details().get("fieldList").and_then(Value::as_list);
            let path = |field: &Value| field["path"].as_str().unwrap().to_owned();
            fields.unwrap().iter().map(path).collect()
        }
    };
    if expected.len() <= LISTED {
        let mut found = found;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{input:?}");
    }
}

/// The paths of what fails among the members of the input, and among those of
/// `Inner` and `Choice`, which have no other names.
fn members(map: &Map, path: &str, failures: &mut Vec<String>) {
    for (name, value) in map.iter() {
        let path = format!("{path}/{name}");
        let fails = match (name, value) {
            ("text", Value::String(text)) => !(2..=4).contains(&text.chars().count()),
            ("letters", Value::String(text)) => text.chars().any(|one| !"abc".contains(one)),
            ("int", Value::Integer(number)) => !(-5..=5).contains(number),
            ("double", Value::Double(number)) => number.is_nan() || *number < 0.5,
            ("big", Value::Integer(number)) => *number > 10,
            ("big", Value::BigInteger(number)) => is_above_ten(number.as_str()),
            ("blob", Value::Blob(blob)) => blob.as_ref().len() > 3,
            ("suit", Value::String(suit)) => !matches!(&**suit, "CLUBS" | "HEARTS"),
            ("level", Value::Integer(level)) => !matches!(level, 1 | 7),
            ("inner" | "choice", Value::Map(inner)) => {
                members(inner, &path, failures);
                false
            }
            ("items", Value::List(items)) => {
                list(items, &path, failures);
                false
            }
            ("named", Value::Map(entries)) => {
                named(entries, &path, failures);
                false
            }
            ("free", _) => false,
            (name, value) => panic!("{name}: {value:?}"),
        };
        if fails {
            failures.push(path);
        }
    }
}

fn list(items: &[Value], path: &str, failures: &mut Vec<String>) {
    if items.len() > 3 {
        failures.push(path.to_owned());
    }
    let is_repeated = |at: usize| items[..at].contains(&items[at]);
    if (0..items.len()).any(is_repeated) {
        failures.push(path.to_owned());
    }
    for (at, item) in items.iter().enumerate() {
        if item.as_str().unwrap().chars().count() > 2 {
            failures.push(format!("{path}/{at}"));
        }
    }
}

fn named(entries: &Map, path: &str, failures: &mut Vec<String>) {
    if entries.is_empty() {
        failures.push(path.to_owned());
    }
    for (key, value) in entries.iter() {
        let first = key.chars().next();
        // What is wrong with a key is wrong with the map.
        if !first.is_some_and(|first| first.is_ascii_lowercase()) {
            failures.push(path.to_owned());
        }
        let key = key.replace('~', "~0").replace('/', "~1");
        let Value::Map(inner) = value else {
            panic!("{value:?}");
        };
        members(inner, &format!("{path}/{key}"), failures);
    }
}

fn is_above_ten(digits: &str) -> bool {
    match digits.parse::<i128>() {
        Ok(number) => number > 10,
        // Digits that do not fit are many.
        Err(_) => !digits.starts_with('-'),
    }
}
