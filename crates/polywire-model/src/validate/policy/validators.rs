//! `metadata validators`: validators that a model defines.
//!
//! `EmitEachSelector` reports each shape that a selector matches, and `EmitNoneSelector` reports
//! that it matches none. Other validators are programs of other tools. They are not run, with a
//! warning.

use polywire_schema::ShapeId;

use super::{check_keys, objects, text};
use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::node::Node;
use crate::rules::{self, Code, Rule};
use crate::selector::{Budget, Graph, Selector, Template};
use crate::severity::Severity;
use crate::source::SourceLocation;
use crate::spelling::one_of;
use crate::validate::selectors::selector_problem;

const RULE: &Rule = rules::VALIDATORS;

pub(crate) fn check(model: &Model, problems: &mut Problems) {
    let Some(node) = model.metadata().get("validators") else {
        return;
    };
    let graph = Graph::new(model);
    let budget = Budget::of_model(graph.len());
    for object in objects(RULE, "validators", node, problems) {
        if problems.is_full() {
            return;
        }
        if let Some(validator) = Validator::read(model, object, problems) {
            validator.run(&graph, &budget, problems);
        }
    }
}

/// A validator of a model.
struct Validator<'m> {
    code: &'m str,
    location: SourceLocation,
    message: Option<&'m str>,
    severity: Severity,
    namespaces: Vec<&'m str>,
    /// A filter of the findings.
    only: Option<Selector>,
    selector: Selector,
    kind: Kind<'m>,
}

enum Kind<'m> {
    Each {
        bound_trait: Option<&'m str>,
        template: Option<Template>,
    },
    None,
}

impl<'m> Validator<'m> {
    fn read(model: &'m Model, object: &'m Node, problems: &mut Problems) -> Option<Self> {
        let known = [
            "configuration",
            "id",
            "message",
            "name",
            "namespaces",
            "selector",
            "severity",
        ];
        check_keys(RULE, object, &known, problems);
        let name = text(RULE, object, "name", true, problems)?;
        let code = text(RULE, object, "id", false, problems).unwrap_or(name);
        let is_each = name == "EmitEachSelector";
        if !is_each && name != "EmitNoneSelector" {
            let message = format!("the validator `{name}` is unknown and is not run");
            let location = object.get("name").map_or(object.location(), Node::location);
            let code = rules::UNKNOWN_VALIDATOR.of(name);
            problems.push(
                Problem::warning(code, location, message)
                    .expected(one_of(["EmitEachSelector", "EmitNoneSelector"].into_iter())),
            );
            return None;
        }
        let message = text(RULE, object, "message", false, problems);
        let severity = severity(object, problems)?;
        let namespaces = namespaces(object, problems);
        let only = match object.get("selector") {
            Some(node) => Some(selector(model, node, problems)?),
            None => None,
        };
        let nothing = Node::empty_object();
        let configuration = object.get("configuration");
        let keys: &[&str] = match is_each {
            true => &["bindToTrait", "messageTemplate", "selector"],
            false => &["selector"],
        };
        check_keys(RULE, configuration.unwrap_or(&nothing), keys, problems);
        let Some(node) = configuration.and_then(|node| node.get("selector")) else {
            let location = configuration.map_or(object.location(), Node::location);
            let message = format!("the validator `{code}` has no selector");
            problems.push(
                Problem::error(RULE, location, message)
                    .expected("`configuration: { selector: \"...\" }`"),
            );
            return None;
        };
        let selector = selector(model, node, problems)?;
        let kind = match is_each {
            true => each(model, configuration?, problems)?,
            false => Kind::None,
        };
        Some(Self {
            code,
            location: node.location(),
            message,
            severity,
            namespaces,
            only,
            selector,
            kind,
        })
    }

