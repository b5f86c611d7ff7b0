//! The rules of a service, and how its operations bind their inputs to parameters.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use super::{Argument, ArgumentError, Arguments, ParameterType, RuleSet, RuleSetError};
use crate::waiter::jmespath::Expression;

/// A rule set with the bindings of a model
/// ([specification](https://smithy.io/2.0/additional-specs/rules-engine/parameters.html)): the traits
/// `smithy.rules#contextParam`, `smithy.rules#staticContextParams` and `smithy.rules#operationContextParams`.
///
/// ```
/// use polywire_aws::endpoint::{Partitions, ServiceRules};
/// use serde_json::json;
///
/// let model = json!({ "smithy": "2.0", "shapes": {
///     "example#Store": { "type": "service", "version": "1", "traits": { "smithy.rules#endpointRuleSet": {
///         "version": "1.0",
///         "parameters": { "Bucket": { "type": "string", "required": true, "documentation": "" } },
///         "rules": [{ "type": "endpoint", "conditions": [], "endpoint": { "url": "https://{Bucket}.example" } }]
///     } } },
///     "example#Get": { "type": "operation", "input": { "target": "example#GetInput" } },
///     "example#GetInput": { "type": "structure", "members": {
///         "Name": { "target": "smithy.api#String", "traits": { "smithy.rules#contextParam": { "name": "Bucket" } } }
///     } }
/// } });
/// let rules = ServiceRules::from_model(&model, "example#Store")?;
/// let mut arguments = rules.rules().arguments();
/// rules.bind("Get", &json!({ "Name": "photos" }), &mut arguments)?;
/// assert_eq!(arguments.resolve(Partitions::aws())?.url, "https://photos.example");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ServiceRules {
    rules: RuleSet,
    /// By the name of the operation, without namespace.
    operations: HashMap<String, Bindings>,
}

/// The bindings of one operation, in the order in which they are applied: later ones win.
#[derive(Clone, Debug, Default)]
struct Bindings {
    /// Parameter and expression.
    expressions: Vec<(String, Expression)>,
    /// Parameter and member of the input.
    members: Vec<(String, String)>,
    constants: Vec<(String, Argument<'static>)>,
}

impl ServiceRules {
    /// Rules without bindings.
    #[must_use]
    pub fn new(rules: RuleSet) -> Self {
        Self {
            rules,
            operations: HashMap::new(),
        }
    }

    /// Reads a model as text: [`Self::from_model`].
    ///
    /// # Errors
    ///
    /// The text is not JSON; or as [`Self::from_model`].
    pub fn from_json(model: &str, service: &str) -> Result<Self, RuleSetError> {
        Self::from_model(&super::compile::parse(model)?, service)
    }

    /// Reads the rules and bindings of a service from a model in the JSON AST, version 2.0. Of a service that has both
    /// forms of rules, the decision diagram is used.
    ///
    /// # Errors
    ///
    /// The model has no such service, the service has no rules, or a trait is not valid. The error names the path in the
    /// document.
    pub fn from_model(model: &Value, service: &str) -> Result<Self, RuleSetError> {
        let shapes = model.get("shapes").and_then(Value::as_object);
        let shapes = shapes.ok_or_else(|| RuleSetError::new("$.shapes", "expected an object"))?;
        let path = Place::new("$.shapes").key(service);
        let traits = shapes.get(service).and_then(|shape| shape.get("traits"));
        let find = |name: &str| traits.and_then(|traits| traits.get(name));
        let diagram = find("smithy.rules#endpointBdd").map(RuleSet::from_diagram);
        let tree = || find("smithy.rules#endpointRuleSet").map(RuleSet::from_tree);
        let rules = diagram.or_else(tree).ok_or_else(|| {
            path.expected("a service with the trait smithy.rules#endpointRuleSet")
        })?;
        let mut own = Self::new(rules?);
        for (id, shape) in shapes {
            if shape.get("type").and_then(Value::as_str) != Some("operation") {
                continue;
            }
            let name = id.rsplit('#').next().unwrap_or(id);
            let path = Place::new("$.shapes").key(id);
            let bindings = own.bindings(shapes, shape, &path)?;
            own.operations.insert(name.to_owned(), bindings);
        }
        Ok(own)
    }

