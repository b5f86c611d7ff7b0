//! Smithy's wires: the cases of Smithy's own serialisation benchmarks, which
//! smithy-java publishes figures of, read and written by types as a code
//! generator would write them and through `Value`. Answers are checked against
//! the parameters that come with the cases. A file a format.

mod shapes;
mod xml;
mod xml_peers;

use polywire_bench::{Group, Quote};

pub(crate) fn cases(group: &mut Group) {
    xml::cases(group);
}

/// What smithy-java's native codecs took on the machine of our other figures,
/// the message's head included.
fn smithy_java(nanoseconds: f64) -> Quote {
    Quote::new("smithy-java", "its codec benchmarks, run on these machines")
        .nanoseconds(nanoseconds)
}
