//! A structure for forms.

use std::collections::BTreeMap;

use polywire_schema::Text;

use super::Node;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QueryInput {
    pub(crate) name: Option<Text>,
    pub(crate) foo: Option<Vec<Text>>,
    pub(crate) flat: Option<Vec<Text>>,
    pub(crate) renamed: Option<Vec<i64>>,
    pub(crate) map: Option<BTreeMap<Text, i64>>,
    pub(crate) flat_map: Option<BTreeMap<Text, i64>>,
    pub(crate) node: Option<Node>,
    pub(crate) nodes: Option<Vec<Node>>,
}

super::optional_members!(QueryInput {
    name,
    foo,
    flat,
    renamed,
    map,
    flat_map,
    node,
    nodes,
});
