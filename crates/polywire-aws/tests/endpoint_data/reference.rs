//! A slow, readable evaluator of rule trees: it walks the JSON document and looks up everything by name.

use std::collections::HashMap;

use polywire_aws::endpoint::Partitions;
use serde_json::{Value, json};

/// Evaluates `rules` and returns `{"endpoint": ...}` or `{"error": ...}`, in the form of published test cases.
pub(crate) fn evaluate(rules: &Value, params: &Value, partitions: &Partitions) -> Value {
    let mut scope = HashMap::new();
    for (name, parameter) in rules["parameters"].as_object().unwrap() {
        let value = match &params[name] {
            Value::Null => &parameter["default"],
            value => value,
        };
        if value.is_null() && parameter["required"] == true {
            return json!({ "error": format!("the required parameter `{name}` is not set") });
        }
        scope.insert(name.clone(), value.clone());
    }
    let evaluator = Evaluator { partitions };
    let none = || json!({ "error": "no endpoint rule matches" });
    evaluator
        .rules(&rules["rules"], &scope)
        .unwrap_or_else(none)
}

type Scope = HashMap<String, Value>;

struct Evaluator<'a> {
    partitions: &'a Partitions,
}

impl Evaluator<'_> {
    fn rules(&self, rules: &Value, scope: &Scope) -> Option<Value> {
        for rule in rules.as_array().unwrap() {
            let mut scope = scope.clone();
            let conditions = rule["conditions"].as_array().unwrap();
            let matches = conditions.iter().all(|condition| {
                let value = self.value(condition, &scope);
                let is_match = !value.is_null() && value != false;
                if let Some(name) = condition["assign"].as_str() {
                    scope.insert(name.to_owned(), value);
                }
                is_match
            });
            if matches {
                return match rule["type"].as_str().unwrap() {
                    "tree" => self.rules(&rule["rules"], &scope),
                    "error" => Some(json!({ "error": self.value(&rule["error"], &scope) })),
                    _ => Some(json!({ "endpoint": self.endpoint(&rule["endpoint"], &scope) })),
                };
            }
        }
        None
    }

    fn endpoint(&self, endpoint: &Value, scope: &Scope) -> Value {
        let mut result = json!({ "url": self.value(&endpoint["url"], scope) });
        for key in ["headers", "properties"] {
            let found = endpoint[key]
                .as_object()
                .is_some_and(|found| !found.is_empty());
            if found {
                result[key] = self.fill(&endpoint[key], scope);
            }
        }
        result
    }

    /// Replaces the templates in a property.
    fn fill(&self, value: &Value, scope: &Scope) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.fill(item, scope)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                members
                    .map(|(name, value)| (name.clone(), self.fill(value, scope)))
                    .collect()
            }
            Value::String(_) => self.value(value, scope),
            other => other.clone(),
        }
    }

    fn value(&self, expression: &Value, scope: &Scope) -> Value {
        match expression {
            Value::String(text) => template(text, scope),
            Value::Object(object) if object.contains_key("ref") => {
                let name = object["ref"].as_str().unwrap();
                scope.get(name).cloned().unwrap_or_default()
            }
            Value::Object(object) => {
                let arguments = object["argv"].as_array().unwrap();
                let arguments: Vec<Value> = arguments
                    .iter()
                    .map(|argument| self.value(argument, scope))
                    .collect();
                self.call(object["fn"].as_str().unwrap(), &arguments)
            }
            other => other.clone(),
        }
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Value {
        match function {
            "isSet" => return (!arguments[0].is_null()).into(),
            "coalesce" => {
                let found = arguments.iter().find(|argument| !argument.is_null());
                return found.cloned().unwrap_or_default();
            }
            "stringEquals" | "booleanEquals" => {
                return (!arguments[0].is_null() && arguments[0] == arguments[1]).into();
            }
            "ite" => {
                return match arguments[0].as_bool() {
                    Some(true) => arguments[1].clone(),
                    Some(false) => arguments[2].clone(),
                    None => Value::Null,
                };
            }
            _ if arguments.iter().any(Value::is_null) => return Value::Null,
            _ => {}
        }
        let text = |index: usize| arguments[index].as_str().unwrap();
        let flag = |index: usize| arguments[index].as_bool().unwrap();
        let number = |index: usize| arguments[index].as_i64().unwrap() as usize;
        match function {
            "not" => (!flag(0)).into(),
            "getAttr" => attribute(&arguments[0], text(1)),
            "substring" => substring(text(0), number(1), number(2), flag(3)),
            "split" => match number(2) {
                0 => text(0).split(text(1)).collect(),
                limit => text(0).splitn(limit, text(1)).collect(),
            },
            "uriEncode" => {
                let byte = |byte: u8| match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                        char::from(byte).to_string()
                    }
                    _ => format!("%{byte:02X}"),
                };
                text(0).bytes().map(byte).collect::<String>().into()
            }
            "isValidHostLabel" => is_host(text(0), flag(1)).into(),
            "aws.isVirtualHostableS3Bucket" => {
                let is_address = text(0).split('.').count() == 4
                    && text(0).chars().all(|c| c.is_ascii_digit() || c == '.');
                let lower = text(0).to_lowercase() == text(0);
                let length = (3..=63).contains(&text(0).len());
                (length && lower && !is_address && is_host(text(0), flag(1))).into()
            }
            "parseURL" => parse_url(text(0)).unwrap_or_default(),
            "aws.parseArn" => parse_arn(text(0)).unwrap_or_default(),
            "aws.partition" => match self.partitions.find(text(0)) {
                Some(found) => json!({
                    "name": found.name(),
                    "dnsSuffix": found.dns_suffix(),
                    "dualStackDnsSuffix": found.dual_stack_dns_suffix(),
                    "supportsFIPS": found.supports_fips(),
                    "supportsDualStack": found.supports_dual_stack(),
                    "implicitGlobalRegion": found.implicit_global_region(),
                }),
                None => Value::Null,
            },
            other => panic!("no function {other}"),
        }
    }
}