    fn bindings(
        &self,
        shapes: &Map<String, Value>,
        shape: &Value,
        path: &Place,
    ) -> Result<Bindings, RuleSetError> {
        let mut bindings = Bindings::default();
        let path = path.key("traits");
        let traits = |name: &str| shape.get("traits").and_then(|traits| traits.get(name));
        let name = "smithy.rules#staticContextParams";
        for (parameter, value) in entries(traits(name), &path.key(name))? {
            let path = path.key(name).key(parameter);
            let value = value.get("value").and_then(argument);
            let value = value.ok_or_else(|| path.expected("a value of a parameter"))?;
            self.check(parameter, Some(value.kind()), &path)?;
            bindings.constants.push((parameter.clone(), value));
        }
        let name = "smithy.rules#operationContextParams";
        for (parameter, value) in entries(traits(name), &path.key(name))? {
            let path = path.key(name).key(parameter);
            let text = value.get("path").and_then(Value::as_str);
            let text = text.ok_or_else(|| path.expected("a member `path`"))?;
            let expression = Expression::parse(text);
            let expression =
                expression.map_err(|error| RuleSetError::new(&path, error.to_string()))?;
            self.check(parameter, None, &path)?;
            bindings.expressions.push((parameter.clone(), expression));
        }
        let input = shape.get("input").and_then(|input| input.get("target"));
        let input = input.and_then(Value::as_str).unwrap_or("smithy.api#Unit");
        let path = Place::new("$.shapes").key(input).key("members");
        let members = shapes.get(input).and_then(|shape| shape.get("members"));
        for (member, value) in entries(members, &path)? {
            let name = "smithy.rules#contextParam";
            let Some(value) = value.get("traits").and_then(|traits| traits.get(name)) else {
                continue;
            };
            let path = path.key(member).key(name);
            let parameter = value.get("name").and_then(Value::as_str);
            let parameter = parameter.ok_or_else(|| path.expected("a member `name`"))?;
            self.check(parameter, None, &path)?;
            bindings
                .members
                .push((parameter.to_owned(), member.clone()));
        }
        Ok(bindings)
    }

    /// Checks that a binding names a parameter, and has its type.
    fn check(
        &self,
        parameter: &str,
        kind: Option<ParameterType>,
        path: &Place,
    ) -> Result<(), RuleSetError> {
        match self.rules.parameter(parameter) {
            Some(found) if kind.is_none_or(|kind| kind == found.kind()) => Ok(()),
            Some(found) => Err(path.expected(&format!("a value of the type {}", found.kind()))),
            None => Err(path.expected("the name of a parameter of the rule set")),
        }
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// The member of the input that an operation binds to a parameter by `contextParam`. Clients of S3 need to know
    /// whether the bucket is in the URL of the rules.
    #[must_use]
    pub fn member(&self, operation: &str, parameter: &str) -> Option<&str> {
        let members = &self.operations.get(operation)?.members;
        let found = members.iter().find(|(own, _)| own == parameter);
        found.map(|(_, member)| &**member)
    }

    /// Whether [`bind`](Self::bind) reads the input of an operation.
    #[must_use]
    pub fn needs_input(&self, operation: &str) -> bool {
        let bindings = self.operations.get(operation);
        bindings.is_some_and(|own| !own.expressions.is_empty() || !own.members.is_empty())
    }

    /// Whether [`bind`](Self::bind) reads a member of the input of an operation.
    #[must_use]
    pub fn needs_member(&self, operation: &str, member: &str) -> bool {
        let bindings = self.operations.get(operation);
        bindings.is_some_and(|own| {
            // Expressions can refer to any member.
            !own.expressions.is_empty() || own.members.iter().any(|(_, name)| name == member)
        })
    }

    /// Sets the arguments that a call binds to parameters. `operation` is the name of the operation without namespace,
    /// and `input` its input as JSON, with members by their names in the model. Members that are absent, null or of
    /// another type bind nothing.
    ///
    /// # Errors
    ///
    /// `arguments` are those of another rule set.
    pub fn bind(
        &self,
        operation: &str,
        input: &Value,
        arguments: &mut Arguments<'_>,
    ) -> Result<(), ArgumentError> {
        let Some(bindings) = self.operations.get(operation) else {
            return Ok(());
        };
        let mut set = |parameter: &str, value: Option<Argument<'static>>| {
            let kind = self.rules.parameter(parameter).map(|found| found.kind());
            match value.filter(|value| Some(value.kind()) == kind) {
                Some(value) => arguments.set(parameter, value),
                None => Ok(()),
            }
        };
        for (parameter, expression) in &bindings.expressions {
            let found = expression.search(input).ok();
            set(parameter, found.and_then(|found| argument(&found)))?;
        }
        for (parameter, member) in &bindings.members {
            set(parameter, input.get(member).and_then(argument))?;
        }
        for (parameter, value) in &bindings.constants {
            set(parameter, Some(value.clone()))?;
        }
        Ok(())
    }
}

fn argument(value: &Value) -> Option<Argument<'static>> {
    Some(match value {
        Value::Bool(value) => Argument::from(*value),
        Value::String(text) => Argument::from(text.clone()),
        Value::Array(items) => {
            let items = items.iter().map(|item| item.as_str().map(str::to_owned));
            Argument::from(items.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

/// The members of an object that may be absent.
fn entries<'v>(
    value: Option<&'v Value>,
    path: &Place,
) -> Result<Vec<(&'v String, &'v Value)>, RuleSetError> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Object(entries)) => Ok(entries.iter().collect()),
        Some(_) => Err(path.expected("an object")),
    }
}

/// A path in the model.
struct Place(String);

impl Place {
    fn new(root: &str) -> Self {
        Self(root.to_owned())
    }

    /// Ids of shapes have characters that need brackets.
    fn key(&self, key: &str) -> Self {
        Self(match key.contains(['.', '#']) {
            true => format!("{}[{key:?}]", self.0),
            false => format!("{}.{key}", self.0),
        })
    }

    #[cold]
    fn expected(&self, what: &str) -> RuleSetError {
        RuleSetError::new(self, format!("expected {what}"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
