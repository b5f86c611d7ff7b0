//! The schemas of the service, and the service itself.

use crate::plan::Plan;
use crate::source::Source;

/// How many columns a line of bytes takes.
const WIDTH: usize = 96;

pub(super) fn write(source: &mut Source, plan: &Plan<'_>) {
    source.blank();
    source.line("/// The schemas of the service, as this version of Polywire packs them.");
    source.line("const SCHEMAS: &[u8] = b\"\\");
    for line in lines(&plan.schemas) {
        source.raw(&line);
    }
    source.blank();
    source.line("static SET: std::sync::LazyLock<std::sync::Arc<schema::SchemaSet<'static>>> =");
    source.line("    std::sync::LazyLock::new(|| codec::schemas(SCHEMAS));");
    source.blank();
    source.line("/// The schemas that the types here were made for.");
    source.line("#[must_use]");
    source.open("pub fn schemas() -> &'static schema::SchemaSet<'static> {");
    source.line("&SET");
    source.close("}");
    if plan.has_operations() {
        let root = &plan.settings.root;
        source.blank();
        source.line("/// The service, as clients and servers know it.");
        source.line("#[must_use]");
        source.open(format!("pub fn service() -> {root}::rpc::ServiceHandle {{"));
        source.line(format!(
            "{root}::rpc::ServiceHandle::new(std::sync::Arc::clone(&SET), 0)"
        ));
        source.close("}");
    }
}

/// Bytes as the lines of a literal, each with a backslash at its end, which
/// leaves out the line break and the spaces that follow.
fn lines(bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for byte in bytes {
        let piece = match byte {
            b'"' => "\\\"".to_owned(),
            b'\\' => "\\\\".to_owned(),
            b'\n' => "\\n".to_owned(),
            // A space at the beginning of a line would be left out.
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
