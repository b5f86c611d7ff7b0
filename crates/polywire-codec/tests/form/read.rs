//! What is read: any order, and what callers are known to send.

use polywire_codec::form::{FormDecoder, FormProfile};
use polywire_schema::{Body, Decode, ErrorKind, LimitKind, Limits, Text, Value};

use crate::shapes::{Choice, Collections, Node, QueryInput, root};
use crate::{EC2, QUERY, read, read_both, texts};

#[test]
fn any_order() {
    let at = root("QueryInput");
    let form = "Foo.member.10=j&Map.entry.2.value=2&Foo.member.2=b&Unknown.member.1=z\
        &FlatMap.1.value=3&Map.entry.1.key=k&Name=a+b%20c&Foo.member.1=a&Map.entry.2.key=l\
        &FlatMap.1.key=m&Map.entry.1.value=1";
    let expected = QueryInput {
        name: Some(Text::from("a b c")),
        foo: Some(texts(&["a", "b", "j"])),
        map: Some([(Text::from("k"), 1), (Text::from("l"), 2)].into()),
        flat_map: Some([(Text::from("m"), 3)].into()),
        ..QueryInput::default()
    };
    assert_eq!(read_both::<QueryInput>(form, at, QUERY).unwrap(), expected);
}

#[test]
fn structures_that_interleave() {
    let at = root("QueryInput");
    let form = "Nodes.member.2.name=b&Nodes.member.1.weight=1&Node.name=n&Nodes.member.2.weight=2\
        &Nodes.member.1.name=a&Node.choice.number=3";
    let node = |name, weight| Node {
        weight: Some(weight),
        ..Node::named(name)
    };
    let expected = QueryInput {
        node: Some(Node {
            choice: Some(Choice::Number(3)),
            ..Node::named("n")
        }),
        nodes: Some(vec![node("a", 1), node("b", 2)]),
        ..QueryInput::default()
    };
    assert_eq!(read_both::<QueryInput>(form, at, QUERY).unwrap(), expected);
}

/// Each permutation of the fields means the same.
#[test]
fn permutations() {
    let at = root("QueryInput");
    let fields = [
        "Foo.member.1=a",
        "Foo.member.2=b",
        "Node.name=n",
        "Node.children.member.1.name=c",
        "Map.entry.1.key=k",
        "Map.entry.1.value=1",
    ];
    let expected: Value = read(&fields.join("&"), at, QUERY).unwrap();
    let mut order: Vec<usize> = (0..fields.len()).collect();
    // Heap's algorithm.
    let mut counts = [0; 6];
    let mut place = 0;
    while place < fields.len() {
        if counts[place] < place {
            let other = if place % 2 == 0 { 0 } else { counts[place] };
            order.swap(other, place);
            let form: Vec<&str> = order.iter().map(|at| fields[*at]).collect();
            let form = form.join("&");
            assert_eq!(read::<Value>(&form, at, QUERY).unwrap(), expected, "{form}");
            counts[place] += 1;
            place = 0;
        } else {
            counts[place] = 0;
            place += 1;
        }
    }
}

/// Callers who put their filters together by hand leave numbers out.
#[test]
fn gaps_between_numbers() {
    let at = root("QueryInput");
    let input = read_both::<QueryInput>("Flat.7=b&Flat.3=a&Flat.4294967294=c", at, QUERY).unwrap();
    assert_eq!(input.flat, Some(texts(&["a", "b", "c"])));
}

#[test]
fn empty_lists_and_maps() {
    let at = root("QueryInput");
    let input = read_both::<QueryInput>("Foo=&Flat&Map=", at, QUERY).unwrap();
    let expected = QueryInput {
        foo: Some(Vec::new()),
        flat: Some(Vec::new()),
        map: Some([].into()),
        ..QueryInput::default()
    };
    assert_eq!(input, expected);
    let input = read_both::<QueryInput>("Foo=", at, EC2).unwrap();
    assert_eq!(input.foo, Some(Vec::new()));
    let form = "matrix.member.1=&matrix.member.3=&matrix.member.2.member.1=5";
    let read = read_both::<Collections>(form, root("Collections"), QUERY).unwrap();
    assert_eq!(read.matrix, Some(vec![vec![], vec![5], vec![]]));
}

#[test]
fn entries_with_only_a_key() {
    let at = root("Collections");
    let form = "sparseCounts.entry.1.key=none&sparseCounts.entry.2.key=one\
        &sparseCounts.entry.2.value=1&grouped.entry.1.key=g";
    let read = read_both::<Collections>(form, at, QUERY).unwrap();
    let counts = [(Text::from("none"), None), (Text::from("one"), Some(1))];
    assert_eq!(read.sparse_counts, Some(counts.into()));
    assert_eq!(read.grouped, Some([(Text::from("g"), Vec::new())].into()));
}

