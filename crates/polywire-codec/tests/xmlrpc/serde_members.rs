//! Members of structures that are `None`: what is written is read back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{typed, written};

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Wrapped(Option<i32>);

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
struct Transparent(Option<i32>);

fn member(name: &str, value: &str) -> String {
    format!("<member><name>{name}</name><value>{value}</value></member>")
}

#[test]
fn an_option_is_left_out() {
    #[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
    struct Options {
        plain: Option<i32>,
        boxed: Box<Option<i32>>,
        transparent: Transparent,
        nested: Option<Option<i32>>,
    }

    let none = Options::default();
    assert_eq!(written(&none).unwrap(), "<struct></struct>");
    assert_eq!(typed::<Options>("<struct></struct>").unwrap(), none);
    // Nil is read as the same.
    let nil = ["plain", "boxed", "transparent", "nested"]
        .map(|name| member(name, "<nil/>"))
        .concat();
    assert_eq!(
        typed::<Options>(&format!("<struct>{nil}</struct>")).unwrap(),
        none
    );
}

/// serde takes only options for missing, so that of a newtype around one a nil must tell.
#[test]
fn a_newtype_of_an_option_is_nil() {
    #[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
    struct Newtypes {
        wrapped: Wrapped,
        optional: Option<Wrapped>,
    }

    let none = Newtypes::default();
    let inside = format!("<struct>{}</struct>", member("wrapped", "<nil/>"));
    assert_eq!(written(&none).unwrap(), inside);
    assert_eq!(typed::<Newtypes>(&inside).unwrap(), none);
    assert!(typed::<Newtypes>("<struct></struct>").is_err());

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    enum Variant {
        Structure {
            wrapped: Wrapped,
            plain: Option<i32>,
        },
    }
    let variant = Variant::Structure {
        wrapped: Wrapped(None),
        plain: None,
    };
    let again: Variant = typed(&written(&variant).unwrap()).unwrap();
    assert_eq!(again, variant);
}

/// `Some(None)` is there, and nil: types that tell it from `None` can do so.
#[test]
fn some_of_none_is_nil() {
    fn some<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<i32>>, D::Error> {
        Deserialize::deserialize(deserializer).map(Some)
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Change {
        #[serde(default, deserialize_with = "some")]
        to: Option<Option<i32>>,
    }
    for (to, inside) in [
        (None, String::new()),
        (Some(None), member("to", "<nil/>")),
        (Some(Some(1)), member("to", "<int>1</int>")),
    ] {
        let inside = format!("<struct>{inside}</struct>");
        let change = Change { to };
        assert_eq!(written(&change).unwrap(), inside);
        assert_eq!(typed::<Change>(&inside).unwrap(), change);
    }
}

/// A map without the key would be another map; and serde gives structures with
/// `flatten` as maps.
#[test]
fn maps_and_flattened_structures_write_nil() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Outer {
        id: Option<i32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(flatten)]
        inner: Inner,
        #[serde(flatten)]
        rest: BTreeMap<String, Option<i32>>,
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Inner {
        note: Option<String>,
        wrapped: Wrapped,
    }

    let map = BTreeMap::from([("a".to_owned(), None), ("b".to_owned(), Some(1))]);
    let inside = format!(
        "<struct>{}{}</struct>",
        member("a", "<nil/>"),
        member("b", "<int>1</int>")
    );
    assert_eq!(written(&map).unwrap(), inside);
    assert_eq!(
        typed::<BTreeMap<String, Option<i32>>>(&inside).unwrap(),
        map
    );

    let outer = Outer {
        id: None,
        name: None,
        inner: Inner {
            note: None,
            wrapped: Wrapped(None),
        },
        rest: map,
    };
    let inside = written(&outer).unwrap();
    assert!(inside.starts_with(&format!("<struct>{}", member("id", "<nil/>"))));
    assert!(!inside.contains("name>name"), "{inside}");
    assert_eq!(typed::<Outer>(&inside).unwrap(), outer);
    // Read, they may be left out as well.
    let inside = format!("<struct>{}</struct>", member("wrapped", "<nil/>"));
    assert_eq!(typed::<Outer>(&inside).unwrap().inner.note, None);
}

/// What `with` writes cannot be told from an option, and derived code takes it for
/// missing only with a default.
#[test]
fn a_field_with_code_of_its_own_needs_a_default() {
    mod doubled {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        #[expect(clippy::ref_option, reason = "serde gives it so")]
        pub(super) fn serialize<S: Serializer>(
            value: &Option<i32>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            value.map(|value| value * 2).serialize(serializer)
        }

        pub(super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<i32>, D::Error> {
            Ok(Option::<i32>::deserialize(deserializer)?.map(|value| value / 2))
        }
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Default {
        #[serde(default, with = "doubled")]
        value: Option<i32>,
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Strict {
        #[serde(with = "doubled")]
        value: Option<i32>,
    }

    for value in [None, Some(4)] {
        let one = Default { value };
        assert_eq!(typed::<Default>(&written(&one).unwrap()).unwrap(), one);
    }
    let error = typed::<Strict>(&written(&Strict { value: None }).unwrap()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("missing: expected the member `value`"),
        "{error}"
    );
}
