//! What the fuzz targets check: a function each, from any bytes to a panic
//! when something does not hold.
//!
//! They stand apart from libFuzzer so that the test `corpus` of the crate
//! `polywire` calls the same functions with every file of the corpora.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "panics are how a target reports what it finds"
)]

mod alike;
mod calls;
mod compressed;
mod constraints;
mod events;
mod forms;
mod frames;
mod models;
mod nostr;
mod readers;
mod requests;
mod scgi;
mod selectors;
mod text;

/// As JSON.
pub fn json(data: &[u8]) {
    readers::json(data);
}

/// As CBOR.
pub fn cbor(data: &[u8]) {
    readers::cbor(data);
}

/// As a form.
pub fn form(data: &[u8]) {
    forms::any(data);
}

/// As XML.
pub fn xml(data: &[u8]) {
    readers::xml(data);
}

/// As a call of XML-RPC.
pub fn xmlrpc_call(data: &[u8]) {
    readers::xmlrpc_call(data);
}

/// As a response or fault of XML-RPC.
pub fn xmlrpc_response(data: &[u8]) {
    readers::xmlrpc_response(data);
}

/// As a batch of calls of XML-RPC, and as the results of one.
pub fn xmlrpc_multicall(data: &[u8]) {
    calls::multicall(data);
}

/// As a call of XML-RPC whose parameters are types of serde.
pub fn xmlrpc_typed(data: &[u8]) {
    calls::typed(data);
}

/// As a fault of XML-RPC, for the client of a service.
pub fn xmlrpc_fault(data: &[u8]) {
    requests::fault(data);
}

/// As the head of a request and of a response of SCGI.
pub fn scgi_head(data: &[u8]) {
    scgi::any(data);
}

/// As messages of an event stream.
pub fn event_stream(data: &[u8]) {
    events::any(data);
}

/// As a model in Smithy's IDL.
pub fn model_idl(data: &[u8]) {
    models::load("fuzz.smithy", data);
}

/// As a model in Smithy's JSON AST.
pub fn model_ast(data: &[u8]) {
    models::load("fuzz.json", data);
}

/// As a selector, evaluated over the service that requests go to.
pub fn selector(data: &[u8]) {
    selectors::any(data);
}

/// As a request to a service: a line of method and target, lines of headers,
/// an empty line, and the body.
pub fn http_request(data: &[u8]) {
    requests::any(data);
}

/// As hex and base64, by every policy.
pub fn text_hex(data: &[u8]) {
    text::hex::any(data);
}

/// As a JSON string and as bytes to escape.
pub fn text_json(data: &[u8]) {
    text::json::any(data);
}

/// As quoted strings, arrays and lists.
pub fn text_list(data: &[u8]) {
    text::list::any(data);
}

/// As integers and floating-point numbers.
pub fn text_number(data: &[u8]) {
    text::number::any(data);
}

/// As a sequence of operations on `Text` and `Blob`.
pub fn text_string(data: &[u8]) {
    text::string::any(data);
}

/// As a timestamp in every form.
pub fn text_timestamp(data: &[u8]) {
    text::timestamp::any(data);
}

/// As percent-encoding and forms.
pub fn text_percent(data: &[u8]) {
    text::percent::any(data);
}

/// As XML text and attributes.
pub fn text_xml(data: &[u8]) {
    text::xml::any(data);
}

/// As a body in gzip, and as one that is compressed.
pub fn gzip(data: &[u8]) {
    compressed::any(data);
}

/// As an input in JSON whose constraints are checked.
pub fn validator(data: &[u8]) {
    constraints::any(data);
}

/// As what a client of frames sends.
pub fn frames_server(data: &[u8]) {
    frames::server(data);
}

/// As what a server of frames sends.
pub fn frames_client(data: &[u8]) {
    frames::client(data);
}

/// As datagrams for both sides.
pub fn frames_datagrams(data: &[u8]) {
    frames::datagrams(data);
}

/// Parses the input as a Nostr event in the binary storage form.
pub fn nostr_binary(data: &[u8]) {
    nostr::binary::any(data);
}

/// Parses the input as a Nostr event with every profile.
pub fn nostr_event(data: &[u8]) {
    nostr::event::any(data);
}

/// Parses the first line as a Nostr filter, and the other lines as events to match.
pub fn nostr_filter(data: &[u8]) {
    nostr::filter::any(data);
}

/// Parses the input as a Nostr message of a client and of a relay.
pub fn nostr_message(data: &[u8]) {
    nostr::message::any(data);
}

/// Parses the input as a Negentropy message, and as two sets to reconcile.
pub fn nostr_negentropy(data: &[u8]) {
    nostr::negentropy::any(data);
}

/// Decodes the input as a NIP-19 entity, and as the contents of one.
pub fn nostr_nip19(data: &[u8]) {
    nostr::names::any(data);
}

/// Decrypts the input as a NIP-44 payload, and encrypts it as a plaintext.
pub fn nostr_nip44(data: &[u8]) {
    nostr::nip44::any(data);
}
