//! The official protocol tests of Smithy and AWS, case by case, on both sides.
//!
//! The suites are models whose operations have traits with cases: a message and its value.
//! `scripts/fetch-suites` downloads them; the package `test-data` defines other folders for them.
//! Without the suites, the test is ignored.
//!
//! `exceptions.txt` lists the cases that fail, with a reason each. The test fails if a case fails
//! without an exception, or passes with one. `POLYWIRE_CASE=TEXT` runs only the cases whose names
//! contain the text, and prints their results.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and says what it counts"
)]

mod cases;
mod compare;
mod event_subject;
mod events;
mod record;
mod report;
mod subject;
mod xml;

use std::collections::BTreeSet;

use polywire_model::{Loader, Model};
use polywire_protocol::{Protocol, ProtocolKind, Validator};
use polywire_schema::{Decode, DecodeStructure, Encode, Operation, Schema};
use serde_json::Value as Json;
use test_data::{Missing, suite};

use crate::event_subject::{EventMaps, EventSubject, GeneratedEvents};
use crate::report::{Report, Side};
use crate::subject::{Codec, Generated, Maps, Subject};

test_data::tests! {
    official_suites,
    every_protocol_has_cases,
    record::behaviour_on_official_cases,
    record::behaviour_on_bodies_of_the_benchmarks,
    report::exceptions_have_reasons,
    report::exceptions_are_whole,
    xml::what_a_writer_may_choose,
}

fn official_suites() -> Result<(), Missing> {
    let models = models()?;
    let mut report = Report::new(std::env::var("POLYWIRE_CASE").ok());
    let mut events = 0;
    for model in &models {
        let mut ran = BTreeSet::new();
        for service in model.services() {
            let id = service.id().as_str();
            let set = model.schemas(id).unwrap().unwrap();
            let service = set.service(0);
            for kind in service.protocols().filter_map(ProtocolKind::from_name) {
                let protocol = kind.build(service).unwrap();
                let validator = Validator::new(service).unwrap();
                for operation in service.operations() {
                    let run = Run {
                        model,
                        service: id,
                        protocol: &*protocol,
                        validator: &validator,
                        operation,
                    };
                    run.all(&mut report);
                    events += run.cases(operation.id(), "eventStreamTests").len();
                    ran.insert(operation.id().to_owned());
                }
            }
        }
        all_ran(model, &ran);
    }
    report.finish();
    println!("{events} cases of event streams, each on both sides");
    Ok(())
}

/// The suites of AWS and of Smithy.
fn models() -> Result<[Model; 2], Missing> {
    let mut aws = Loader::new();
    aws.add_dir(suite("aws")?);
    aws.add_text("strays.smithy", conformance_types::STRAYS);
    let mut smithy = Loader::new();
    smithy.add_dir(suite("smithy")?);
    Ok([aws, smithy].map(|mut loader| loader.assemble().unwrap().model))
}

/// The suites contain cases of all protocols that Smithy defines.
fn every_protocol_has_cases() -> Result<(), Missing> {
    let mut protocols = BTreeSet::new();
    for model in &models()? {
        for shape in model.shapes() {
            let cases = cases(model, shape.id().as_str(), "httpRequestTests");
            protocols.extend(cases.iter().map(|case| case["protocol"].to_string()));
        }
    }
    let kinds = ProtocolKind::ALL.into_iter();
    let kinds = kinds.filter(|kind| !kind.id().starts_with("polywire#"));
    for kind in kinds {
        if !protocols.contains(&Json::from(kind.id()).to_string()) {
            return Err(Missing::part(format!("the suites have no cases of {kind}")));
        }
    }
    Ok(())
}

/// Every operation that has cases belongs to a service.
fn all_ran(model: &Model, ran: &BTreeSet<String>) {
    for shape in model.shapes() {
        let id = shape.id().as_str();
        let events = cases(model, id, "eventStreamTests");
        for case in cases(model, id, "httpRequestTests")
            .into_iter()
            .chain(events)
        {
            let protocol = ProtocolKind::from_name(case["protocol"].as_str().unwrap());
            assert!(protocol.is_none() || ran.contains(id), "{id} did not run");
        }
    }
}

/// Returns the cases in a trait of a shape.
fn cases(model: &Model, id: &str, name: &str) -> Vec<Json> {
    let shape = model.get(id);
    let cases = shape.and_then(|shape| shape.traits().get(&format!("smithy.test#{name}")));
    cases.map_or_else(Vec::new, |cases| {
        serde_json::from_str(&cases.to_json()).unwrap()
    })
}

/// The cases of an operation and of its errors.
struct Run<'a> {
    model: &'a Model,
    service: &'a str,
    protocol: &'a dyn Protocol,
    validator: &'a Validator,
    operation: Operation<'a>,
}

/// The structure of a case.
#[derive(Clone, Copy)]
enum Role {
    Input,
    Output,
    /// A modelled error.
    Shape,
}

