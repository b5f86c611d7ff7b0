//! Generated types through formats, against `Value`, and borrowed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::borrow::Cow;

use generated::library::{self, Book, Genre, Rank, Shelf};
use generated::{library_borrowed, library_vectors};
use polywire::codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire::codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire::codec::xml::{XmlDecoder, XmlProfile};
use polywire::schema::{Body, Decode, Encode, Error, Limits, Member, Value};

fn root() -> Member<'static> {
    let shape = library::schemas().find_shape("example.library#Book");
    shape.unwrap().root()
}

fn to_json<T: Encode>(value: &T) -> String {
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    value.encode(root(), &mut encoder);
    String::from_utf8(encoder.finish().unwrap()).unwrap()
}

fn from_json<'de, T: Decode<'de>>(body: &'de Body) -> T {
    let mut decoder = JsonDecoder::from_body(body, JsonProfile::HUMAN, &Limits::DEFAULT).unwrap();
    let value = T::decode(root(), &mut decoder).unwrap();
    decoder.finish().unwrap();
    value
}

const BOOKS: [&str; 4] = [
    r#"{"id":"1","title":"T","genre":"NOVEL","pages":100}"#,
    r#"{"id":"2","title":"Something longer than twenty-three bytes","genre":"short-story","rank":10,"pages":5,"ratio":0.5,"cover":"AAE=","shelf":{"genres":["NOVEL","unheard of"]},"notes":{"k":"v","l":"w"},"tags":[],"sparse":[1,null,3],"byGenre":{"NOVEL":2},"previous":{"id":"0","title":"","genre":"x","pages":1},"sequels":[],"type":"t","self":false,"isHTTP2":true,"extra":{"a":[1,"b",null]}}"#,
    r#"{"id":"3","title":"\n","genre":"non fiction","rank":7,"pages":-1,"shelf":{"away":{}}}"#,
    r#"{"id":"4","title":"U","genre":"NOVEL","pages":1,"moves":[{"number":1},{"name":"left of the door, at the very top"},{"away":{}},{"inside":{"id":"5","title":"V","genre":"NOVEL","pages":2,"moves":[{"name":"x"}]}}],"copies":{"a room whose name is long enough":{"number":-2},"attic":{"genres":[]},"hall":{"name":"floor"}}}"#,
];

#[test]
fn types_write_what_values_do() {
    for json in BOOKS {
        let body = Body::from(json.as_bytes().to_vec());
        let typed: Book = from_json(&body);
        let value: Value = from_json(&body);
        assert_eq!(to_json(&typed), to_json(&value));
        assert_eq!(to_json(&typed), json);

        let mut encoder = CborEncoder::new(Vec::new());
        typed.encode(root(), &mut encoder);
        let cbor = Body::from(encoder.finish().unwrap());
        let mut decoder =
            CborDecoder::from_body(&cbor, CborProfile::DEFAULT, &Limits::DEFAULT).unwrap();
        assert_eq!(Book::decode(root(), &mut decoder).unwrap(), typed);
    }
}

#[test]
fn unknown_variants_are_kept() {
    let book: Book = from_json(&Body::from(BOOKS[1].as_bytes().to_vec()));
    let genres = book.shelf.as_ref().and_then(Shelf::as_genres).unwrap();
    assert_eq!(genres[0], Genre::Novel);
    assert_eq!(genres[1], Genre::Unknown("unheard of".into()));
    let book: Book = from_json(&Body::from(BOOKS[2].as_bytes().to_vec()));
    assert_eq!(book.rank, Some(Rank::Unknown(7)));
    assert_eq!(book.rank.map(Rank::as_i32), Some(7));
    assert_eq!(book.shelf, Some(Shelf::Away));
}

/// What a client reads, which takes variants that its model does not have.
fn read<T: for<'de> Decode<'de>>(json: &str) -> Result<T, Error> {
    let body = Body::from(json.as_bytes().to_vec());
    let profile = JsonProfile::DEFAULT.for_client();
    let mut decoder = JsonDecoder::from_body(&body, profile, &Limits::DEFAULT)?;
    T::decode(root(), &mut decoder)
}

const NEWER: &str = r#"{"id":"1","title":"","moves":[{"name":"a"},{"newer":{"x":[1]}},{"number":2}],
    "copies":{"c":{"newer":1},"b":{"name":"c"},"a":{"away":{}}}}"#;

