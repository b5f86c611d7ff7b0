//! Answers for any model without any code.
//!
//! An operation answers from its `@examples`: the example whose input is the
//! call's input, else the first one with an output. Without examples it
//! answers with a sample of its output, which is always the same: the model's
//! defaults, the first value of an enum, `1`, `"string"`, lists of one item,
//! and 200 for an HTTP status.
//!
//! An answer that is not from an example for that very input is the last page of a list: it has
//! no token of `@paginated`, or an empty one if the token is `@required`, and members such as
//! `IsTruncated` are false. A sample leaves out the headers that describe the message itself, such
//! as `Content-Type`. `MD5OfMessageBody` in a sample is the sum of `MessageBody` of the input,
//! which clients of SQS check. Of the items of a batch as many are answered as `@length` allows,
//! or 10 where the model does not say.

mod digest;
mod page;
mod sample;

use std::fmt;
use std::sync::Arc;

use polywire_codec::json::{JsonDecoder, JsonProfile};
use polywire_model::{Example, Model, Node};
use polywire_protocol::Fault;
use polywire_rpc::{Handler, IntoOutput, Output, dynamic};
use polywire_schema::{
    Defaults, Error, Limits, Map, Operation, Schema, Service, complete_structure, decode_structure,
};

use self::page::LastPage;

/// What answers an operation of a model with canned data.
pub struct Mock {
    /// The handler.
    pub handler: Arc<dyn Handler>,
    /// The examples that are not answered with, since they do not fit the shapes of the
    /// operation.
    pub bad_examples: Vec<BadExample>,
}

impl fmt::Debug for Mock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mock")
            .field("bad_examples", &self.bad_examples)
            .finish_non_exhaustive()
    }
}

/// An example that does not fit the shapes of its operation.
#[derive(Debug)]
pub struct BadExample {
    /// Its title.
    pub title: String,
    /// What does not fit.
    pub error: Error,
}

impl fmt::Display for BadExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the example `{}`: {}", self.title, self.error)
    }
}

impl std::error::Error for BadExample {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// A mock of an operation of a service; `None` if the model does not have it.
#[must_use]
pub fn handler(model: &Model, service: Service<'_>, operation: Operation<'_>) -> Option<Mock> {
    let shape = model.get(operation.id())?;
    let mut examples = Vec::new();
    let mut bad_examples = Vec::new();
    for example in shape.traits().examples() {
        match Answer::of(&example, operation) {
            Ok(answer) => examples.extend(answer),
            Err(error) => bad_examples.push(BadExample {
                title: example.title.to_owned(),
                error,
            }),
        }
    }
    let first = examples
        .iter()
        .find_map(|answer| answer.output.as_ref().ok());
    let mut other = match first {
        Some(output) => Map::clone(output),
        None => sample::structure(model, operation.output()),
    };
    let has_digests = first.is_none() && digest::has_digests(&other);
    let page = LastPage::of(model, model.get(service.id()), shape, operation.output());
    page.end(&mut other);
    let answers = Arc::new(Answers {
        examples,
        other: Arc::new(other),
        digests: has_digests.then(|| digest::Bounds::of(operation.input())),
    });
    Some(Mock {
        handler: Arc::new(dynamic(move |input: Map, _| {
            let answer = answers.pick(&input);
            async move { answer }
        })),
        bad_examples,
    })
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

/// All that an operation answers with.
struct Answers {
    examples: Vec<Answer>,
    /// The output for an input that no example has.
    other: Arc<Map>,
    /// The bounds of the input's lists, if the output has sums of them.
    digests: Option<digest::Bounds>,
}

impl Answers {
    fn pick(&self, input: &Map) -> Result<Output, Fault> {
        let same = self.examples.iter().find(|answer| answer.input == *input);
        match (same.map(|answer| &answer.output), &self.digests) {
            (Some(Ok(output)), _) => Ok(Arc::clone(output).into_output()),
            (Some(Err((id, details))), _) => Err(Fault::modelled(id.clone(), details.clone())),
            (None, Some(bounds)) => {
                let mut output = Map::clone(&self.other);
                digest::fill(&mut output, input, bounds);
                Ok(output.into_output())
            }
            (None, None) => Ok(Arc::clone(&self.other).into_output()),
        }
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
