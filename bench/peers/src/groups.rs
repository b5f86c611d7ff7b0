//! The groups. Each adds the competitors to the cases of the gate's group of the same name.

pub(crate) mod rpc;
mod smithy;
mod xmlrpc;

use polywire_gate::GroupEntry;

/// What the command line can name.
pub(crate) const GROUPS: &[GroupEntry] = &[
    GroupEntry {
        name: "rpc",
        about: "small calls over frames beside tarpc, tonic, capnp-rpc and a raw echo",
        cases: rpc::cases,
    },
    GroupEntry {
        name: "smithy",
        about: "Smithy's own benchmark cases beside smithy-java and the peers of each format",
        cases: smithy::cases,
    },
    GroupEntry {
        name: "xmlrpc",
        about: "XML-RPC messages beside xmlrpc-c, Python and the crates for it",
        cases: xmlrpc::cases,
    },
];
