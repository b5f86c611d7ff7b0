//! JSON Schema, as much of it as the schema of reports uses.

use serde_json::Value as Json;

/// Checks a value against a schema. Supports only the keywords that our schemas use.
#[track_caller]
pub(crate) fn conforms(value: &Json, schema: &Json, root: &Json, path: &str) {
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                conforms(value, &root["$defs"][name], root, path);
            }
            "anyOf" => match value {
                Json::Null => assert_eq!(rule[1]["type"], "null", "{path}"),
                _ => conforms(value, &rule[0], root, path),
            },
            "type" => {
                let is = |name: &Json| match name.as_str().unwrap() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_u64(),
                    "number" => value.is_number(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("{other}"),
                };
                let one = match rule {
                    Json::Array(names) => names.iter().any(is),
                    name => is(name),
                };
                assert!(one, "{path}: {value} is no {rule}");
            }
            "minimum" | "maximum" => {
                let (number, limit) = (value.as_f64(), rule.as_f64().unwrap());
                let fits = number.is_none_or(|number| match keyword.as_str() {
                    "minimum" => number >= limit,
                    _ => number <= limit,
                });
                assert!(fits, "{path}: {value}, {keyword} {rule}");
            }
            "enum" => assert!(rule.as_array().unwrap().contains(value), "{path}: {value}"),
            "items" => {
                let items = value.as_array().unwrap().iter().enumerate();
                items.for_each(|(at, item)| conforms(item, rule, root, &format!("{path}[{at}]")));
            }
            "required" => {
                let names = rule.as_array().unwrap().iter();
                let missing = names.filter(|name| value.get(name.as_str().unwrap()).is_none());
                assert_eq!(missing.count(), 0, "{path}: {value}");
            }
            "properties" => {
                for (name, member) in value.as_object().unwrap() {
                    let path = format!("{path}.{name}");
                    let rule = rule.get(name);
                    conforms(
                        member,
                        rule.unwrap_or_else(|| panic!("{path}")),
                        root,
                        &path,
                    );
                }
            }
            // Every member must have a schema.
            "additionalProperties" => assert!(rule.is_boolean()),
            other => panic!("unsupported keyword {other}"),
        }
    }
}
