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
//! or 10 where the model does not say. A string or integer that is `@required` in input and output
//! under the same name is that of the input.

pub(crate) mod digest;
mod page;
pub(crate) mod sample;

use std::fmt;
use std::sync::Arc;

use polywire_codec::json::{JsonDecoder, JsonProfile};
use polywire_model::{Example, Model, Node};
use polywire_protocol::Fault;
use polywire_rpc::{Handler, IntoOutput, dynamic};
use polywire_schema::{
    Defaults, Error, Limits, Map, Operation, Schema, Service, ShapeKind, complete_structure,
    decode_structure,
};

use self::page::LastPage;

/// What answers an operation of a model with canned data.
pub struct Mock {
    /// The handler.
    pub handler: Arc<dyn Handler>,
    /// What the handler answers with.
    pub(crate) answers: Arc<Answers>,
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
    let echoed = match first {
        Some(_) => Vec::new(),
        None => echoed(operation),
    };
    let answers = Arc::new(Answers {
        examples,
        other: Arc::new(other),
        echoed,
        digests: has_digests.then(|| digest::Bounds::of(operation.input())),
    });
    let own = Arc::clone(&answers);
    Some(Mock {
        handler: Arc::new(dynamic(move |input: Map, _| {
            let answer = own.pick(&input).map(IntoOutput::into_output);
            async move { answer }
        })),
        answers,
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

/// The strings and integers that are required in input and output.
fn echoed(operation: Operation<'_>) -> Vec<String> {
    let members = operation.output().members();
    let members = members.filter(|member| {
        let mut inputs = operation.input().members();
        let same = inputs.find(|input| input.name() == member.name());
        let is_same = same.is_some_and(|input| {
            input.is_required() && input.kind() == member.kind() && is_scalar(input.kind())
        });
        is_same && member.is_required()
    });
    members.map(|member| member.name().to_owned()).collect()
}

/// Whether values of a kind can be identifiers.
pub(crate) const fn is_scalar(kind: ShapeKind) -> bool {
    matches!(
        kind,
        ShapeKind::String
            | ShapeKind::Enum
            | ShapeKind::Byte
            | ShapeKind::Short
            | ShapeKind::Integer
            | ShapeKind::Long
    )
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
pub(crate) struct Answers {
    examples: Vec<Answer>,
    /// The output for an input that no example has.
    other: Arc<Map>,
    /// The members of a sample that are those of the input.
    echoed: Vec<String>,
    /// The bounds of the input's lists, if the output has sums of them.
    digests: Option<digest::Bounds>,
}

impl Answers {
    /// The answer to an input: that of its example, else the first output.
    pub(crate) fn pick(&self, input: &Map) -> Result<Arc<Map>, Fault> {
        if let Some(example) = self.example(input) {
            return example;
        }
        if self.digests.is_none() && self.echoed.is_empty() {
            return Ok(Arc::clone(&self.other));
        }
        let mut output = Map::clone(&self.other);
        for name in &self.echoed {
            // Without validation an input can lack required members.
            if let Some(value) = input.get(name).filter(|value| !value.is_null()) {
                output.insert(name.as_str(), value.clone());
            }
        }
        if let Some(bounds) = &self.digests {
            digest::fill(&mut output, input, bounds);
        }
        Ok(Arc::new(output))
    }

    /// The answer of the example with this very input.
    pub(crate) fn example(&self, input: &Map) -> Option<Result<Arc<Map>, Fault>> {
        let same = self.examples.iter().find(|answer| answer.input == *input)?;
        Some(match &same.output {
            Ok(output) => Ok(Arc::clone(output)),
            Err((id, details)) => Err(Fault::modelled(id.clone(), details.clone())),
        })
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
