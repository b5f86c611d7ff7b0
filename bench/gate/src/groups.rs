//! The groups. A new one is a module here and a row in the table.

pub mod codec;
pub mod harness;
pub mod model;
pub mod rpc;
pub mod serde;
pub mod smithy;
pub mod text;
pub mod xmlrpc;

use crate::GroupEntry;

/// What the command line can name.
pub const GROUPS: &[GroupEntry] = &[
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
        name: "serde",
        about: "types of serde in all formats",
        cases: serde::cases,
    },
    GroupEntry {
        name: "smithy",
        about: "Smithy's own benchmark cases over five protocols",
        cases: smithy::cases,
    },
    GroupEntry {
        name: "text",
        about: "the primitives: numbers, timestamps, escapes, base64, lists, UTF-8, strings",
        cases: text::cases,
    },
    GroupEntry {
        name: "xmlrpc",
        about: "XML-RPC messages through Value and serde, and calls through a server",
        cases: xmlrpc::cases,
    },
    // Last, because their counts do not repeat exactly: hash maps with random seeds change where
    // the allocator finds room, and with it the counts of the groups that run later.
    GroupEntry {
        name: "rpc",
        about: "small calls over frames: instructions and allocations of client and server",
        cases: rpc::cases,
    },
    GroupEntry {
        name: "model",
        about: "files to a validated model",
        cases: model::cases,
    },
];
