//! The groups. Each adds the competitors to the cases of the gate's group of the same name.

mod codec;
mod model;
mod nostr;
pub(crate) mod rpc;
mod serde;
mod smithy;
mod text;
mod xmlrpc;

use polywire_gate::{GroupEntry, groups};

/// What the command line can name.
pub(crate) const GROUPS: &[GroupEntry] = &[
    GroupEntry {
        name: "codec",
        about: "typed codecs and `Value` beside serde_json",
        cases: codec::cases,
    },
    GroupEntry {
        name: "harness",
        about: "the harness measures itself, as in polywire-gate",
        cases: groups::harness::cases,
    },
    GroupEntry {
        name: "model",
        about: "files to a validated model, beside serde_json::Value and Smithy on the JVM",
        cases: model::cases,
    },
    GroupEntry {
        name: "nostr",
        about: "Nostr beside the nostr crate, sonic-rs and notepack, and the limits of its digest and signatures",
        cases: nostr::cases,
    },
    GroupEntry {
        name: "rpc",
        about: "small calls over frames beside tarpc, tonic, capnp-rpc and a raw echo",
        cases: rpc::cases,
    },
    GroupEntry {
        name: "serde",
        about: "types of serde in all formats, beside the crates for each",
        cases: serde::cases,
    },
    GroupEntry {
        name: "smithy",
        about: "Smithy's own benchmark cases beside smithy-java and the peers of each format",
        cases: smithy::cases,
    },
    GroupEntry {
        name: "text",
        about: "the primitives, beside the best crates for each job",
        cases: text::cases,
    },
    GroupEntry {
        name: "xmlrpc",
        about: "XML-RPC messages beside xmlrpc-c, Python and the crates for it",
        cases: xmlrpc::cases,
    },
];
