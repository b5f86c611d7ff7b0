//! Smithy's wires: the cases of Smithy's own serialisation benchmarks, which
//! smithy-java publishes figures of, read and written by types as a code
//! generator would write them and through `Value`. Answers are checked against
//! the parameters that come with the cases. A file a format.

#[cfg(smithy_model)]
mod body;
#[cfg(smithy_model)]
mod form_peers;
mod growth;
#[cfg(smithy_model)]
mod items;
#[cfg(smithy_model)]
mod items_cbor;
#[cfg(smithy_model)]
mod items_json;
#[cfg(smithy_model)]
mod manifest;
#[cfg(smithy_model)]
mod message;
mod shapes;
#[cfg(smithy_model)]
mod types;
mod xml;
mod xml_peers;

use crate::{Group, Quote};

/// Where the generated code finds Polywire.
#[cfg(smithy_model)]
mod polywire {
    pub(crate) use polywire_schema as schema;
}

pub(crate) fn cases(group: &mut Group) {
    #[cfg(smithy_model)]
    manifest::cases(group);
    #[cfg(not(smithy_model))]
    group.skip(
        "the cases of the manifest",
        "their model was not there when this was built",
    );
    xml::cases(group);
    growth::cases(group);
}

/// What smithy-java's native codecs took on the machine of our other figures,
/// the message's head included.
fn smithy_java(nanoseconds: f64) -> Quote {
    Quote::new("smithy-java", "its codec benchmarks, run on these machines")
        .nanoseconds(nanoseconds)
}