#[test]
fn unions_are_read_where_they_stand() {
    let book: Book = read(NEWER).unwrap();
    let moves = [Shelf::Name("a".into()), Shelf::Unknown, Shelf::Number(2)];
    assert_eq!(book.moves.unwrap(), moves);
    let copies = book.copies.unwrap();
    assert_eq!(copies["c"], Shelf::Unknown);
    assert_eq!(copies["b"], Shelf::Name("c".into()));
    // One that is begun and not ended well is no value.
    for (json, expected) in [
        (
            r#"[{"name":"a long name that is kept elsewhere"},{"name":"b","number":1}]"#,
            "one member",
        ),
        (r#"[{"name":"a"},{"name":["b"]}]"#, "a string"),
        (r#"[{"name":"a"},{}]"#, "one member"),
        (r#"[{"name":"a"},{"name":"b""#, "member"),
    ] {
        let json = format!(r#"{{"id":"1","title":"","moves":{json}"#);
        for error in [
            read::<Book>(&json).unwrap_err(),
            read::<library_vectors::Book>(&json).unwrap_err(),
        ] {
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.to_string().contains("moves[1]"), "{error}");
        }
    }
}

#[test]
fn maps_as_vectors_keep_the_order_of_the_wire() {
    use library_vectors::{Book, Shelf};

    for json in BOOKS {
        let book: Book = from_json(&Body::from(json.as_bytes().to_vec()));
        assert_eq!(to_json(&book), json);
        let mut encoder = CborEncoder::new(Vec::new());
        book.encode(root(), &mut encoder);
        let cbor = Body::from(encoder.finish().unwrap());
        let mut decoder =
            CborDecoder::from_body(&cbor, CborProfile::DEFAULT, &Limits::DEFAULT).unwrap();
        assert_eq!(Book::decode(root(), &mut decoder).unwrap(), book);
    }
    let book: Book = read(NEWER).unwrap();
    let copies = [
        ("c".into(), Shelf::Unknown),
        ("b".into(), Shelf::Name("c".into())),
        ("a".into(), Shelf::Away),
    ];
    assert_eq!(book.copies.unwrap(), copies);
    for json in [
        r#"{"id":"1","title":"","copies":{"a":{"number":1},"b":{"number":1},"a":{"number":1}}}"#,
        r#"{"id":"1","title":"","notes":{"a":"1","a":"1"}}"#,
    ] {
        let error = read::<Book>(json).unwrap_err();
        assert!(error.to_string().contains("each key once"), "{error}");
    }
}

/// A flattened map of XML comes in parts, which are one map.
#[test]
fn parts_of_maps_are_compared_at_the_end() {
    let read = |keys: &[&str]| {
        let entry = |key: &&str| {
            format!("<copies><key>{key}</key><value><number>1</number></value></copies><x/>")
        };
        let entries: String = keys.iter().map(entry).collect();
        let text = format!("<Book><id>1</id><title>T</title>{entries}</Book>");
        let profile = XmlProfile::DEFAULT.for_client();
        let mut decoder = XmlDecoder::from_str(&text, profile, &Limits::DEFAULT)?;
        let book = library_vectors::Book::decode(root(), &mut decoder)?;
        let copies = book.copies.unwrap_or_default();
        Ok::<_, Error>(copies.into_iter().map(|(key, _)| key).collect::<Vec<_>>())
    };
    assert_eq!(read(&["b", "a", "c"]).unwrap(), ["b", "a", "c"]);
    for keys in [&["b", "b"][..], &["b", "a", "c", "b"]] {
        let error = read(keys).unwrap_err();
        assert!(error.to_string().contains("each key once"), "{error}");
    }
}

#[test]
fn borrowed_types_point_into_the_message() {
    let body = Body::from(BOOKS[1].as_bytes().to_vec());
    let book: library_borrowed::Book<'_> = from_json(&body);
    assert!(matches!(book.title, Cow::Borrowed(_)), "{book:?}");
    assert_eq!(to_json(&book), BOOKS[1]);
    let body = Body::from(BOOKS[2].as_bytes().to_vec());
    let book: library_borrowed::Book<'_> = from_json(&body);
    // An escape has no place to point at.
    assert!(matches!(book.title, Cow::Owned(_)), "{book:?}");
}
