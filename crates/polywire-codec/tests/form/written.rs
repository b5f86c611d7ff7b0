//! What is written, byte by byte, and what cannot be.

use polywire_codec::form::FormEncoder;
use polywire_schema::{Blob, Encode, ErrorKind, Map, Text, Timestamp, Value};

use crate::shapes::{Choice, Collections, Node, QueryInput, Scalars, root, samples};
use crate::{EC2, QUERY, check, texts, write};

fn input() -> QueryInput {
    QueryInput {
        name: Some(Text::from("a b&c=\u{e9}+*~/")),
        foo: Some(texts(&["a", "b"])),
        flat: Some(texts(&["x", "y"])),
        renamed: Some(vec![7, 8]),
        map: Some([(Text::from("k l"), 1), (Text::from("m"), 2)].into()),
        flat_map: Some([(Text::from("n"), 3)].into()),
        node: Some(Node {
            children: Some(vec![Node::named("c")]),
            choice: Some(Choice::Number(5)),
            ..Node::named("n")
        }),
        nodes: Some(vec![Node::named("first"), Node::named("second")]),
    }
}

#[test]
fn aws_query() {
    let expected = [
        "Name=a%20b%26c%3D%C3%A9%2B%2A~%2F",
        "Foo.member.1=a&Foo.member.2=b",
        "Flat.1=x&Flat.2=y",
        "renamed.item.1=7&renamed.item.2=8",
        "Map.entry.1.key=k%20l&Map.entry.1.value=1&Map.entry.2.key=m&Map.entry.2.value=2",
        "FlatMap.1.key=n&FlatMap.1.value=3",
        "Node.name=n&Node.children.member.1.name=c&Node.choice.number=5",
        "Nodes.member.1.name=first&Nodes.member.2.name=second",
    ];
    let form = check(&input(), root("QueryInput"), QUERY);
    assert_eq!(form, expected.join("&"));
}

#[test]
fn ec2_query() {
    let input = QueryInput {
        map: None,
        flat_map: None,
        ..input()
    };
    let expected = [
        "Name=a%20b%26c%3D%C3%A9%2B%2A~%2F",
        "Foo.1=a&Foo.2=b",
        "Flat.1=x&Flat.2=y",
        "Renamed.1=7&Renamed.2=8",
        "Node.Name=n&Node.Children.1.Name=c&Node.Choice.Number=5",
        "Nodes.1.Name=first&Nodes.2.Name=second",
    ];
    let form = check(&input, root("QueryInput"), EC2);
    assert_eq!(form, expected.join("&"));
}

#[test]
fn behind_what_comes_first() {
    let at = root("QueryInput");
    let write = |input: &QueryInput, before: &[u8]| {
        let mut encoder = FormEncoder::new(QUERY, before.to_vec());
        input.encode(at, &mut encoder);
        String::from_utf8(encoder.finish().unwrap()).unwrap()
    };
    let input = QueryInput {
        flat: Some(texts(&["x"])),
        ..QueryInput::default()
    };
    assert_eq!(
        write(&input, b"Action=A&Version=1"),
        "Action=A&Version=1&Flat.1=x"
    );
    assert_eq!(write(&input, b""), "Flat.1=x");
    assert_eq!(write(&QueryInput::default(), b"Action=A"), "Action=A");
    assert_eq!(write(&QueryInput::default(), b""), "");
}

#[test]
fn empty_collections() {
    let input = QueryInput {
        foo: Some(Vec::new()),
        flat: Some(Vec::new()),
        ..QueryInput::default()
    };
    assert_eq!(check(&input, root("QueryInput"), QUERY), "Foo=&Flat=");
    assert_eq!(write(&input, root("QueryInput"), EC2).unwrap(), "");
    let collections = Collections {
        matrix: Some(vec![vec![1], Vec::new(), vec![2, 3]]),
        grouped: Some([(Text::from("a"), Vec::new())].into()),
        ..Collections::default()
    };
    assert_eq!(
        check(&collections, root("Collections"), QUERY),
        "matrix.member.1.member.1=1&matrix.member.2=\
         &matrix.member.3.member.1=2&matrix.member.3.member.2=3\
         &grouped.entry.1.key=a&grouped.entry.1.value=",
    );
}

#[test]
fn scalars() {
    let scalars = Scalars {
        document: None,
        ..samples::scalars()
    };
    let expected = [
        "byte=-128&short=-32768&integer=-2147483648&long=-9223372036854775808",
        "float=0.1&double=0.1&bigInteger=25000000000000000000",
        "bigDecimal=-1234567890123456789012345.0100&boolean=true",
        "string=a%20%22string%22%20%3C%26%3E%20%5C%20of%2024%2B%20bytes",
        "suit=HEARTS&rank=1&blob=AAH%2B%2Fw%3D%3D",
        "time=2026-11-21T20%3A30%3A00.25Z&dateTime=2026-11-21T20%3A30%3A00.25Z",
        "epochSeconds=1795293000.25&httpDate=Sat%2C%2021%20Nov%202026%2020%3A30%3A00.25%20GMT",
    ];
    let form = check(&scalars, root("Scalars"), QUERY);
    assert_eq!(form, expected.join("&"));
}

