//! Operations as messages, without I/O.
//!
//! A [`Protocol`] turns an operation and its input into an HTTP request and
//! back, and an output or a [`Fault`] into a response and back, for servers
//! and clients alike. It opens no socket and reads no clock: heads are the
//! types of the `http` crate, bodies are bytes.
//!
//! | protocol | file | how it is told apart |
//! |---|---|---|
//! | [`AwsJson1_0`], [`AwsJson1_1`] | `aws_json.rs` | their content types |
//! | [`AwsQuery`] | `aws_query.rs` | a form, or `Action` in the query |
//! | [`Ec2Query`] | `ec2_query.rs` | the same |
//! | [`JsonRpc`] | `json_rpc/` | the path `/jsonrpc` |
//! | [`RestJson1`] | `rest_json.rs` | everything that nobody else claims |
//! | [`RestXml`] | `rest_xml.rs` | the media types `application/xml` and `text/xml`, and everything that nobody else claims |
//! | [`RpcV2Cbor`] | `rpc_v2_cbor.rs` | the header `smithy-protocol: rpc-v2-cbor` |
//! | [`RpcV2Json`] | `rpc_v2_json.rs` | the header `smithy-protocol: rpc-v2-json` |
//! | [`XmlRpc`] | `xml_rpc.rs` | the path `/RPC2` |
//!
//! What REST protocols share (labels, queries, headers, payloads, routing)
//! stands in `rest/`, once; what RPC protocols share in `rpc/`, and the query
//! protocols in `query/`.
#![forbid(unsafe_code)]

mod aws_json;
mod aws_query;
mod coding;
mod detect;
mod ec2_query;
mod endpoint;
mod error_facts;
mod fault;
mod frame;
mod gzip;
mod json_rpc;
mod kept;
mod kind;
mod media;
mod protocol;
mod query;
mod request;
mod request_id;
mod rest;
mod rest_json;
mod rest_xml;
mod room;
mod rpc;
mod rpc_v2_cbor;
mod rpc_v2_json;
pub mod s3;
pub mod scgi;
mod size;
mod token;
mod validate;
mod xml_rpc;

pub use aws_json::{AwsJson1_0, AwsJson1_1};
pub use aws_query::AwsQuery;
pub use coding::decode_content;
pub use detect::{Claim, Conflict, HeadSummary, conflict, detect};
pub use ec2_query::Ec2Query;
pub use fault::{Fault, FaultKind, QueryError, Retry};
pub use frame::Frame;
pub use gzip::{GzipDecompressor, GzipError, decompress_gzip};
pub use json_rpc::{JsonRpc, ResponseId};
pub use kind::ProtocolKind;
pub use media::{charset, check_coding};
pub use protocol::{
    BatchEntry, BatchOutcome, CallBatch, ClientProtocol, FromService, HostPrefix, MountError,
    OfKind, Outcome, Plan, Protocol, ReadPlan, Route, ServerProtocol,
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
