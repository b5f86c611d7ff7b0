//! Writes the client module.

use crate::names::Scope;
use crate::pagination::type_in_submodule;
use crate::plan::{Operation, Plan};
use crate::protocols;
use crate::source::Source;

use super::structure::allow_self_convention;
use super::{brief, doc};

pub(super) fn write(source: &mut Source, plan: &Plan<'_>) {
    let root = &plan.settings.root;
    let service = plan.closure.service();
    source.blank();
    source.line("/// Client of the service.");
    source.open("pub mod client {");
    source.line(format!(
        "/// A client of `{}`. Clones share connections.",
        service.id()
    ));
    source.line("#[derive(Clone, Debug)]");
    source.open("pub struct Client {");
    source.line(format!("inner: {root}::rpc::Client,"));
    source.close("}");
    source.blank();
    source.line(
        "/// Creates a client of a server that uses a protocol. The URL is `http://host:port`, or",
    );
    source.line("/// `tcp://host:port` for frames.");
    source.line("///");
    source.line("/// # Errors");
    source.line("///");
    source.line(
        "/// Returns an error if the URL is invalid or the protocol does not support the service.",
    );
    source.signature(
        "pub fn connect",
        &[
            "url: &str",
            &format!("kind: {root}::protocol::ProtocolKind"),
        ],
        &format!(" -> Result<Client, {root}::rpc::client::ConnectError> {{"),
    );
    source.line("Ok(Client::new(builder(kind).connect(url)?))");
    source.close("}");
    source.blank();
    source.line("/// Returns a builder with settings such as deadlines, limits and headers. Pass the client that");
    source.line("/// it builds to [`Client::new`].");
    source.signature(
        "pub fn builder",
        &[&format!("kind: {root}::protocol::ProtocolKind")],
        &format!(" -> {root}::rpc::ClientBuilder {{"),
    );
    if plan.protocols.len() == protocols::ALL.len() {
        source.line(format!(
            "{root}::rpc::Client::builder(super::service(), kind)"
        ));
    } else {
        known_protocols(source, plan);
    }
    source.close("}");
    source.blank();
    source.line(
        "/// Creates a client that uses frames. Endpoints, flow control, retries and deadline are those",
    );
    source.line("/// of the frame client.");
    source.line("#[must_use]");
    source.signature(
        "pub fn over_frames",
        &[&format!("frames: {root}::rpc::frames::Client")],
        " -> Client {",
    );
    source.line(format!(
        "let inner = {root}::rpc::Client::over_frames(super::service(), frames);"
    ));
    source.line("Client::new(inner)");
    source.close("}");
    source.blank();
    source.open("impl Client {");
    source.line("/// Wraps a client that was built for this service.");
    source.line("#[must_use]");
    source.open(format!(
        "pub const fn new(inner: {root}::rpc::Client) -> Self {{"
    ));
    source.line("Self { inner }");
    source.close("}");
    let mut methods = Scope::with(&["new", "clone"]);
    let mut names = Scope::with(&["Client"]);
    let mut types = Vec::new();
    for operation in &plan.operations {
        let name = names.claim(&[operation.name.clone(), format!("{}Call", operation.name)]);
        source.blank();
        let fallback = format!("Calls `{}`.", operation.name);
        doc(source, Some(operation.shape.traits()), &fallback);
        let method = format!("{}_", operation.method);
        let method = methods.claim(&[operation.method.clone(), method]);
        source.signature(
            &format!("pub fn {method}"),
            &["&self"],
            &format!(" -> {name} {{"),
        );
        source.open(format!("{name} {{"));
        source.line("client: self.inner.clone(),");
        source.line("input: Default::default(),");
        source.close("}");
        source.close("}");
        types.push(name);
    }
    source.close("}");
    for (operation, name) in plan.operations.iter().zip(&types) {
        call(source, plan, operation, name);
    }
    source.close("}");
}

/// Writes the list of protocols, so that programs link no others.
fn known_protocols(source: &mut Source, plan: &Plan<'_>) {
    let root = &plan.settings.root;
    source.line(format!("use {root}::protocol::{{self, ProtocolKind}};"));
    source.blank();
    source.line(format!(
        "{root}::rpc::generated::ClientProtocols::new(super::service(), kind)"
    ));
    source.indent();
    for protocol in &plan.protocols {
        let ty = protocol.ty;
        if ty == "Frame" {
            source.line(".or_frames()");
            continue;
        }
        source.line(format!(".or::<protocol::{ty}>(ProtocolKind::{ty})"));
    }
    source.line(".client()");
    source.dedent();
}

/// Writes the type of a call.
fn call(source: &mut Source, plan: &Plan<'_>, operation: &Operation<'_>, name: &str) {
    let root = &plan.settings.root;
    let input = &plan.structures[operation.input];
    source.blank();
    source.line(format!(
        "/// A call to `{}`: set the input members, then call `send`.",
        operation.name
    ));
    source.line("#[derive(Clone, Debug)]");
    source.line("#[must_use = \"a call does nothing until `send` is awaited\"]");
    source.open(format!("pub struct {name} {{"));
    source.line(format!("client: {root}::rpc::Client,"));
    source.line(format!("input: super::{},", input.builder));
    source.close("}");
    source.blank();
    source.open(format!("impl {name} {{"));
    for field in &input.fields {
        source.blank();
        let fallback = format!("Sets `{}`.", field.member.name());
        brief(source, field.member.traits(), &fallback);
        source.line("#[inline]");
        let ty = type_in_submodule(field.into.as_ref().unwrap_or(&field.ty), plan, root);
        let argument = format!("{}: {ty}", field.name);
        let method = match field.name.as_str() {
            "send" | "with_input" | "into_paginator" => format!("{}_", field.name),
            method => method.to_owned(),
        };
        allow_self_convention(source, &method);
        source.signature(
            &format!("pub fn {method}"),
            &["mut self", &argument],
            " -> Self {",
        );
        source.line(format!(
            "self.input = self.input.{}({});",
            field.setter(),
            field.name
        ));
        source.line("self");
        source.close("}");
    }
    source.blank();
    source.line("/// Sets the whole input. Replaces members that were set before.");
    source.signature(
        "pub fn with_input",
        &["mut self", &format!("input: super::{}", input.name)],
        " -> Self {",
    );
    source.line("self.input = input.into();");
    source.line("self");
    source.close("}");
    source.blank();
    source.line("/// Sends the call when the returned future is awaited.");
    source.line("///");
    source.line("/// # Errors");
    source.line("///");
    source.line(format!(
        "/// Returns [`{0}`](super::{0}): an error of the model, or any other failure.",
        operation.error
    ));
    let build = match input.needs_check() {
        true => "self.input.build()",
        false => "Ok(self.input.build())",
    };
    let marker = operation.marker();
    source.signature(
        "pub fn send",
        &["self"],
        &format!(" -> {root}::rpc::client::OperationRequest<super::operation::{marker}> {{"),
    );
    source.line(format!("self.client.call_generated({build})"));
    source.close("}");
    if operation.pages.is_some() {
        source.blank();
        source.line("/// Returns a paginator, which requests one page after another.");
        source.signature(
            "pub fn into_paginator",
            &["self"],
            &format!(" -> {root}::rpc::Paginator<super::operation::{marker}> {{"),
        );
        source.line(format!("let input = {build};"));
        source.line(format!("{root}::rpc::Paginator::new(self.client, input)"));
        source.close("}");
    }
    source.close("}");
}
