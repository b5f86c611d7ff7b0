//! Protocols: encoding and decoding the messages of operations, without I/O.
//!
//! A [`Protocol`] encodes the input of an operation as an HTTP request and its output or a
//! [`Fault`] as a response, and decodes both. Clients and servers use the same types. The crate
//! opens no sockets and reads no clock. Heads are the types of the `http` crate, and bodies are
//! bytes.
//!
//! | protocol | file | how a server recognizes requests |
//! |---|---|---|
//! | [`AwsJson1_0`], [`AwsJson1_1`] | `aws_json.rs` | their content types |
//! | [`AwsQuery`] | `aws_query.rs` | a form, or `Action` in the query |
//! | [`Ec2Query`] | `ec2_query.rs` | the same |
//! | [`JsonRpc`] | `json_rpc/` | the path `/jsonrpc` |
//! | [`RestJson1`] | `rest_json.rs` | requests that no other protocol claims |
//! | [`RestXml`] | `rest_xml.rs` | the media types `application/xml` and `text/xml`, and requests that no other protocol claims |
//! | [`RpcV2Cbor`] | `rpc_v2_cbor.rs` | the header `smithy-protocol: rpc-v2-cbor` |
//! | [`RpcV2Json`] | `rpc_v2_json.rs` | the header `smithy-protocol: rpc-v2-json` |
//! | [`XmlRpc`] | `xml_rpc/` | the path `/RPC2` |
//!
//! `rest/` contains the code that REST protocols share (labels, queries, headers, payloads,
//! routing), `rpc/` that of RPC protocols, and `query/` that of the query protocols.
#![forbid(unsafe_code)]

mod aws_json;
mod aws_query;
mod coding;
mod detect;
mod document;
mod ec2_query;
mod endpoint;
mod endpoint_path;
mod error_info;
pub mod event_stream;
mod fault;
mod frame;
mod gzip;
mod gzip_stream;
mod intern;
mod json_rpc;
mod kind;
mod media;
mod mount_error;
mod operation_table;
mod payload_stream;
mod protocol;
mod query;
mod request;
mod request_id;
mod rest;
mod rest_json;
mod rest_xml;
mod rpc;
mod rpc_v2_cbor;
mod rpc_v2_json;
pub mod s3;
pub mod scgi;
mod size;
mod size_hint;
mod token;
mod validate;
mod xml_rpc;

pub use aws_json::{AwsJson1_0, AwsJson1_1};
pub use aws_query::AwsQuery;
pub use coding::{decode_content, decodes_gzip};
pub use detect::{Claim, Conflict, HeadSummary, conflict, detect};
pub use ec2_query::Ec2Query;
pub use fault::{Fault, FaultKind, QueryError, Retry};
pub use frame::Frame;
pub use gzip::{GzipDecompressor, GzipError, decompress_gzip};
pub use json_rpc::{JsonRpc, ResponseId};
pub use kind::ProtocolKind;
pub use media::{charset, check_coding};
pub use payload_stream::PayloadStream;
pub use protocol::{
    BatchEntry, BatchOutcome, CallBatch, ClientProtocol, FromService, HostPrefix, MountError,
    Outcome, Plan, Protocol, ProtocolInfo, ReadPlan, Route, ServerProtocol,
};
pub use request::{RequestOptions, finish_request};
pub use rest::{Pattern, PatternError, Segment};
pub use rest_json::RestJson1;
pub use rest_xml::RestXml;
pub use rpc_v2_cbor::RpcV2Cbor;
pub use rpc_v2_json::RpcV2Json;
pub use size::InputMemory;
pub use token::WithToken;
pub use validate::{UncheckedPattern, Validator, read_input};
pub use xml_rpc::{XmlRpc, fault_code, fault_of_code};
