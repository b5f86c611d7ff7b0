//! Shapes with XML's traits.

use std::collections::BTreeMap;

use polywire_schema::{Text, Timestamp};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bucket {
    pub(crate) name: Option<Text>,
    pub(crate) owner: Option<Grantee>,
    pub(crate) contents: Option<Vec<Entry>>,
    pub(crate) prefixes: Option<Vec<Text>>,
    pub(crate) parts: Option<Vec<i64>>,
    pub(crate) tags: Option<BTreeMap<Text, Text>>,
    pub(crate) labels: Option<BTreeMap<Text, Text>>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) qualified: Option<Text>,
}

super::optional_members!(Bucket {
    name,
    owner,
    contents,
    prefixes,
    parts,
    tags,
    labels,
    created,
    qualified,
});

/// Attributes come first in the schema, so they do here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grantee {
    pub(crate) kind: Option<Text>,
    pub(crate) size: Option<i64>,
    pub(crate) display_name: Option<Text>,
}

super::optional_members!(Grantee {
    kind,
    size,
    display_name,
});

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Option<Text>,
    pub(crate) size: Option<i64>,
}

super::optional_members!(Entry { key, size });
