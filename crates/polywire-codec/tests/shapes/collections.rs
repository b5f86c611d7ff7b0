//! Lists and maps, dense and sparse, of everything.

use std::collections::{BTreeMap, HashMap};

use polywire_schema::{Blob, Text, Timestamp, Value};

use super::Node;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Collections {
    pub(crate) dense: Option<Vec<Text>>,
    pub(crate) sparse: Option<Vec<Option<Text>>>,
    pub(crate) matrix: Option<Vec<Vec<i32>>>,
    pub(crate) counts: Option<BTreeMap<Text, i64>>,
    pub(crate) sparse_counts: Option<BTreeMap<Text, Option<i64>>>,
    pub(crate) nodes: Option<BTreeMap<Text, Node>>,
    pub(crate) blobs: Option<Vec<Blob>>,
    pub(crate) times: Option<Vec<Timestamp>>,
    pub(crate) documents: Option<Vec<Value>>,
    pub(crate) sparse_nodes: Option<Vec<Option<Node>>>,
    pub(crate) grouped: Option<BTreeMap<Text, Vec<Text>>>,
    pub(crate) booleans: Option<Vec<bool>>,
    pub(crate) doubles: Option<HashMap<String, f64>>,
    pub(crate) documents_by_key: Option<BTreeMap<Text, Value>>,
}

super::optional_members!(Collections {
    dense,
    sparse,
    matrix,
    counts,
    sparse_counts,
    nodes,
    blobs,
    times,
    documents,
    sparse_nodes,
    grouped,
    booleans,
    doubles,
    documents_by_key,
});