    fn run(&self, graph: &Graph<'m>, budget: &Budget, problems: &mut Problems) {
        let only = self.only.as_ref().map(|only| {
            let evaluation = only.evaluation(graph, budget);
            let mut nodes = evaluation.everything(only.sequence());
            nodes.sort_unstable();
            nodes
        });
        let counts = |node| {
            let counts = only
                .as_ref()
                .is_none_or(|only| only.binary_search(&node).is_ok());
            let namespace = || graph.shape_id(node).namespace();
            counts && (self.namespaces.is_empty() || self.namespaces.contains(&namespace()))
        };
        match &self.kind {
            Kind::None => {
                let evaluation = self.selector.evaluation(graph, budget);
                let found = evaluation.everything(self.selector.sequence());
                let is_ours = |node: &u32| graph.is_own(*node);
                // The finding is about no shape, so `namespaces` and `selector` do not apply.
                if !found.iter().any(is_ours) && !budget.is_spent() {
                    let original = format!("no shape matches `{}`", self.selector);
                    problems.push(self.problem(self.location, original));
                }
            }
            Kind::Each {
                bound_trait,
                template,
            } => {
                self.selector
                    .each_match(graph, budget, &mut |node, variables| {
                        if !graph.is_own(node) || !counts(node) {
                            return true;
                        }
                        let location = match bound_trait {
                            Some(id) => match graph.traits(node).find(id) {
                                Some(applied) => applied.location(),
                                None => return true,
                            },
                            None => graph.location(node),
                        };
                        problems.push_with(self.severity, |_| {
                            let original = match template {
                                Some(template) => {
                                    let found = (node, variables);
                                    self.selector.fill(template, graph, budget, found)
                                }
                                None => {
                                    let id = graph.id(node);
                                    format!("`{id}` matches the selector `{}`", self.selector)
                                }
                            };
                            self.problem(location, original)
                                .about(graph.shape_id(node))
                                .related("the rule", self.location)
                        });
                        true
                    });
            }
        }
        if self.selector.checked(budget).is_err() {
            let message = format!(
                "the validator `{}` takes too much work in this model",
                self.code
            );
            problems.push(
                Problem::error(rules::SELECTOR_WORK, self.location, message)
                    .expected("a selector that visits fewer shapes"),
            );
        }
    }

    fn problem(&self, location: SourceLocation, original: String) -> Problem {
        let message = match self.message {
            Some(message) => message.replace("{super}", &original),
            None => original,
        };
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Problem::new(
            self.severity,
            Code::of_validator(self.code),
            location,
            message,
        )
    }
}

fn each<'m>(model: &Model, configuration: &'m Node, problems: &mut Problems) -> Option<Kind<'m>> {
    let bound_trait = text(RULE, configuration, "bindToTrait", false, problems);
    let template = match configuration.get("messageTemplate") {
        None => None,
        Some(node) => {
            let text = text(RULE, configuration, "messageTemplate", true, problems)?;
            match Template::parse(text) {
                Ok(template) => Some(template),
                Err(error) => {
                    problems.push(selector_problem(model, RULE, node, "the template", &error));
                    return None;
                }
            }
        }
    };
    if let (Some(id), Some(node)) = (bound_trait, configuration.get("bindToTrait"))
        && ShapeId::parse(id).is_err()
    {
        let message = "`bindToTrait` is not a shape id";
        problems.push(
            Problem::error(RULE, node.location(), message)
                .expected("the absolute id of a trait, such as `smithy.api#tags`"),
        );
        return None;
    }
    Some(Kind::Each {
        bound_trait,
        template,
    })
}

fn selector(model: &Model, node: &Node, problems: &mut Problems) -> Option<Selector> {
    let Some(text) = node.as_str() else {
        let message = format!("the selector is {}", node.kind());
        problems.push(Problem::error(RULE, node.location(), message).expected("a string"));
        return None;
    };
    match Selector::parse(text) {
        Ok(selector) => Some(selector),
        Err(error) => {
            problems.push(selector_problem(model, RULE, node, "the selector", &error));
            None
        }
    }
}

/// The severity of the findings. `None` if it is invalid.
fn severity(object: &Node, problems: &mut Problems) -> Option<Severity> {
    let Some(node) = object.get("severity") else {
        return Some(Severity::Danger);
    };
    let known = [
        ("NOTE", Severity::Note),
        ("WARNING", Severity::Warning),
        ("DANGER", Severity::Danger),
    ];
    let name = node.as_str();
    let found = known.iter().find(|(known, _)| Some(*known) == name);
    if found.is_none() {
        let mut problem = Problem::error(
            RULE,
            node.location(),
            match name {
                Some("ERROR") => "a validator of a model cannot report errors".to_owned(),
                Some(name) => format!(
                    "`{}` is not a severity",
                    name.chars().take(60).collect::<String>()
                ),
                None => format!("`severity` is {}", node.kind()),
            },
        );
        problem = problem.expected(one_of(known.iter().map(|(name, _)| *name)));
        problems.push(problem);
    }
    found.map(|(_, severity)| *severity)
}

fn namespaces<'m>(object: &'m Node, problems: &mut Problems) -> Vec<&'m str> {
    let Some(node) = object.get("namespaces") else {
        return Vec::new();
    };
    let texts: Option<Vec<&str>> = node.as_array().and_then(|items| {
        let texts = items.iter().map(Node::as_str);
        texts.collect()
    });
    texts.unwrap_or_else(|| {
        let message = "`namespaces` is not a list of namespaces";
        problems
            .push(Problem::error(RULE, node.location(), message).expected("an array of strings"));
        Vec::new()
    })
}
