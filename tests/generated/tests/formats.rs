//! Generated types through formats, against `Value`, and borrowed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::borrow::Cow;

use generated::library::{self, Book, Genre, Rank, Shelf};
use generated::library_borrowed;
use polywire::codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire::codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire::schema::{Body, Decode, Encode, Limits, Member, Value};

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

const BOOKS: [&str; 3] = [
    r#"{"id":"1","title":"T","genre":"NOVEL","pages":100}"#,
    r#"{"id":"2","title":"Something longer than twenty-three bytes","genre":"short-story","rank":10,"pages":5,"ratio":0.5,"cover":"AAE=","shelf":{"genres":["NOVEL","unheard of"]},"notes":{"k":"v","l":"w"},"tags":[],"sparse":[1,null,3],"byGenre":{"NOVEL":2},"previous":{"id":"0","title":"","genre":"x","pages":1},"sequels":[],"type":"t","self":false,"isHTTP2":true,"extra":{"a":[1,"b",null]}}"#,
    r#"{"id":"3","title":"\n","genre":"non fiction","rank":7,"pages":-1,"shelf":{"away":{}}}"#,
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
