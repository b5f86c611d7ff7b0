//! The official protocol tests of Smithy and AWS, case by case, on both sides.
//!
//! The suites are models whose operations carry cases as traits: a message and
//! the value that it stands for. They are looked for in the folder that
//! `POLYWIRE_CONFORMANCE` names, else in `../shared/conformance` beside the
//! repository; without them the test says so and is skipped.
//!
//! `known.txt` lists the cases that fail, each with the reason. A case that
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

use std::path::PathBuf;

use polywire_model::Loader;
use polywire_protocol::{Protocol, ProtocolKind};
use polywire_schema::{Operation, Schema};
use serde_json::Value as Json;

use crate::report::{Report, Side};
use crate::subject::{Maps, Subject};

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
        let model = Loader::new().add_file(&path).assemble().unwrap().model;
        for (id, shape) in ast["shapes"].as_object().unwrap() {
            if shape["type"] != "service" {
                continue;
            }
            for kind in ProtocolKind::ALL {
                if shape["traits"].get(kind.id()).is_some() {
                    let set = model.schemas(id).unwrap().unwrap();
                    let service = set.service(0);
                    let protocol = kind.build(service).unwrap();
                    for operation in service.operations() {
                        let run = Run {
                            ast: &ast,
                            protocol: &*protocol,
                            operation,
                        };
                        run.all(&mut report);
                    }
                }
            }
        }
    }
    report.finish();
}

/// The cases of an operation and of its errors.
struct Run<'a> {
    ast: &'a Json,
    protocol: &'a dyn Protocol,
    operation: Operation<'a>,
}

/// What a case is run through, by the name that the report has for it.
fn subjects(_: Schema<'_>) -> Vec<(&'static str, Box<dyn Subject>)> {
    vec![("value", Box::new(Maps))]
}

impl Run<'_> {
    fn all(&self, report: &mut Report) {
        let (protocol, operation) = (self.protocol, self.operation);
        for case in self.cases(operation.id(), "httpRequestTests") {
            for (through, subject) in subjects(operation.input()) {
                report.run(protocol.kind(), Side::ClientRequest, through, &case, || {
                    cases::client_request(protocol, operation, &*subject, &case)
                });
                report.run(protocol.kind(), Side::ServerRequest, through, &case, || {
                    cases::server_request(protocol, operation, &*subject, &case)
                });
            }
        }
        for case in self.cases(operation.id(), "httpMalformedRequestTests") {
            for case in cases::with_parameters(&case) {
                for (through, subject) in subjects(operation.input()) {
                    report.run(protocol.kind(), Side::Malformed, through, &case, || {
                        cases::malformed(protocol, operation, &*subject, &case)
                    });
                }
            }
        }
        let errors = operation.errors().map(Some);
        for error in std::iter::once(None::<Schema<'_>>).chain(errors) {
            let shape = error.unwrap_or_else(|| operation.output());
            let id = error.map_or_else(|| operation.id(), Schema::id);
            for case in self.cases(id, "httpResponseTests") {
                for (through, subject) in subjects(shape) {
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
