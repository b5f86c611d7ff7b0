//! Nothing panics, nothing takes long, and nothing of part of a form passes for
//! the whole.

use polywire_codec::form::FormProfile;
use polywire_schema::{ErrorKind, Value};

use crate::shapes::{root, samples};
use crate::{EC2, QUERY, read, write};

const FORMS: [(&str, &str, FormProfile); 4] = [
    (
        "QueryInput",
        "Name=a+b%20c&Foo.member.1=b&Foo.member.2=c&Flat.1=x&renamed.item.1=7&Map.entry.1.key=k\
         &Map.entry.1.value=1&FlatMap.1.key=k&FlatMap.1.value=2&Node.name=n&Nodes.member.1.name=a",
        QUERY,
    ),
    (
        "QueryInput",
        "Name=a&Foo.1=b&Foo.2=c&Flat.1=x&Renamed.1=7&Node.Name=n&Nodes.1.Name=a&Nodes.1.Weight=2",
        EC2,
    ),
    (
        "Scalars",
        "byte=-128&float=1e%2B21&double=NaN&bigInteger=25000000000000000000&boolean=true\
         &blob=AAH%2B%2Fw%3D%3D&time=2026-11-21T20%3A30%3A00.25Z&epochSeconds=1795293000.25",
        QUERY,
    ),
    (
        "Collections",
        "matrix.member.1.member.1=1&matrix.member.2=&sparseCounts.entry.1.key=a\
         &grouped.entry.1.key=g&grouped.entry.1.value.member.1=x",
        QUERY,
    ),
];

/// What is read can be written, unless something in it is empty, and reads the
/// same again.
fn check(form: &str, shape: &str, profile: FormProfile) {
    let at = root(shape);
    let Ok(value) = read::<Value>(form, at, profile) else {
        return;
    };
    match write(&value, at, profile) {
        Ok(written) => {
            let again: Value = read(&written, at, profile).unwrap();
            // Structures and maps that are empty leave no trace.
            assert_eq!(write(&again, at, profile).unwrap(), written, "{form}");
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unwritable, "{form}: {error}"),
    }
}

#[test]
fn every_prefix_and_every_change_of_a_byte() {
    for (shape, form, profile) in FORMS {
        for end in 0..form.len() {
            check(&form[..end], shape, profile);
        }
        let mut bytes = form.as_bytes().to_vec();
        for at in 0..bytes.len() {
            let before = bytes[at];
            for byte in *b"\0 %+.&=012aN~" {
                bytes[at] = byte;
                check(std::str::from_utf8(&bytes).unwrap(), shape, profile);
            }
            bytes[at] = before;
        }
    }
}

/// Many fields that stand as far apart from their own as they can: with a look
/// at all fields for each structure this would take minutes.
#[test]
fn many_structures_that_interleave() {
    const COUNT: usize = 20_000;
    let names = (1..=COUNT)
        .rev()
        .map(|at| format!("Nodes.member.{at}.name=n{at}"));
    let weights = (1..=COUNT).map(|at| format!("Nodes.member.{at}.weight={at}"));
    let form = names.chain(weights).collect::<Vec<_>>().join("&");
    let value: Value = read(&form, root("QueryInput"), QUERY).unwrap();
    let nodes = value["nodes"].as_list().unwrap();
    assert_eq!(nodes.len(), COUNT);
    assert_eq!(nodes[COUNT - 1]["name"].as_str(), Some("n20000"));
    assert_eq!(nodes[0]["weight"].as_i64(), Some(1));
}

/// Long keys that share nearly all of themselves, and long keys that are of no
/// use.
#[test]
fn long_keys() {
    let deep = "left.".repeat(25);
    let fields = (1..=2_000).map(|at| format!("{deep}children.member.{at}.name=c"));
    let mut names: Vec<String> = fields.collect();
    names.extend((0..=25).map(|levels| format!("{}name=n", "left.".repeat(levels))));
    names.reverse();
    let value: Value = read(&names.join("&"), root("Node"), QUERY).unwrap();
    let mut node = &value;
    for _ in 0..25 {
        node = &node["left"];
    }
    assert_eq!(node["children"].as_list().map(<[Value]>::len), Some(2_000));
    let unknown = format!("name=n&{}=1", "x.".repeat(1_000_000));
    assert!(read::<Value>(&unknown, root("Node"), QUERY).is_ok());
    let node = write(&samples::node_for_forms(), root("Node"), QUERY).unwrap();
    assert!(read::<Value>(&format!("{node}&{node}"), root("Node"), QUERY).is_err());
}
