//! `polywire model check --list-rules` and `--explain`.

use polywire::model::rules::{self, Rule};
use polywire::model::{Node, Object};

use crate::Failure;

/// All rules: a line for each, or a JSON array.
pub(super) fn list(json: bool) -> String {
    if json {
        return Node::from(rules::all().map(node).collect::<Vec<_>>()).to_json_pretty();
    }
    let rows: Vec<(String, String, &str)> = rules::all()
        .map(|rule| (rule.to_string(), severities(rule), rule.title()))
        .collect();
    let width = |cell: fn(&(String, String, &str)) -> usize| rows.iter().map(cell).max();
    let ids = width(|row| row.0.len()).unwrap_or(0);
    let names = width(|row| row.1.len()).unwrap_or(0);
    rows.iter()
        .map(|(id, severities, title)| format!("{id:ids$}  {severities:names$}  {title}\n"))
        .collect()
}

/// One rule, by the code of a diagnostic.
pub(super) fn explain(code: &str, json: bool) -> Result<String, Failure> {
    let Some(rule) = rules::find(code) else {
        let similar: Vec<&str> = rules::similar(code).iter().map(|rule| rule.id()).collect();
        let advice = match similar.as_slice() {
            [] => "`polywire model check --list-rules` lists all rules".to_owned(),
            similar => format!("similar ids: {}", similar.join(", ")),
        };
        return Err(Failure::usage(format!("unknown rule `{code}`; {advice}")));
    };
    if json {
        return Ok(node(rule).to_json_pretty());
    }
    let (severities, title) = (severities(rule), rule.title());
    let mut text = format!(
        "{rule} ({severities}): {title}\n\n{}\n\nFix: {}\n",
        rule.checks(),
        rule.fix()
    );
    if let Some((_, example)) = rule.example() {
        text.push_str("\nExample:\n\n");
        for line in example.lines() {
            let indent = if line.is_empty() { "" } else { "    " };
            text.push_str(&format!("{indent}{line}\n"));
        }
    }
    Ok(text)
}

fn severities(rule: &Rule) -> String {
    let names: Vec<String> = rule.severities().iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn node(rule: &'static Rule) -> Node {
    let severities = rule.severities().iter();
    let severities: Vec<Node> = severities.map(|s| s.to_string().into()).collect();
    let mut object = Object::new();
    object.insert("id", rule.id());
    object.insert("suffix", rule.suffix());
    object.insert("severities", severities);
    object.insert("title", rule.title());
    object.insert("checks", rule.checks());
    object.insert("fix", rule.fix());
    if let Some((_, example)) = rule.example() {
        object.insert("example", example);
    }
    object.into()
}
