//! The server.

use crate::names::camel;
use crate::plan::Plan;
use crate::source::Source;

use super::doc;

pub(super) fn write(source: &mut Source, plan: &Plan<'_>) {
    let root = &plan.settings.root;
    let service = plan.closure.service();
    let name = camel(service.id().name());
    source.blank();
    source.line("/// The server.");
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
        "An implementation has all operations: one that is added to the model is a method\n\
         that is missing, which the compiler says. Implementations write `async fn`.",
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
        "/// Begins to build a server of an implementation. Without protocols that are named",
    );
    source.line("/// it takes those of the model.");
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
    for (place, operation) in plan.operations.iter().enumerate() {
        let marker = operation.marker();
        let is_last = place + 1 == plan.operations.len();
        let (start, end) = match is_last {
            true => ("", ")"),
            false => ("let builder = ", ");"),
        };
        source.open(format!("{start}offer::<operation::{marker}, _, _, _>("));
        source.line("builder,");
        source.line("&service,");
        source.line("&implementation,");
        let head = "|own: std::sync::Arc<S>, input, context| async move {";
        let call = format!("own.{}(input, &context).await", operation.method);
        let whole = format!("{head} {call} }}");
        // The last argument may be a little longer than a line, to rustfmt.
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
