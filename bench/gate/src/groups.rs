//! The groups. A new one is a module here and a row in the table.

mod codec;
mod harness;
mod model;
mod rpc;
mod smithy;
mod text;
mod xmlrpc;

use crate::GroupEntry;
pub(crate) use rpc::serve_if_asked;

/// What the command line can name.
pub(crate) const GROUPS: &[GroupEntry] = &[
    GroupEntry {
        name: "codec",
        about: "what the encoder and decoder traits cost, against code written by hand",
        cases: codec::cases,
    },
    GroupEntry {
        name: "harness",
        about: "the harness measures itself: counts repeat and are right",
        cases: harness::cases,
    },
    GroupEntry {
        name: "model",
        about: "files to a validated model",
        cases: model::cases,
    },
    GroupEntry {
        name: "rpc",
        about: "small calls over frames, under load, beside other systems and a raw echo",
        cases: rpc::cases,
    },
    GroupEntry {
        name: "smithy",
        about: "Smithy's own benchmark cases, beside the peers of each format and smithy-java",
        cases: smithy::cases,
    },
    GroupEntry {
        name: "text",
        about: "the primitives: numbers, timestamps, escapes, hex, base64, lists, strings",
        cases: text::cases,
    },
    GroupEntry {
        name: "xmlrpc",
        about: "XML-RPC calls and responses, beside xmlrpc-c, Python and the crates for it",
        cases: xmlrpc::cases,
    },
];
