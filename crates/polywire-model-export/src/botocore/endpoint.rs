//! `endpoint-rule-set-1.json`: the endpoints of a service.

use polywire_model::{Node, Shape, ids};

/// The rules of the model. Without rules, the user has to set `endpoint_url`.
pub(super) fn rule_set(service: &Shape) -> Node {
    if let Some(rules) = service.traits().get(RULES) {
        return rules.clone();
    }
    let name = service.id().name();
    Node::parse_json(&MINIMAL.replace("SERVICE", name)).unwrap_or_else(|_| Node::empty_object())
}

pub(super) fn has_rules(service: &Shape) -> bool {
    service.traits().has(RULES)
}

const RULES: &str = ids::ENDPOINT_RULE_SET;

/// Names of shapes are ASCII words, so they can be inserted into this text.
const MINIMAL: &str = r#"{
    "version": "1.0",
    "parameters": {
        "Region": {
            "builtIn": "AWS::Region",
            "required": false,
            "documentation": "The region, which requests may be signed with.",
            "type": "string"
        },
        "UseFIPS": {
            "builtIn": "AWS::UseFIPS",
            "required": true,
            "default": false,
            "documentation": "Without effect.",
            "type": "boolean"
        },
        "UseDualStack": {
            "builtIn": "AWS::UseDualStack",
            "required": true,
            "default": false,
            "documentation": "Without effect.",
            "type": "boolean"
        },
        "Endpoint": {
            "builtIn": "SDK::Endpoint",
            "required": false,
            "documentation": "The URL of the service.",
            "type": "string"
        }
    },
    "rules": [
        {
            "conditions": [{ "fn": "isSet", "argv": [{ "ref": "Endpoint" }] }],
            "endpoint": { "url": { "ref": "Endpoint" }, "properties": {}, "headers": {} },
            "type": "endpoint"
        },
        {
            "conditions": [],
            "error": "SERVICE has no endpoint of its own: say where it is with endpoint_url",
            "type": "error"
        }
    ]
}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimal_rules_are_json() {
        let rules = Node::parse_json(MINIMAL).unwrap();
        assert!(rules.get("rules").is_some());
    }
}
