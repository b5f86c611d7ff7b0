//! What protocols write and read around structures.

use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_schema::{
    Decode, Direction, Encode, Limits, Location, MemberFlags, MemberSpec, SchemaBuilder, SchemaSet,
    ShapeKind, Value,
};

use super::{read_with, shapes, write_with};

fn value(pairs: &[(&str, &str)]) -> Value {
    Value::Map(pairs.iter().copied().collect())
}

fn set() -> SchemaSet<'static> {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let plain = builder.shape(ShapeKind::Structure, "example#Plain");
    builder.member(plain, MemberSpec::new("name", string));
    let named = builder.shape(ShapeKind::Structure, "example#Named");
    builder.root(named).xml_name = Some("Hello".to_owned());
    builder.root(named).xml_namespace = Some((None, "urn:hello".to_owned()));
    builder.member(named, MemberSpec::new("name", string));
    let payloads = builder.shape(ShapeKind::Structure, "example#Payloads");
    builder.member(payloads, MemberSpec::new("plain", plain));
    builder.member(payloads, MemberSpec::new("named", named));
    builder.member(payloads, MemberSpec::new("renamed", named).xml_name("Hola"));
    let own = MemberSpec::new("own", named).xml_namespace(Some("o"), "urn:own");
    builder.member(payloads, own.xml_name("own"));
    let bound = builder.shape(ShapeKind::Structure, "example#Bound");
    builder.member(
        bound,
        MemberSpec::new("head", string).location(Location::Header, "X-Head"),
    );
    builder.member(bound, MemberSpec::new("body", string));
    let location = builder.shape(ShapeKind::Structure, "example#Location");
    builder.member(location, MemberSpec::new("LocationConstraint", string));
    let failed = builder.shape(ShapeKind::Structure, "example#Failed");
    let attribute = MemberSpec::new("kind", string).flag(MemberFlags::XML_ATTRIBUTE);
    builder.member(failed, attribute);
    builder.member(failed, MemberSpec::new("Message", string));
    builder.finish().unwrap()
}

#[test]
fn names_and_namespaces_of_roots() {
    let set = set();
    let service = XmlProfile::DEFAULT.with_namespace(Some((None, "urn:service")));
    let prefixed = XmlProfile::DEFAULT.with_namespace(Some((Some("s"), "urn:<&>")));
    let payload = |ordinal| set.find_shape("example#Payloads").unwrap().member(ordinal);
    let plain = set.find_shape("example#Plain").unwrap().root();
    for (at, profile, tag) in [
        (plain, XmlProfile::DEFAULT, "<Plain>"),
        (plain, service, "<Plain xmlns=\"urn:service\">"),
        (plain, prefixed, "<Plain xmlns:s=\"urn:&lt;&amp;&gt;\">"),
        (payload(0), service, "<Plain xmlns=\"urn:service\">"),
        (payload(1), service, "<Hello xmlns=\"urn:hello\">"),
        (payload(2), service, "<Hola xmlns=\"urn:hello\">"),
        (payload(3), service, "<own xmlns:o=\"urn:own\">"),
    ] {
        let name = tag[1..].split([' ', '>']).next().unwrap();
        let text = write_with(&value(&[("name", "n")]), at, profile).unwrap();
        assert_eq!(text, format!("{tag}<name>n</name></{name}>"));
        read_with(&text, at, profile, &Limits::DEFAULT).unwrap();
        // Namespaces are never required.
        let bare = text.replace(tag, &format!("<{name}>"));
        read_with(&bare, at, profile, &Limits::DEFAULT).unwrap();
    }
}