#[test]
fn times_and_floats_are_encoded() {
    let at = root("Scalars");
    let time = |seconds, nanoseconds| Scalars {
        time: Some(Timestamp::new(seconds, nanoseconds)),
        ..Scalars::default()
    };
    for (value, expected) in [
        (time(0, 0), "time=1970-01-01T00%3A00%3A00Z"),
        (time(0, 1), "time=1970-01-01T00%3A00%3A00.000000001Z"),
        (time(-62_135_596_800, 0), "time=0001-01-01T00%3A00%3A00Z"),
    ] {
        assert_eq!(check(&value, at, QUERY), expected);
    }
    for (double, expected) in [
        (1e21, "double=1e%2B21"),
        (1.5e300, "double=1.5e%2B300"),
        (f64::INFINITY, "double=Infinity"),
        (f64::NEG_INFINITY, "double=-Infinity"),
        (75.0, "double=75"),
    ] {
        let scalars = Scalars {
            double: Some(double),
            ..Scalars::default()
        };
        assert_eq!(check(&scalars, at, QUERY), expected);
    }
    let nan = Scalars {
        float: Some(f32::NAN),
        ..Scalars::default()
    };
    assert_eq!(write(&nan, at, QUERY).unwrap(), "float=NaN");
    let long = Scalars {
        blob: Some(Blob::from(vec![0xff; 3000])),
        ..Scalars::default()
    };
    let form = check(&long, at, QUERY);
    assert_eq!(form, format!("blob={}", "%2F".repeat(4000)));
}

/// The way to a value may be longer than what is copied at once.
#[test]
fn deep_and_long_ways() {
    let mut node = Node::named("n");
    for _ in 0..30 {
        node = Node {
            children: Some(vec![Node::named("first"), node]),
            ..Node::named("n")
        };
    }
    let form = check(&node, root("Node"), QUERY);
    let last = format!("&{}name=n", "children.member.2.".repeat(30));
    assert!(form.ends_with(&last), "{form}");
    let value = Value::Map(Map::from_iter([(
        "aNameLongerThanThirtyTwoBytesSoThatNoWindowHoldsIt",
        Value::from("v"),
    )]));
    assert_eq!(
        write(&value, root("Named"), QUERY).unwrap(),
        "aNameLongerThanThirtyTwoBytesSoThatNoWindowHoldsIt=v"
    );
}

#[test]
fn many_items() {
    let collections = Collections {
        blobs: Some(vec![Blob::from(vec![b'a']); 1200]),
        ..Collections::default()
    };
    let form = check(&collections, root("Collections"), QUERY);
    assert!(form.ends_with("&blobs.member.1200=YQ%3D%3D"));
}

/// What would leave no trace, or a gap, is refused.
#[test]
fn what_a_form_cannot_carry() {
    let collections = Collections::default();
    for (collections, profile, expected) in [
        (
            Collections {
                sparse: Some(vec![None]),
                ..collections.clone()
            },
            QUERY,
            "expected no null: the lists of forms have none",
        ),
        (
            Collections {
                documents: Some(vec![Value::from(1)]),
                ..collections.clone()
            },
            QUERY,
            "document",
        ),
        (
            Collections {
                counts: Some([(Text::from("a"), 1)].into()),
                ..collections.clone()
            },
            EC2,
            "expected no map: ec2Query has none",
        ),
        (
            Collections {
                matrix: Some(vec![Vec::new()]),
                ..collections
            },
            EC2,
            "an empty value cannot be written here",
        ),
    ] {
        let error = write(&collections, root("Collections"), profile).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let scalars = Scalars {
        document: Some(Value::from(1)),
        ..Scalars::default()
    };
    let error = write(&scalars, root("Scalars"), QUERY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
    for node in [
        Node {
            choice: Some(Choice::Empty),
            ..Node::named("n")
        },
        Node {
            choices: Some(vec![Choice::Empty]),
            ..Node::named("n")
        },
    ] {
        let error = write(&node, root("Node"), QUERY).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
    }
    // Only structures stand at the top.
    for (name, value) in [
        ("Counts", Value::Map(Map::new())),
        ("Counts", Value::Map(Map::from_iter([("a", 1)]))),
        ("Integers", Value::List(Vec::new())),
        ("Integers", Value::List(vec![Value::from(1)])),
    ] {
        let error = write(&value, root(name), QUERY).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unwritable), "{error}");
    }
}