fn template(text: &str, scope: &Scope) -> Value {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (reference, next) = after.split_once('}').unwrap();
        let (name, path) = reference.split_once('#').unwrap_or((reference, ""));
        let value = match path {
            "" => scope[name].clone(),
            path => attribute(&scope[name], path),
        };
        result.push_str(before);
        result.push_str(value.as_str().unwrap());
        rest = next;
    }
    (result + rest).into()
}

fn attribute(value: &Value, path: &str) -> Value {
    let (key, index) = match path.split_once('[') {
        Some((key, index)) => (
            key,
            Some(index.trim_end_matches(']').parse::<usize>().unwrap()),
        ),
        None => (path, None),
    };
    let value = if key.is_empty() { value } else { &value[key] };
    match index {
        Some(index) => value.get(index).cloned().unwrap_or_default(),
        None => value.clone(),
    }
}

fn substring(text: &str, start: usize, end: usize, reverse: bool) -> Value {
    if !text.is_ascii() || start >= end || end > text.len() {
        return Value::Null;
    }
    match reverse {
        true => text[text.len() - end..text.len() - start].into(),
        false => text[start..end].into(),
    }
}

fn is_host(text: &str, allow_dots: bool) -> bool {
    if allow_dots {
        return text.split('.').all(|label| is_host(label, false));
    }
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !text.is_empty() && text.len() < 64 && text.chars().all(good) && text.trim_matches('-') == text
}

fn parse_url(text: &str) -> Option<Value> {
    if text.contains(['?', '#']) {
        return None;
    }
    let uri: http::Uri = text.parse().ok()?;
    let scheme = uri.scheme_str().filter(|s| ["http", "https"].contains(s))?;
    let authority = uri.authority()?;
    let host = authority.host();
    let port = authority.as_str().rsplit_once(':');
    if let Some((_, port)) = port
        && !authority.as_str().ends_with(']')
    {
        port.parse::<u16>().ok()?;
    }
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let path = text.splitn(4, '/').nth(3).map(|path| format!("/{path}"));
    let path = path.unwrap_or_default();
    let normalized = format!("{}/", path.trim_end_matches('/'));
    Some(json!({
        "scheme": scheme,
        "authority": authority.as_str(),
        "path": path,
        "normalizedPath": normalized,
        "isIp": address.parse::<std::net::IpAddr>().is_ok(),
    }))
}

fn parse_arn(text: &str) -> Option<Value> {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    let [prefix, partition, service, region, account, resource] = *parts.as_slice() else {
        return None;
    };
    if prefix != "arn" || partition.is_empty() || service.is_empty() || resource.is_empty() {
        return None;
    }
    let resource: Vec<&str> = resource.split([':', '/']).collect();
    Some(json!({
        "partition": partition,
        "service": service,
        "region": region,
        "accountId": account,
        "resourceId": resource,
    }))
}
