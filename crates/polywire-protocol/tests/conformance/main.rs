//! The official protocol tests of Smithy and AWS, case by case, on both sides.
//!
//! The suites are models whose operations carry cases as traits: a message and
//! the value that it stands for. They are looked for in the folder that
//! `POLYWIRE_CONFORMANCE` names, else in `../shared/conformance` beside the
//! repository; without them the test says so and is skipped.
//!
//! `exceptions.txt` lists the cases that fail, each with the reason. A case that
//! fails and is not listed, and one that is listed and passes, fail the test.
//! `POLYWIRE_CASE=TEXT` runs only the cases whose name has that text, and
//! prints what becomes of them.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and says what it counts"
)]

mod cases;
mod compare;
mod report;
mod subject;
mod xml;

use std::collections::BTreeSet;
use std::path::PathBuf;

use polywire_model::Loader;
use polywire_protocol::{Protocol, ProtocolKind, Validator};
use polywire_schema::{DecodeStructure, Encode, Operation, Schema};
use serde_json::Value as Json;

use crate::report::{Report, Side};
use crate::subject::{By, Generated, Maps, Subject};

const SUITES: [&str; 2] = ["aws-protocol-tests.json", "smithy-protocol-tests.json"];

#[test]
fn official_suites() {
    let folder = std::env::var_os("POLYWIRE_CONFORMANCE").map_or_else(
        || {
            PathBuf::from(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../../shared/conformance"
            ))
        },
        PathBuf::from,
    );
    if !folder.join(SUITES[0]).is_file() {
        // The fetched suites have the IDL only, and no AST made of it.
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "no official suites"
        );
        println!(
            "skipped: no official suites in {} (POLYWIRE_CONFORMANCE)",
            folder.display()
        );
        return;
    }
    let mut report = Report::new(std::env::var("POLYWIRE_CASE").ok());
    for name in SUITES {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let ast: Json = serde_json::from_str(&text).unwrap();
        let mut loader = Loader::new();
        loader.add_file(&path);
        if name == SUITES[0] {
            loader.add_text("strays.smithy", conformance_types::STRAYS);
        }
        let model = loader.assemble().unwrap().model;
        let mut ran = BTreeSet::new();
        for id in services(&ast).chain(["strays#Strays"]) {
            let Some(set) = model.schemas(id) else {
                continue;
            };
            let set = set.unwrap();
            let service = set.service(0);
            for kind in service.protocols().filter_map(ProtocolKind::from_name) {
                let protocol = kind.build(service).unwrap();
                let validator = Validator::new(service).unwrap();
                for operation in service.operations() {
                    let run = Run {
                        ast: &ast,
                        service: id,
                        protocol: &*protocol,
                        validator: &validator,
                        operation,
                    };
                    run.all(&mut report);
                    ran.insert(operation.id().to_owned());
                }
            }
        }
        all_ran(&ast, &ran);
    }
    report.finish();
}

fn services(ast: &Json) -> impl Iterator<Item = &str> {
    let shapes = ast["shapes"].as_object().unwrap().iter();
    let services = shapes.filter(|(_, shape)| shape["type"] == "service");
    services.map(|(id, _)| id.as_str())
}

/// Every operation that has cases belongs to a service.
fn all_ran(ast: &Json, ran: &BTreeSet<String>) {
    for (id, shape) in ast["shapes"].as_object().unwrap() {
        let cases = shape["traits"]["smithy.test#httpRequestTests"].as_array();
        for case in cases.into_iter().flatten() {
            let protocol = ProtocolKind::from_name(case["protocol"].as_str().unwrap());
            assert!(protocol.is_none() || ran.contains(id), "{id} did not run");
        }
    }
}

/// The cases of an operation and of its errors.
struct Run<'a> {
    ast: &'a Json,
    service: &'a str,
    protocol: &'a dyn Protocol,
    validator: &'a Validator,
    operation: Operation<'a>,
}

/// The structure that a case is about.
#[derive(Clone, Copy)]
enum Role {
    Input,
    Output,
    /// An error of the model.
    Shape,
}

/// What a case is run through, by the name that the report has for it. `id` is
/// the id of the operation, or of the error.
fn subjects(service: &str, role: Role, id: &str) -> Vec<(&'static str, Box<dyn Subject>)> {
    let typed = |by| {
        let typed = match role {
            Role::Input => conformance_types::visit_input(service, id, Typed(by)),
            Role::Output => conformance_types::visit_output(service, id, Typed(by)),
            Role::Shape => conformance_types::visit_shape(service, id, Typed(by)),
        };
        typed.unwrap_or_else(|| panic!("no type of {id} was generated for {service}"))
    };
    vec![
        ("value", Box::new(Maps(By::Formats))),
        ("typed", typed(By::Formats)),
        #[cfg(feature = "reference")]
        ("value by twins", Box::new(Maps(By::Twins))),
        #[cfg(feature = "reference")]
        ("typed by twins", typed(By::Twins)),
    ]
}

/// Makes a subject of a generated type.
struct Typed(By);

impl conformance_types::Visitor for Typed {
    type Output = Box<dyn Subject>;

    fn visit<T>(self) -> Box<dyn Subject>
    where
        T: Encode + for<'de> DecodeStructure<'de> + 'static,
    {
        Box::new(Generated::<T> {
            by: self.0,
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

    /// The cases that a trait of a shape gives for this protocol.
    fn cases(&self, id: &str, name: &str) -> Vec<Json> {
        let cases = &self.ast["shapes"][id]["traits"][format!("smithy.test#{name}")];
        let cases = cases.as_array().into_iter().flatten();
        cases
            .filter(|case| case["protocol"] == self.protocol.kind().id())
            .cloned()
            .collect()
    }
}
