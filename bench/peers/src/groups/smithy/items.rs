//! DynamoDB's items for the peers of JSON and CBOR: the same types for all, with strings that are
//! owned or borrowed. Maps are vectors of pairs, as in our types, which costs the peers less than
//! hash maps.

use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(
    rename_all = "PascalCase",
    bound(deserialize = "S: Deserialize<'de>", serialize = "S: Serialize")
)]
pub(super) struct GetItemOutput<S> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<Pairs<S>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) consumed_capacity: Option<ConsumedCapacity<S>>,
}

#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(
    rename_all = "PascalCase",
    bound(deserialize = "S: Deserialize<'de>", serialize = "S: Serialize")
)]
pub(super) struct ConsumedCapacity<S> {
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub(super) table_name: Option<S>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) capacity_units: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) read_capacity_units: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) write_capacity_units: Option<f64>,
}

impl<S> Default for ConsumedCapacity<S> {
    fn default() -> Self {
        Self {
            table_name: None,
            capacity_units: None,
            read_capacity_units: None,
            write_capacity_units: None,
        }
    }
}

/// The default of a type that has none itself.
fn none<S>() -> Option<S> {
    None
}

/// The inputs of `GetItem` and `PutItem`, of which the cases have these members.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Input {
    pub(super) table_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<Pairs<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<Pairs<String>>,
}

#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>", serialize = "S: Serialize"))]
#[expect(clippy::upper_case_acronyms, reason = "the names of DynamoDB")]
pub(super) enum Attribute<S> {
    S(S),
    N(S),
    B(Binary),
    SS(Vec<S>),
    NS(Vec<S>),
    BS(Vec<Binary>),
    M(Pairs<S>),
    L(Vec<Self>),
    NULL(bool),
    BOOL(bool),
}

/// Bytes, which are base64 in JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binary(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Base64;

        impl Visitor<'_> for Base64 {
            type Value = Binary;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("base64")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Binary, E> {
                match base64_simd::STANDARD.decode_to_vec(text) {
                    Ok(bytes) => Ok(Binary(bytes)),
                    Err(error) => Err(E::custom(error)),
                }
            }
        }

        deserializer.deserialize_str(Base64)
    }
}

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64_simd::STANDARD.encode_to_string(&self.0))
    }
}

/// A map in the order of the wire.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pairs<S>(pub(super) Vec<(S, Attribute<S>)>);

impl<'de, S: Deserialize<'de>> Deserialize<'de> for Pairs<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<S>(PhantomData<S>);

        impl<'de, S: Deserialize<'de>> Visitor<'de> for Entries<S> {
            type Value = Pairs<S>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<S>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<S: Serialize> Serialize for Pairs<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
