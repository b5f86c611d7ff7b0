//! Makes a decision diagram of a rule tree, to compare both forms.
//!
//! Each condition becomes a node: if it matches, the next condition of the rule or its outcome follows, and if not,
//! the next rule. Nodes with an odd index are only referred to by their complement, with exchanged branches.

use polywire_text::base64;
use serde_json::{Value, json};

const FIRST_RESULT: i32 = 100_000_001;

pub(crate) fn diagram(tree: &Value) -> Value {
    let mut writer = Writer {
        conditions: Vec::new(),
        results: Vec::new(),
        // The terminal.
        nodes: vec![[-1, 1, -1]],
    };
    // The root must not be a complement, so it is a node that always matches and has an even index.
    writer.nodes.extend([[0, 1, 1], [0, 0, 1]]);
    writer
        .conditions
        .push(json!({ "fn": "booleanEquals", "argv": [true, true] }));
    writer.nodes[2][1] = writer.rules(tree["rules"].as_array().unwrap(), 1);
    let mut nodes = Vec::new();
    for node in &writer.nodes {
        nodes.extend(node.iter().flat_map(|integer| integer.to_be_bytes()));
    }
    let mut text = Vec::new();
    base64::push(&mut text, &nodes);
    json!({
        "version": "1.1",
        "parameters": tree["parameters"],
        "conditions": writer.conditions,
        "results": writer.results,
        "root": 3,
        "nodeCount": writer.nodes.len(),
        "nodes": String::from_utf8(text).unwrap(),
    })
}

struct Writer {
    conditions: Vec<Value>,
    results: Vec<Value>,
    nodes: Vec<[i32; 3]>,
}

impl Writer {
    /// The reference of the first of `rules`; `otherwise` is the one if none matches.
    fn rules(&mut self, rules: &[Value], otherwise: i32) -> i32 {
        rules
            .iter()
            .rev()
            .fold(otherwise, |next, rule| self.rule(rule, next))
    }

    fn rule(&mut self, rule: &Value, next: i32) -> i32 {
        // Conditions that assign variables come before those that use them.
        let first = self.conditions.len();
        let conditions = rule["conditions"].as_array().unwrap();
        self.conditions.extend(conditions.iter().cloned());
        let outcome = match rule["type"].as_str().unwrap() {
            // A tree whose conditions match is final.
            "tree" => self.rules(rule["rules"].as_array().unwrap(), 1),
            _ => {
                let mut result = rule.clone();
                result["conditions"] = json!([]);
                self.results.push(result);
                FIRST_RESULT + i32::try_from(self.results.len()).unwrap() - 1
            }
        };
        let tests = first..first + conditions.len();
        tests.rev().fold(outcome, |high, test| {
            let test = i32::try_from(test).unwrap();
            let index = i32::try_from(self.nodes.len()).unwrap();
            if index % 2 == 1 {
                self.nodes.push([test, next, high]);
                -(index + 1)
            } else {
                self.nodes.push([test, high, next]);
                index + 1
            }
        })
    }
}
