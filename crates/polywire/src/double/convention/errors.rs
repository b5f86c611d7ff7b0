//! The errors that actions answer with.

use http::StatusCode;
use polywire_protocol::Fault;
use polywire_schema::{Map, Operation, Schema, Value};

use super::tails;
use crate::mock::sample;
use polywire_model::Model;

/// The errors of an operation that actions use.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    not_found: Vec<ErrorPlan>,
    conflict: Vec<ErrorPlan>,
}

/// A modelled error.
#[derive(Debug)]
struct ErrorPlan {
    id: String,
    /// Its name in lower case.
    name: String,
    /// The member with the text.
    message: Option<String>,
    /// Values of the required members.
    details: Map,
    /// The status of a response that has no body to name the error, and whose error has no status
    /// of its own.
    status: Option<StatusCode>,
}

impl Errors {
    pub(crate) fn of(model: &Model, operation: Operation<'_>) -> Self {
        let plans = |status: u16, words: &[&str]| {
            let errors = operation.errors();
            let errors = errors.filter(|error| matches(*error, status, words));
            let plans = errors.map(|error| {
                let mut plan = ErrorPlan::new(model, error);
                let shape = model.get(error.id());
                let own = shape.and_then(|shape| shape.traits().http_error());
                let is_head = operation
                    .http()
                    .is_some_and(|(method, ..)| method == "HEAD");
                if is_head && own.is_none() {
                    plan.status = StatusCode::from_u16(status).ok();
                }
                plan
            });
            plans.collect()
        };
        Self {
            not_found: plans(404, &["notfound", "nosuch", "notexist", "nonexist"]),
            conflict: plans(
                409,
                &["exists", "conflict", "inuse", "duplicate", "alreadyowned"],
            ),
        }
    }

    /// The error for a thing of this noun that does not exist. `None` if the operation models none.
    pub(crate) fn not_found(&self, noun: &str, key: &str, parts: &[&str]) -> Option<Fault> {
        let plan = preferred(&self.not_found, noun, parts)?;
        Some(plan.fault(&format!("{noun} {key} does not exist")))
    }

    /// The error for a thing that exists already.
    pub(crate) fn conflict(&self, noun: &str, key: &str) -> Option<Fault> {
        let plan = preferred(&self.conflict, noun, &[])?;
        Some(plan.fault(&format!("{noun} {key} exists already")))
    }
}

/// The first error that names the noun or a part of the identity, else the first.
fn preferred<'e>(plans: &'e [ErrorPlan], noun: &str, parts: &[&str]) -> Option<&'e ErrorPlan> {
    let names = |word: &str| plans.iter().find(|plan| plan.name.contains(word));
    let by_noun = tails(noun).find_map(|tail| names(&tail));
    let by_part = || parts.iter().rev().find_map(|part| names(part));
    by_noun.or_else(by_part).or_else(|| plans.first())
}

fn matches(error: Schema<'_>, status: u16, words: &[&str]) -> bool {
    let name = error.name().to_ascii_lowercase();
    let modelled = error.error().map(|error| error.status);
    words.iter().any(|word| name.contains(word)) || modelled == Some(status)
}

impl ErrorPlan {
    fn new(model: &Model, error: Schema<'_>) -> Self {
        let mut members = error.members();
        let message = members.find(|member| member.name().eq_ignore_ascii_case("message"));
        let sample = sample::structure(model, error);
        let required = error.members().filter(|member| member.is_required());
        let details =
            required.filter_map(|member| Some((member.name(), sample.get(member.name())?.clone())));
        Self {
            id: error.id().to_owned(),
            name: error.name().to_ascii_lowercase(),
            message: message.map(|member| member.name().to_owned()),
            details: details.collect(),
            status: None,
        }
    }

    fn fault(&self, text: &str) -> Fault {
        if let Some(status) = self.status {
            let name = self.id.rsplit('#').next().unwrap_or_default();
            return Fault::named(status, name, text);
        }
        let mut details = self.details.clone();
        if let Some(message) = &self.message {
            details.insert(message.as_str(), Value::from(text));
        }
        Fault::modelled(self.id.clone(), details)
    }
}
