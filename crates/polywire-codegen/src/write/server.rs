//! Writes the server module.

use crate::names::camel;
use crate::plan::Plan;
use crate::source::Source;

use super::doc;

pub(super) fn write(source: &mut Source, plan: &Plan<'_>) {
    let root = &plan.settings.root;
    let service = plan.closure.service();
    let name = camel(service.id().name());
    source.blank();
    source.line("/// Server of the service.");
    source.open("pub mod server {");
    source.line("use std::future::Future;");
    source.blank();
    source.line(format!("use {root}::rpc::generated::offer;"));
    source.blank();
    source.line("use super::operation;");
    source.blank();
    doc(
        source,
        Some(service.traits()),
        &format!("`{}`.", service.id()),
    );
    source.line("///");
    source.doc(
        "Implement every operation with `async fn`. When the model gets a new operation,\n\
         implementations fail to compile until they have the new method.",
    );
    source.open(format!("pub trait {name}: Send + Sync + 'static {{"));
    for operation in &plan.operations {
        source.blank();
        doc(
            source,
            Some(operation.shape.traits()),
            &format!("`{}`.", operation.name),
        );
        let input = format!("input: super::{}", plan.structures[operation.input].name);
        let context = format!("context: &{root}::rpc::Context");
        source.open(format!("fn {}(", operation.method));
        source.line("&self,");
        source.line(format!("{input},"));
        source.line(format!("{context},"));
        let result = format!(
            "Result<super::{}, super::{}>",
            plan.structures[operation.output].name, operation.error
        );
        let end = format!(") -> impl Future<Output = {result}> + Send;");
        source.close(end);
    }
    source.close("}");
    source.blank();
    source.line(
        "/// Returns a server builder for an implementation. If no protocols are set, the server",
    );
    source.line("/// offers those of the model.");
    source.signature(
        &format!("pub fn builder<S: {name}>"),
        &["implementation: S"],
        &format!(" -> {root}::rpc::ServerBuilder {{"),
    );
    if plan.operations.is_empty() {
        source.line("let _ = implementation;");
        source.line(format!("{root}::rpc::Server::builder(super::service())"));
        source.close("}");
        source.close("}");
        return;
    }
    source.line("let service = super::service();");
    source.line("let implementation = std::sync::Arc::new(implementation);");
    source.line(format!(
        "let builder = {root}::rpc::Server::builder(service.clone());"
    ));
    for (index, operation) in plan.operations.iter().enumerate() {
        let marker = operation.marker();
        let is_last = index + 1 == plan.operations.len();
        let (start, end) = match is_last {
            true => ("", ")"),
            false => ("let builder = ", ");"),
        };
        source.open(format!("{start}offer::<operation::{marker}, _, _, _>("));
        source.line("builder,");
        source.line("&service,");
        source.line("&implementation,");
        let head = "|service_impl: std::sync::Arc<S>, input, context| async move {";
        let call = format!("service_impl.{}(input, &context).await", operation.method);
        let whole = format!("{head} {call} }}");
        // rustfmt allows the last argument to exceed the line width a little.
        if source.fits(&whole[4..]) {
            source.line(format!("{whole},"));
        } else {
            source.open(head);
            source.line(call);
            source.close("},");
        }
        source.close(end);
    }
    source.close("}");
    source.close("}");
}
