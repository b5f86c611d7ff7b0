//! Rules, conditions and endpoints.

use super::expression::check_depth;
use super::{Compiler, Node};
use crate::endpoint::RuleSetError;
use crate::endpoint::program::{
    Condition, EndpointTemplate, Expression, Members, Outcome, PropertyTemplate, Rule,
};

impl<'j> Compiler<'j> {
    pub(super) fn rules(
        &mut self,
        node: &Node<'j, '_>,
        depth: usize,
    ) -> Result<Box<[Rule]>, RuleSetError> {
        check_depth(node, depth)?;
        let mut rules = Vec::new();
        for item in node.items()? {
            rules.push(self.rule(&item, depth)?);
        }
        if rules.is_empty() {
            return Err(node.error("expected at least one rule"));
        }
        Ok(rules.into())
    }

    fn rule(&mut self, node: &Node<'j, '_>, depth: usize) -> Result<Rule, RuleSetError> {
        let outside = self.scope.len();
        let mut conditions = Vec::new();
        for item in node.member("conditions")?.items()? {
            conditions.push(self.condition(&item)?);
            self.narrow(&item)?;
        }
        let kind = node.member("type")?;
        let outcome = match kind.text()? {
            "tree" => Outcome::Tree(self.rules(&node.member("rules")?, depth + 1)?),
            _ => self.outcome(node)?,
        };
        // Variables end with their rule.
        self.scope.truncate(outside);
        Ok(Rule {
            conditions: conditions.into(),
            outcome,
        })
    }

    /// A result of a decision diagram: a rule without conditions.
    pub(super) fn result(&self, node: &Node<'j, '_>) -> Result<Outcome, RuleSetError> {
        if let Some(conditions) = node.optional("conditions")?
            && conditions.items()?.len() != 0
        {
            return Err(conditions.error("results of a diagram have no conditions"));
        }
        self.outcome(node)
    }

    fn outcome(&self, node: &Node<'j, '_>) -> Result<Outcome, RuleSetError> {
        let kind = node.member("type")?;
        match kind.text()? {
            "endpoint" => {
                let endpoint = self.endpoint(&node.member("endpoint")?)?;
                Ok(Outcome::Endpoint(Box::new(endpoint)))
            }
            "error" => {
                let message = self.result_text(&node.member("error")?)?;
                Ok(Outcome::Error(message))
            }
            other => Err(kind.error(format!("there is no type of rules `{other}` here"))),
        }
    }

    pub(super) fn condition(&mut self, node: &Node<'j, '_>) -> Result<Condition, RuleSetError> {
        let test = self.call(node, 0)?;
        let assign = match node.optional("assign")? {
            None => None,
            Some(target) => {
                let name = target.text()?;
                match self.find(name) {
                    // Conditions of a diagram may assign the same variable on different paths.
                    Some(known) if !self.strict && known.kind == test.kind => Some(known.slot),
                    Some(_) => {
                        return Err(target.error(format!("the name `{name}` is in use")));
                    }
                    // If the value is absent, the condition does not match, and what follows is not evaluated.
                    None => Some(self.bind(&target, name, test.kind, !self.strict)?),
                }
            }
        };
        Ok(Condition {
            test: test.expression,
            assign,
        })
    }

    /// After a condition has matched, the references that it has as arguments are present in the rest of the rule:
    /// this is what `isSet` tests, and other functions do not match if an argument is absent.
    fn narrow(&mut self, node: &Node<'j, '_>) -> Result<(), RuleSetError> {
        if ["coalesce", "ite"].contains(&node.member("fn")?.text()?) {
            return Ok(());
        }
        let arguments = node.member("argv")?;
        for argument in arguments.items()? {
            if !argument.value.is_object() {
                continue;
            }
            if let Some(name) = argument.optional("ref")?
                && let Some(known) = self.find(name.text()?)
                && known.optional
            {
                let (name, kind) = (known.name, known.kind);
                self.bind(&argument, name, kind, false)?;
            }
        }
        Ok(())
    }

    fn endpoint(&self, node: &Node<'j, '_>) -> Result<EndpointTemplate, RuleSetError> {
        let url = self.result_text(&node.member("url")?)?;
        let mut headers = Vec::new();
        if let Some(found) = node.optional("headers")? {
            for (name, values) in found.members()? {
                let mut list: Vec<Expression> = Vec::new();
                for value in values.items()? {
                    list.push(self.result_text(&value)?);
                }
                headers.push((name.into(), list.into()));
            }
        }
        let properties = match node.optional("properties")? {
            Some(found) => self.record(&found, 0)?,
            None => Box::default(),
        };
        if let Some(found) = node.optional("properties")?
            && let Some(schemes) = found.optional("authSchemes")?
        {
            check_auth_schemes(&schemes)?;
        }
        Ok(EndpointTemplate {
            url,
            headers: headers.into(),
            properties,
        })
    }

    fn record(
        &self,
        node: &Node<'j, '_>,
        depth: usize,
    ) -> Result<Members<PropertyTemplate>, RuleSetError> {
        let mut members = Vec::new();
        for (name, value) in node.members()? {
            members.push((name.into(), self.property(&value, depth + 1)?));
        }
        Ok(members.into())
    }

    fn property(
        &self,
        node: &Node<'j, '_>,
        depth: usize,
    ) -> Result<PropertyTemplate, RuleSetError> {
        check_depth(node, depth)?;
        Ok(match node.value {
            serde_json::Value::Bool(value) => PropertyTemplate::Boolean(*value),
            serde_json::Value::Number(_) => PropertyTemplate::Integer(node.integer()?),
            serde_json::Value::String(_) => PropertyTemplate::Text(self.result_text(node)?),
            serde_json::Value::Array(_) => {
                let mut items = Vec::new();
                for item in node.items()? {
                    items.push(self.property(&item, depth + 1)?);
                }
                PropertyTemplate::Array(items.into())
            }
            serde_json::Value::Object(members) => {
                if members.contains_key("ref") || members.contains_key("fn") {
                    return Err(node.error("properties have no references or functions"));
                }
                PropertyTemplate::Record(self.record(node, depth)?)
            }
            serde_json::Value::Null => {
                return Err(node.error("expected a string, boolean, integer, array or object"));
            }
        })
    }
}

/// `authSchemes` is an array of objects with different names.
fn check_auth_schemes(node: &Node<'_, '_>) -> Result<(), RuleSetError> {
    let mut names = Vec::new();
    for scheme in node.items()? {
        let name = scheme.member("name")?;
        if names.contains(&name.text()?) {
            return Err(name.error("two authentication schemes have the same name"));
        }
        names.push(name.text()?);
        for key in ["signingName", "signingRegion"] {
            if let Some(found) = scheme.optional(key)? {
                found.text()?;
            }
        }
        for key in ["disableDoubleEncoding", "disableNormalizePath"] {
            if let Some(found) = scheme.optional(key)? {
                found.boolean()?;
            }
        }
        if let Some(regions) = scheme.optional("signingRegionSet")? {
            for region in regions.items()? {
                region.text()?;
            }
        }
    }
    Ok(())
}
