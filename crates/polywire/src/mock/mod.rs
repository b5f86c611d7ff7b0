//! Answers for any model without any code.
//!
//! An operation answers from its `@examples`: the example whose input is the
//! call's input, else the first one with an output. Without examples it
//! answers with a sample of its output, which is always the same: the model's
//! defaults, the first value of an enum, `1`, `"string"`, lists of one item,
//! and 200 for an HTTP status.

mod sample;

use std::sync::Arc;

use polywire_codec::json::{JsonDecoder, JsonProfile};
use polywire_model::{Example, Model, Node};
use polywire_protocol::Fault;
use polywire_rpc::{Handler, Output, dynamic};
use polywire_schema::{
    Defaults, Error, Limits, Map, Operation, Schema, complete_structure, decode_structure,
};

/// A handler that answers an operation of a model with canned data; `None` if
/// the model does not have it.
///
/// # Errors
///
/// An example of the operation does not fit its shapes.
pub fn handler(model: &Model, operation: Operation<'_>) -> Option<Result<Arc<dyn Handler>, Error>> {
    let shape = model.get(operation.id())?;
    let examples = shape.traits().examples();
    let answers = examples
        .iter()
        .map(|example| Answer::of(example, operation));
    let mut answers = match answers.collect::<Result<Vec<Option<Answer>>, Error>>() {
        Ok(answers) => answers.into_iter().flatten().collect::<Vec<_>>(),
        Err(error) => return Some(Err(error)),
    };
    if !answers.iter().any(|answer| answer.output.is_ok()) {
        let output = sample::structure(model, operation.output());
        answers.push(Answer {
            input: Map::new(),
            output: Ok(Arc::new(output)),
        });
    }
    let answers = Arc::new(answers);
    Some(Ok(Arc::new(dynamic(move |input: Map, _| {
        let answer = pick(&answers, &input);
        async move { answer }
    }))))
}

/// An input that an operation takes, and whether it is from an example; a
/// sample otherwise. `None` if the model does not have the operation.
#[must_use]
pub fn input(model: &Model, operation: Operation<'_>) -> Option<(Map, bool)> {
    let shape = model.get(operation.id())?;
    let examples = shape.traits().examples();
    let example = examples.iter().find(|example| example.error.is_none());
    let known = example.and_then(|example| members(example.input, operation.input()).ok());
    Some(match known {
        Some(input) => (input, true),
        None => (sample::structure(model, operation.input()), false),
    })
}

/// An input and what it is answered with.
#[derive(Debug)]
struct Answer {
    input: Map,
    /// The output, or the id and the members of an error.
    output: Result<Arc<Map>, (String, Map)>,
}

impl Answer {
    fn of(example: &Example<'_>, operation: Operation<'_>) -> Result<Option<Self>, Error> {
        let input = members(example.input, operation.input())?;
        let output = match (&example.output, &example.error) {
            (Some(output), _) => Ok(Arc::new(members(Some(output), operation.output())?)),
            (None, Some((id, content))) => match operation.find_error(id) {
                Some(error) => Err((error.id().to_owned(), members(*content, error)?)),
                None => return Ok(None),
            },
            (None, None) => Ok(Arc::default()),
        };
        Ok(Some(Self { input, output }))
    }
}

fn pick(answers: &[Answer], input: &Map) -> Result<Output, Fault> {
    let same = answers.iter().find(|answer| answer.input == *input);
    let any = || answers.iter().find(|answer| answer.output.is_ok());
    match same.or_else(any).map(|answer| &answer.output) {
        Some(Ok(output)) => Ok(polywire_rpc::IntoOutput::into_output(Arc::clone(output))),
        Some(Err((id, details))) => Err(Fault::modelled(id.clone(), details.clone())),
        None => Err(Fault::internal("a mock without an answer")),
    }
}

/// The members that a node of a model gives, by the schema of their structure,
/// and the defaults of those that it does not give: a server reads them so.
pub(crate) fn members(node: Option<&Node>, shape: Schema<'_>) -> Result<Map, Error> {
    let Some(node) = node else {
        return Ok(Map::new());
    };
    let json = node.to_json();
    let read = |profile| {
        let mut map = Map::new();
        let mut decoder = JsonDecoder::from_str(&json, profile, &Limits::DEFAULT)?;
        decode_structure(&mut map, shape.root(), &mut decoder)?;
        complete_structure(&mut map, shape.root(), &mut decoder)?;
        Ok(map)
    };
    // Models write blobs as base64; some older ones as plain text.
    let profile = JsonProfile::NODE.with_defaults(Defaults::Server);
    read(profile.with_text_blobs(false)).or_else(|_: Error| read(profile))
}
