//! Writes the packed schemas, and the functions that return the schemas and the service.

use crate::plan::Plan;
use crate::source::Source;

/// The number of columns per line of bytes.
const WIDTH: usize = 96;

pub(super) fn write(source: &mut Source, plan: &Plan<'_>) {
    source.blank();
    source
        .line("/// The schemas of the service, packed in the format of this version of Polywire.");
    source.line("const SCHEMAS: &[u8] = b\"\\");
    for line in lines(&plan.schemas) {
        source.raw(&line);
    }
    source.blank();
    source.line("static SET: std::sync::LazyLock<std::sync::Arc<schema::SchemaSet<'static>>> =");
    source.line("    std::sync::LazyLock::new(|| codec::schemas(SCHEMAS));");
    source.blank();
    source.line("/// Returns the schemas of the types in this module.");
    source.line("#[must_use]");
    source.open("pub fn schemas() -> &'static schema::SchemaSet<'static> {");
    source.line("&SET");
    source.close("}");
    if plan.has_operations() {
        let root = &plan.settings.root;
        source.blank();
        source.line("/// Returns the service, which clients and servers are built from.");
        source.line("#[must_use]");
        source.open(format!("pub fn service() -> {root}::rpc::ServiceHandle {{"));
        source.line(format!(
            "{root}::rpc::ServiceHandle::new(std::sync::Arc::clone(&SET), 0)"
        ));
        source.close("}");
    }
}

/// Formats bytes as lines of a byte string literal. Each line ends with a backslash, which skips
/// the line break and leading spaces of the next line.
fn lines(bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for byte in bytes {
        let piece = match byte {
            b'"' => "\\\"".to_owned(),
            b'\\' => "\\\\".to_owned(),
            b'\n' => "\\n".to_owned(),
            // A leading space would be skipped.
            b' ' if line.is_empty() => "\\x20".to_owned(),
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        };
        line.push_str(&piece);
        if line.len() >= WIDTH {
            line.push('\\');
            lines.push(std::mem::take(&mut line));
        }
    }
    line.push_str("\";");
    lines.push(line);
    lines
}