/// The subject that runs a case, by its name in the report. `id` is the id of the operation or of
/// the error.
fn subjects(service: &str, role: Role, id: &str) -> Vec<(&'static str, Box<dyn Subject>)> {
    let typed = |codec| {
        let typed = match role {
            Role::Input => conformance_types::visit_input(service, id, Typed(codec)),
            Role::Output => conformance_types::visit_output(service, id, Typed(codec)),
            Role::Shape => conformance_types::visit_shape(service, id, Typed(codec)),
        };
        typed.unwrap_or_else(|| {
            panic!(
                "no type of {id} was generated for {service}; if the suites were not there \
                 when `conformance-types` was built, touch its build.rs"
            )
        })
    };
    vec![
        ("value", Box::new(Maps(Codec::Formats))),
        ("typed", typed(Codec::Formats)),
        #[cfg(feature = "reference")]
        (
            "value through the reference",
            Box::new(Maps(Codec::Reference)),
        ),
        #[cfg(feature = "reference")]
        ("typed through the reference", typed(Codec::Reference)),
    ]
}

/// The types of the events of a stream, by name in the report.
fn event_subject(service: &str, through: &str, stream: Schema<'_>) -> Box<dyn EventSubject> {
    match through {
        "typed" => conformance_types::visit_event(service, stream.id(), TypedEvents)
            .unwrap_or_else(|| panic!("no type of {} was generated", stream.id())),
        _ => Box::new(EventMaps),
    }
}

/// Creates a subject for a generated type of events.
struct TypedEvents;

impl conformance_types::EventVisitor for TypedEvents {
    type Output = Box<dyn EventSubject>;

    fn visit<T>(self) -> Box<dyn EventSubject>
    where
        T: Encode + for<'de> Decode<'de> + 'static,
    {
        Box::new(GeneratedEvents::<T>(std::marker::PhantomData))
    }
}

/// Creates a subject for a generated type.
struct Typed(Codec);

impl conformance_types::Visitor for Typed {
    type Output = Box<dyn Subject>;

    fn visit<T>(self) -> Box<dyn Subject>
    where
        T: Encode + for<'de> DecodeStructure<'de> + 'static,
    {
        Box::new(Generated::<T> {
            codec: self.0,
            of: std::marker::PhantomData,
        })
    }
}

impl Run<'_> {
    fn all(&self, report: &mut Report) {
        let (protocol, operation) = (self.protocol, self.operation);
        for case in self.cases(operation.id(), "httpRequestTests") {
            for (through, subject) in subjects(self.service, Role::Input, operation.id()) {
                report.run(protocol.kind(), Side::ClientRequest, through, &case, || {
                    cases::client_request(protocol, operation, &*subject, &case)
                });
                report.run(protocol.kind(), Side::ServerRequest, through, &case, || {
                    cases::server_request(self, &*subject, &case)
                });
            }
        }
        for case in self.cases(operation.id(), "httpMalformedRequestTests") {
            for case in cases::with_parameters(&case) {
                for (through, subject) in subjects(self.service, Role::Input, operation.id()) {
                    report.run(protocol.kind(), Side::Malformed, through, &case, || {
                        cases::malformed(self, &*subject, &case)
                    });
                }
            }
        }
        for case in self.cases(operation.id(), "eventStreamTests") {
            self.event_stream(&case, report);
        }
        let errors = operation.errors().map(Some);
        for error in std::iter::once(None::<Schema<'_>>).chain(errors) {
            let (role, id) = match error {
                Some(error) => (Role::Shape, error.id()),
                None => (Role::Output, operation.id()),
            };
            for case in self.cases(id, "httpResponseTests") {
                for (through, subject) in subjects(self.service, role, id) {
                    report.run(
                        protocol.kind(),
                        Side::ClientResponse,
                        through,
                        &case,
                        || cases::client_response(protocol, operation, error, &*subject, &case),
                    );
                    report.run(
                        protocol.kind(),
                        Side::ServerResponse,
                        through,
                        &case,
                        || cases::server_response(protocol, operation, error, &*subject, &case),
                    );
                }
            }
        }
    }

    /// Runs a case of an event stream through values and through generated types. Events are
    /// written and read through `dyn`, which the reference implementations are not made for.
    fn event_stream(&self, case: &Json, report: &mut Report) {
        let (id, kind) = (self.operation.id(), self.protocol.kind());
        let inputs = subjects(self.service, Role::Input, id);
        let outputs = subjects(self.service, Role::Output, id);
        for ((through, input), (_, output)) in inputs.into_iter().zip(outputs).take(2) {
            let events = |stream: Schema<'_>| event_subject(self.service, through, stream);
            let subjects = events::Subjects {
                events: &events,
                input: &*input,
                output: &*output,
            };
            for side in [Side::ClientEvents, Side::ServerEvents] {
                report.run(kind, side, through, case, || {
                    events::run(self, side, &subjects, case)
                });
            }
        }
    }

    /// Returns the cases for this protocol in a trait of a shape.
    fn cases(&self, id: &str, name: &str) -> Vec<Json> {
        let mut cases = cases(self.model, id, name);
        cases.retain(|case| case["protocol"] == self.protocol.kind().id());
        cases
    }
}