#[test]
fn what_the_shape_does_not_have() {
    let at = root("QueryInput");
    let form = "Action=A&Version=1&X=1&X=2&X.y.=3&Name=n&=&=x&&Node.x=1&Node.name=n&Node.x=2\
        &Map.entry.1.key=k&Map.entry.1.x=1&Map.entry.1.value=1&Map.entry.1.x.y=1\
        &Map.entry.2.key=l&Map.entry.2.value=2&SignatureMethod=HmacSHA256";
    let input = read_both::<QueryInput>(form, at, QUERY).unwrap();
    let expected = QueryInput {
        name: Some(Text::from("n")),
        node: Some(Node::named("n")),
        map: Some([(Text::from("k"), 1), (Text::from("l"), 2)].into()),
        ..QueryInput::default()
    };
    assert_eq!(input, expected);
}

/// An item that holds only unknown members is an item all the same.
#[test]
fn items_of_unknown_members() {
    let form = "choices.member.1.new=1&choices.member.2.number=2&name=n";
    let error = read_both::<Node>(form, root("Node"), QUERY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unknown, "{error}");
    let value: Value = read(form, root("Node"), QUERY.for_client()).unwrap();
    assert_eq!(value["choices"].as_list().map(<[Value]>::len), Some(2));
}

#[test]
fn keys_may_be_encoded() {
    let at = root("QueryInput");
    let form = "F%6fo%2Emember.1=a&%46oo.member%2e2=b";
    let input = read_both::<QueryInput>(form, at, QUERY).unwrap();
    assert_eq!(input.foo, Some(texts(&["a", "b"])));
}

#[test]
fn a_protocols_own_fields() {
    let at = root("Named");
    let form = "plain=1&first=2";
    let value: Value = read(form, at, QUERY.with_protocol_fields(&["plain"])).unwrap();
    assert_eq!(value["plain"].as_str(), None);
    assert_eq!(value["first"].as_str(), Some("2"));
}

#[test]
fn long_strings_share_the_body() {
    let long = "x".repeat(5000);
    let body = Body::from(format!("Name={long}").into_bytes());
    let mut decoder = FormDecoder::from_body(&body, QUERY, &Limits::DEFAULT).unwrap();
    let input = QueryInput::decode(root("QueryInput"), &mut decoder).unwrap();
    let name = input.name.unwrap();
    assert_eq!(*name, *long);
    assert_eq!(name.as_ptr(), body.as_bytes()[5..].as_ptr());
}

#[test]
fn required_members() {
    let form = "Node.weight=1";
    let at = root("QueryInput");
    let error = read_both::<QueryInput>(form, at, QUERY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    assert_eq!(error.path(), "Node");
    let value: Value = read(form, at, FormProfile::AWS_QUERY.for_client()).unwrap();
    assert_eq!(value["node"]["weight"].as_i64(), Some(1));
}

#[test]
fn limits() {
    let at = root("QueryInput");
    let read = |form: &str, limits: &Limits| {
        let body = Body::from(form.as_bytes().to_vec());
        let mut decoder = FormDecoder::from_body(&body, QUERY, limits)?;
        Value::decode(at, &mut decoder)
    };
    let default = Limits::DEFAULT;
    for (form, limits, allowed) in [
        ("Name=a", default.with_bytes(6), true),
        ("Name=ab", default.with_bytes(6), false),
        ("Name=a%20b", default.with_string(3), true),
        ("Name=abcd", default.with_string(3), false),
        // The list counts, and what is in it.
        ("Flat.1=a&Flat.2=b", default.with_items(3), true),
        ("Flat.1=a&Flat.2=b&Flat.3=c", default.with_items(3), false),
        ("x&y", default.with_items(2), true),
        ("x&y&z", default.with_items(2), false),
        ("Node.name=n", default.with_depth(2), true),
        ("Node.name=n", default.with_depth(1), false),
    ] {
        match read(form, &limits) {
            Ok(_) => assert!(allowed, "{form}"),
            Err(error) => assert!(!allowed && error.is_limit(), "{form}: {error}"),
        }
    }
    // Deeper than any stack. The key is followed down to the limit and not beyond.
    let deep = format!("Node.{}name=n", "left.".repeat(1_000_000));
    let error = read(&deep, &default).unwrap_err();
    let kind = ErrorKind::Limit(LimitKind::Depth(default.depth()));
    assert_eq!(error.kind(), kind);
    assert!(error.offset().unwrap() < 5 * 65, "{error}");
}
