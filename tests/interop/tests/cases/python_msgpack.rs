//! Python's `msgpack`: messages in both directions.

use polywire::codec::msgpack;
use polywire::schema::{Map, Text, Timestamp, Value};
use polywire_interop::Case;

/// A value of every type, at the ends of their ranges.
fn values() -> Vec<Value> {
    let mut values: Vec<Value> = [
        0,
        127,
        128,
        255,
        256,
        65_535,
        65_536,
        i64::from(u32::MAX),
        1 << 32,
        i64::MAX,
        -1,
        -32,
        -33,
        -128,
        -129,
        -32_768,
        -32_769,
        i64::from(i32::MIN),
        i64::from(i32::MIN) - 1,
        i64::MIN,
    ]
    .into_iter()
    .map(Value::from)
    .collect();
    values.extend([
        Value::Null,
        true.into(),
        false.into(),
        0.1.into(),
        (-0.0).into(),
    ]);
    values.push(Value::BigInteger(u64::MAX.to_string().parse().unwrap()));
    for len in [0, 31, 32, 255, 256, 65_535, 65_536] {
        values.push(Value::from("ü".repeat(len / 2).as_str()));
        values.push(Value::Blob(vec![7; len].into()));
    }
    for len in [0, 15, 16, 65_536] {
        values.push(Value::List(vec![Value::Null; len]));
        let entries = (0..len as i64).map(|key| (key.to_string(), Value::from(key)));
        values.push(Value::Map(
            entries
                .map(|(key, value)| (Text::from(key), value))
                .collect(),
        ));
    }
    for (seconds, nanoseconds) in [(0, 0), (u32::MAX.into(), 0), (1 << 32, 0), (1, 1), (-1, 5)] {
        values.push(Value::Timestamp(Timestamp::new(seconds, nanoseconds)));
    }
    let nested = Map::from_iter([("list", Value::List(values.clone()))]);
    values.push(Value::Map(nested));
    values
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(pair).collect()
}

/// Python reads what we write, and writes the same bytes; we read them as the same value.
#[test]
fn python_msgpack_values() {
    let case = Case::begin("python_msgpack_values");
    let Some(python) = case.python(&["msgpack"]) else {
        return;
    };
    let file = std::env::temp_dir().join(format!("polywire-msgpack-{}", std::process::id()));
    let messages: Vec<String> = values()
        .iter()
        .map(|value| hex(&msgpack::write_value(value).unwrap()))
        .collect();
    std::fs::write(&file, messages.join("\n")).unwrap();
    let script = format!(
        "
import msgpack
messages = open({:?}).read().split()
read = [msgpack.unpackb(bytes.fromhex(message), timestamp=0) for message in messages]
show([msgpack.packb(value).hex() for value in read])",
        file
    );
    let answer = python.run("", &script);
    std::fs::remove_file(&file).unwrap();
    for (index, value) in values().iter().enumerate() {
        let written = answer[index].as_str().unwrap();
        assert_eq!(written, messages[index]);
        assert_eq!(msgpack::read_value(&unhex(written)).unwrap(), *value);
    }
}

/// What Python makes of its types, and what we read of it.
#[test]
fn python_msgpack_types() {
    let case = Case::begin("python_msgpack_types");
    let Some(python) = case.python(&["msgpack"]) else {
        return;
    };
    let script = "
import msgpack
at = datetime.datetime(2026, 11, 1, 11, 55, 0, 500000, tzinfo=datetime.timezone.utc)
value = {'a': [1, -2.5, None, True], 'b': b'\\x00\\xff', 'c': at, 'd': {'e': 'ü'}}
show([msgpack.packb(value, datetime=True).hex(), msgpack.packb(1.5, use_single_float=True).hex()])";
    let answer = python.run("", script);
    let read = |index: usize| msgpack::read_value(&unhex(answer[index].as_str().unwrap())).unwrap();
    let value = read(0);
    assert_eq!(value["a"][1], Value::Double(-2.5));
    assert_eq!(value["b"], Value::Blob(vec![0, 255].into()));
    assert_eq!(
        value["c"],
        Value::Timestamp("2026-11-01T11:55:00.5Z".parse().unwrap())
    );
    assert_eq!(value["d"]["e"].as_str(), Some("ü"));
    assert_eq!(read(1), Value::Float(1.5));
}
