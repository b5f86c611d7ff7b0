//! Writes operations: their errors, and the marker types that clients and servers share.

use crate::pagination::Pages;
use crate::plan::{Operation, Plan};
use crate::source::Source;

pub(super) fn write(source: &mut Source, plan: &Plan<'_>) {
    for operation in &plan.operations {
        error(source, plan, operation);
    }
    markers(source, plan);
}

fn error(source: &mut Source, plan: &Plan<'_>, operation: &Operation<'_>) {
    let root = &plan.settings.root;
    let name = &operation.error;
    source.blank();
    source.line(format!("/// Errors of calls to `{}`.", operation.name));
    source.line("#[derive(Debug)]");
    source.line("#[non_exhaustive]");
    source.open(format!("pub enum {name} {{"));
    for (index, variant) in &operation.errors {
        let structure = &plan.structures[*index];
        super::brief_of(source, structure.traits, &format!("`{}`.", structure.name));
        source.line(format!("{variant}({}),", payload(plan, *index)));
    }
    source.line("/// Any other failure: an error that is not in the model, a deadline, a connection failure.");
    source.line(format!("Other({root}::rpc::CallError),"));
    source.close("}");

    source.blank();
    source.open(format!("impl std::fmt::Display for {name} {{"));
    source.open("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    source.open("match self {");
    for variant in variants(operation) {
        source.line(format!("Self::{variant}(error) => error.fmt(f),"));
    }
    source.close("}");
    source.close("}");
    source.close("}");

    source.blank();
    source.open(format!("impl std::error::Error for {name} {{"));
    source.open("fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {");
    source.open("match self {");
    for (index, variant) in &operation.errors {
        let error = if is_boxed(plan, *index) {
            "&**error"
        } else {
            "error"
        };
        source.line(format!("Self::{variant}(error) => Some({error}),"));
    }
    source.line("Self::Other(error) => Some(error),");
    source.close("}");
    source.close("}");
    source.close("}");

    for (index, variant) in &operation.errors {
        let ty = &plan.structures[*index].name;
        source.blank();
        source.open(format!("impl From<{ty}> for {name} {{"));
        source.open(format!("fn from(error: {ty}) -> Self {{"));
        source.line(match is_boxed(plan, *index) {
            true => format!("Self::{variant}(Box::new(error))"),
            false => format!("Self::{variant}(error)"),
        });
        source.close("}");
        source.close("}");
    }
    source.blank();
    source.open(format!("impl From<{root}::rpc::CallError> for {name} {{"));
    source.open(format!("fn from(error: {root}::rpc::CallError) -> Self {{"));
    source.line("Self::Other(error)");
    source.close("}");
    source.close("}");
    if plan.settings.server {
        // These conversions let handlers use `?`.
        for ty in [
            format!("{root}::protocol::Fault"),
            "schema::MissingMember".to_owned(),
        ] {
            source.blank();
            source.open(format!("impl From<{ty}> for {name} {{"));
            source.open(format!("fn from(error: {ty}) -> Self {{"));
            source.line("Self::Other(error.into())");
            source.close("}");
            source.close("}");
        }
    }

    source.blank();
    source.open(format!(
        "impl {root}::rpc::generated::OperationError for {name} {{"
    ));
    source.signature(
        "fn read",
        &[&format!("answer: &{root}::rpc::client::Answer<'_>")],
        " -> Self {",
    );
    if operation.errors.is_empty() {
        source.line("Self::Other(answer.fault())");
    } else {
        source.open("let read = match answer.shape() {");
        for (index, _) in &operation.errors {
            let structure = &plan.structures[*index];
            source.arm(
                &format!("{:?}", structure.id.as_str()),
                &format!("answer.read::<{}>().map(Self::from)", structure.name),
            );
        }
        source.line("_ => Err(answer.fault()),");
        source.close("};");
        source.line("read.unwrap_or_else(Self::Other)");
    }
    source.close("}");
    source.close("}");
    if plan.settings.server {
        into_fault(source, plan, operation);
    }
}

/// Writes the conversion to a fault, which servers use.
fn into_fault(source: &mut Source, plan: &Plan<'_>, operation: &Operation<'_>) {
    let root = &plan.settings.root;
    let name = &operation.error;
    source.blank();
    source.open(format!(
        "impl {root}::rpc::generated::HandlerError for {name} {{"
    ));
    let argument = match operation.errors.is_empty() {
        true => "_",
        false => "service",
    };
    source.signature(
        "fn into_fault",
        &["self", &format!("{argument}: &{root}::rpc::ServiceHandle")],
        &format!(" -> {root}::protocol::Fault {{"),
    );
    source.open("match self {");
    for (index, variant) in &operation.errors {
        let structure = &plan.structures[*index];
        let id = format!("{:?}", structure.id.as_str());
        let call = format!("{root}::rpc::generated::fault(service, {id}, &error)");
        source.arm(&format!("Self::{variant}(error)"), &call);
    }
    source.line(format!(
        "Self::Other(error) => {root}::rpc::generated::other_fault(error),"
    ));
    source.close("}");
    source.close("}");
    source.close("}");
}

fn variants<'a>(operation: &'a Operation<'_>) -> impl Iterator<Item = &'a str> {
    let names = operation.errors.iter().map(|(_, variant)| variant.as_str());
    names.chain(["Other"])
}

/// Large errors are boxed to keep `Result` small.
fn is_boxed(plan: &Plan<'_>, index: usize) -> bool {
    plan.structures[index].size() > 112
}

fn payload(plan: &Plan<'_>, index: usize) -> String {
    let name = &plan.structures[index].name;
    match is_boxed(plan, index) {
        true => format!("Box<{name}>"),
        false => name.clone(),
    }
}

/// Writes a marker type per operation, which links its input, output and errors.
fn markers(source: &mut Source, plan: &Plan<'_>) {
    let root = &plan.settings.root;
    source.blank();
    source.line("/// Marker types of the operations.");
    source.open("pub mod operation {");
    source.line("/// The formats with specialized codecs.");
    source.line("#[derive(Clone, Copy, Debug)]");
    source.line("pub struct Formats;");
    source.blank();
    source.open(format!("impl {root}::codec::Formats for Formats {{"));
    let formats = plan.formats.iter();
    let formats = formats.map(|format| format!("{root}::codec::Format::{format}"));
    let formats: Vec<_> = formats.collect();
    let start = format!("const FORMATS: &'static [{root}::codec::Format] =");
    source.list(&start, &formats);
    source.close("}");
    for operation in &plan.operations {
        let name = operation.marker();
        source.blank();
        source.line(format!("/// `{}`.", operation.shape.id()));
        source.line("#[derive(Clone, Copy, Debug)]");
        source.line(format!("pub struct {name};"));
        source.blank();
        source.open(format!(
            "impl {root}::rpc::generated::Operation for {name} {{"
        ));
        source.line(format!(
            "type Input = super::{};",
            plan.structures[operation.input].name
        ));
        source.line(format!(
            "type Output = super::{};",
            plan.structures[operation.output].name
        ));
        source.line(format!("type Error = super::{};", operation.error));
        source.line("type Formats = Formats;");
        source.blank();
        source.line(format!("const INDEX: u32 = {};", operation.index));
        source.close("}");
        if let Some(pages) = &operation.pages {
            paginate(source, plan, operation, pages);
        }
    }
    source.close("}");
}

fn paginate(source: &mut Source, plan: &Plan<'_>, operation: &Operation<'_>, pages: &Pages) {
    let root = &plan.settings.root;
    let path_of = |ty: &str| crate::pagination::type_in_submodule(ty, plan, root);
    source.blank();
    source.open(format!(
        "impl {root}::rpc::generated::Pages for {} {{",
        operation.marker()
    ));
    source.line(format!("type Token = {};", path_of(&pages.token_ty)));
    source.blank();
    source.open("fn token(output: &Self::Output) -> Option<Self::Token> {");
    source.chain(&pages.token);
    source.close("}");
    source.blank();
    source.open("fn set_token(input: &mut Self::Input, token: Self::Token) {");
    source.line(&pages.set_token);
    source.close("}");
    source.close("}");
    let Some(items) = &pages.items else {
        return;
    };
    source.blank();
    source.open(format!(
        "impl {root}::rpc::generated::ItemPages for {} {{",
        operation.marker()
    ));
    source.line(format!("type Item = {};", path_of(&items.ty)));
    source.blank();
    source.open("fn items(output: Self::Output) -> Vec<Self::Item> {");
    source.chain(&items.expression);
    source.close("}");
    source.close("}");
}