#[test]
fn wrappers_both_ways() {
    let set = set();
    let at = set.find_shape("example#Plain").unwrap().root();
    let profile = XmlProfile::DEFAULT.with_namespace(Some((None, "urn:service")));
    let mut encoder = XmlEncoder::new(profile, Vec::new());
    encoder.open("PutResponse");
    encoder.open("PutResult");
    value(&[("name", "n")]).encode(at, &mut encoder);
    encoder.close("PutResult");
    encoder.open("ResponseMetadata");
    encoder.element("RequestId", "a&b");
    encoder.close("ResponseMetadata");
    encoder.close("PutResponse");
    let text = String::from_utf8(encoder.finish().unwrap()).unwrap();
    assert_eq!(
        text,
        "<PutResponse xmlns=\"urn:service\"><PutResult><name>n</name></PutResult>\
         <ResponseMetadata><RequestId>a&amp;b</RequestId></ResponseMetadata></PutResponse>"
    );
    let apart = text.replace(
        "<PutResult>",
        "<!-- c --><x:Other>1</x:Other>\n<PutResult a='1'>",
    );
    for text in [
        text.clone(),
        apart,
        text.replace("PutResult", "p:PutResult"),
    ] {
        let mut decoder = XmlDecoder::from_str(&text, profile, &Limits::DEFAULT).unwrap();
        assert_eq!(decoder.element(), "PutResponse");
        let path = ["ResponseMetadata", "RequestId"];
        assert_eq!(decoder.peek_text(&path).unwrap().as_deref(), Some("a&b"));
        assert_eq!(decoder.peek_text(&["PutResult", "none"]).unwrap(), None);
        assert_eq!(decoder.peek_text(&["Put"]).unwrap(), None);
        assert!(decoder.enter("PutResult").unwrap());
        assert_eq!(decoder.peek_text(&["name"]).unwrap().as_deref(), Some("n"));
        let read = Value::decode(at, &mut decoder).unwrap();
        decoder.finish().unwrap();
        assert_eq!(read, value(&[("name", "n")]));
    }
    // No result: an empty structure.
    for text in ["<R/>", "<R></R>", "<R><Other/></R>", "<R><PutResult/></R>"] {
        let mut decoder = XmlDecoder::from_str(text, profile, &Limits::DEFAULT).unwrap();
        assert_eq!(
            decoder.enter("PutResult").unwrap(),
            text.contains("PutResult")
        );
        let read = Value::decode(at, &mut decoder).unwrap();
        decoder.finish().unwrap();
        assert!(read.as_map().unwrap().is_empty());
    }
    // What stands around it has to be well formed too.
    for text in [
        "<R><PutResult/>",
        "<R><PutResult/></Q>",
        "<R><PutResult/><a></R>",
        "<R><PutResult/></R>x",
    ] {
        let mut decoder = XmlDecoder::from_str(text, profile, &Limits::DEFAULT).unwrap();
        decoder.enter("PutResult").unwrap();
        Value::decode(at, &mut decoder).unwrap();
        assert!(decoder.finish().is_err(), "{text}");
    }
}

#[test]
fn members_of_other_parts_stay_out() {
    let set = set();
    let at = set.find_shape("example#Bound").unwrap().root();
    let profile = XmlProfile::DEFAULT.with_part(polywire_schema::Part::Body(Direction::Request));
    let text = write_with(&value(&[("head", "h"), ("body", "b")]), at, profile).unwrap();
    assert_eq!(text, "<Bound><body>b</body></Bound>");
    let forged = "<Bound><head>forged</head><body>b</body></Bound>";
    let read = read_with(forged, at, profile, &Limits::DEFAULT).unwrap();
    assert_eq!(read, value(&[("body", "b")]));
}

#[test]
fn a_structure_without_an_element() {
    let set = set();
    let at = set.find_shape("example#Location").unwrap().root();
    let profile = XmlProfile::DEFAULT
        .with_unwrapped(true)
        .with_namespace(Some((None, "urn:s3")));
    let location = value(&[("LocationConstraint", "us-west-2")]);
    let text = write_with(&location, at, profile).unwrap();
    assert_eq!(
        text,
        "<LocationConstraint xmlns=\"urn:s3\">us-west-2</LocationConstraint>"
    );
    assert_eq!(
        read_with(&text, at, profile, &Limits::DEFAULT).unwrap(),
        location
    );
    let empty = read_with("<LocationConstraint/>", at, profile, &Limits::DEFAULT).unwrap();
    assert_eq!(empty, value(&[("LocationConstraint", "")]));
}

#[test]
fn attributes_of_the_callers_element() {
    let set = set();
    let at = set.find_shape("example#Failed").unwrap().root();
    let failed = value(&[("kind", "a\"b"), ("Message", "m")]);
    let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT, Vec::new());
    encoder.open("Error");
    failed.encode(at, &mut encoder);
    encoder.close("Error");
    let text = String::from_utf8(encoder.finish().unwrap()).unwrap();
    assert_eq!(
        text,
        "<Error kind=\"a&quot;b\"><Message>m</Message></Error>"
    );
    // Behind another element there is no place for them.
    let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT, Vec::new());
    encoder.open("Error");
    encoder.element("Code", "Failed");
    failed.encode(at, &mut encoder);
    encoder.close("Error");
    assert!(encoder.finish().is_err());
    assert!(shapes::root("Bucket").is_root());
}

#[test]
fn ends_and_beginnings() {
    let unbalanced = |run: fn(&mut XmlEncoder<'_>)| {
        let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT, Vec::new());
        run(&mut encoder);
        assert!(encoder.finish().is_err());
    };
    unbalanced(|encoder| encoder.open("a"));
    unbalanced(|encoder| encoder.close("a"));
    unbalanced(|encoder| {
        polywire_schema::Encoder::begin_structure(encoder, shapes::root("Bucket"), 0);
    });
}
