//! Compares the results of the protocols, for all official cases and the bodies of the benchmarks,
//! complete and damaged, with a recorded digest for each case ([`test_data::record`]).

use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use polywire_protocol::{Fault, ProtocolKind, Validator};
use polywire_schema::{Body, Schema};
use serde_json::Value as Json;
use test_data::record::{Record, Transcript, digest};
use test_data::{Missing, data};

use crate::subject::{Codec, EncodedResponse, Maps, Subject};
use crate::{Role, Run, cases, models, subjects};

/// The number of offsets at which a long body is truncated and changed. A shorter body is truncated
/// at each.
const PLACES: usize = 120;

fn record(name: &str) -> Record {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    Record::new(&folder.join(name))
}

pub(crate) fn behaviour_on_official_cases() -> Result<(), Missing> {
    let models = models()?;
    let mut record = record("official.digests");
    for model in &models {
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
                    run.record(&mut record);
                }
            }
        }
    }
    let [compared, new, gone] = record.finish_any_version();
    println!("{compared} cases compared, {new} new, {gone} gone");
    Ok(())
}

pub(crate) fn behaviour_on_bodies_of_the_benchmarks() -> Result<(), Missing> {
    let folder = data("bench/smithy")?;
    let mut loader = polywire_model::Loader::new();
    loader.add_path(folder.join("model.json"));
    let model = loader.assemble().unwrap().model;
    let manifest = std::fs::read_to_string(folder.join("manifest.tsv")).unwrap();
    let mut record = record("bodies.digests");
    for service in model.services() {
        let id = service.id().as_str();
        let set = model.schemas(id).unwrap().unwrap();
        let service = set.service(0);
        for kind in service.protocols().filter_map(ProtocolKind::from_name) {
            let protocol = kind.build(service).unwrap();
            let validator = Validator::new(service).unwrap();
            for line in manifest.lines().skip(1) {
                let fields: Vec<&str> = line.split('\t').collect();
                let operation = service.find_operation(fields[3]);
                let (true, Some(operation)) = (kind.name() == fields[0], operation) else {
                    continue;
                };
                let run = Run {
                    model: &model,
                    service: id,
                    protocol: &*protocol,
                    validator: &validator,
                    operation,
                };
                let read = |path: &str| std::fs::read(folder.join(path)).unwrap();
                let body = read(fields[4]);
                let case = fields[8].split(' ').next().unwrap();
                let mut case: Json = serde_json::from_slice(&read(case)).unwrap();
                let name = format!("{} {} {}", fields[0], fields[2], fields[1]);
                if fields[2] == "deserialize" {
                    record.case(&name, |to| {
                        run.response(None, &Maps(Codec::Formats), &case, &body, to);
                    });
                    continue;
                }
                let params = format!("{}/serialize/{}.params.json", fields[0], fields[1]);
                case["params"] = serde_json::from_slice(&read(&params)).unwrap();
                record.case(&name, |to| {
                    run.written_request(&Maps(Codec::Formats), &case, to);
                });
            }
        }
    }
    println!("{} cases", record.finish());
    Ok(())
}

impl Run<'_> {
    fn record(&self, record: &mut Record) {
        let (kind, operation) = (self.protocol.kind(), self.operation);
        // Versions of the suites change cases without renaming them.
        let name = |side: &str, case: &Json| {
            let version = digest(case.to_string().as_bytes());
            let case = case["id"].as_str().unwrap();
            format!("{kind} {} {side} {case} {version}", self.service)
        };
        for case in self.cases(operation.id(), "httpRequestTests") {
            record.case(&name("request", &case), |to| {
                for (through, subject) in self.subjects(Role::Input, operation.id()) {
                    writeln!(to, "{through}").unwrap();
                    self.written_request(&*subject, &case, to);
                    self.request(&*subject, &case, to);
                }
            });
        }
        for case in self.cases(operation.id(), "httpMalformedRequestTests") {
            for case in cases::with_parameters(&case) {
                record.case(&name("malformed", &case), |to| {
                    for (through, subject) in self.subjects(Role::Input, operation.id()) {
                        writeln!(to, "{through}").unwrap();
                        self.request(&*subject, &case["request"], to);
                    }
                });
            }
        }
        let errors = operation.errors().map(Some);
        for error in std::iter::once(None::<Schema<'_>>).chain(errors) {
            let (role, id) = match error {
                Some(error) => (Role::Shape, error.id()),
                None => (Role::Output, operation.id()),
            };
            for case in self.cases(id, "httpResponseTests") {
                let side = format!("response of {}", operation.name());
                record.case(&name(&side, &case), |to| {
                    for (through, subject) in self.subjects(role, id) {
                        writeln!(to, "{through}").unwrap();
                        let body = crate::compare::body(&case);
                        self.response(error, &*subject, &case, &body, to);
                    }
                });
            }
        }
    }

    /// Uses the formats. `official_suites` compares them with their reference implementations.
    fn subjects(&self, role: Role, id: &str) -> Vec<(&'static str, Box<dyn Subject>)> {
        let mut subjects = subjects(self.service, role, id);
        subjects.retain(|(through, _)| !through.contains("reference"));
        subjects
    }

    /// A client encodes a request with the value of the case.
    fn written_request(&self, subject: &dyn Subject, case: &Json, to: &mut Transcript) {
        let written = cases::params(subject, case, self.operation.input())
            .and_then(|input| cases::sent(self.protocol, self.operation, &*input));
        match written {
            Ok(request) => {
                let (head, body) = request.into_parts();
                writeln!(to, "{head:?}").unwrap();
                to.bytes(&body);
            }
            Err(error) => writeln!(to, "{error}").unwrap(),
        }
    }

    /// A server decodes the request of the case.
    fn request(&self, subject: &dyn Subject, case: &Json, to: &mut Transcript) {
        let (mut head, body) = cases::request(case);
        cases::complete(self.protocol.kind(), self.operation, &mut head);
        broken(body.as_bytes(), |label, bytes| {
            let body = Body::from(bytes.to_vec());
            match cases::read(self, subject, &head, &body) {
                Ok((_, input)) => {
                    writeln!(to, "{label}: {}", input.show(self.operation.input())).unwrap();
                }
                Err(fault) => self.refused(label, &fault, to),
            }
        });
    }

    fn refused(&self, label: &str, fault: &Fault, to: &mut Transcript) {
        let response = self.protocol.encode_fault(Some(self.operation), fault);
        let (head, body) = response.into_parts();
        writeln!(to, "{label}: {fault}\n{head:?}").unwrap();
        to.bytes(&body);
    }

    /// A client decodes the response of the case. A server encodes its value.
    fn response(
        &self,
        error: Option<Schema<'_>>,
        subject: &dyn Subject,
        case: &Json,
        body: &[u8],
        to: &mut Transcript,
    ) {
        let (protocol, operation) = (self.protocol, self.operation);
        let head = cases::response_head(case);
        broken(body, |label, bytes| {
            let body = Body::new(Bytes::copy_from_slice(bytes));
            let answer = EncodedResponse {
                head: &head,
                body: &body,
                limits: &cases::LIMITS,
            };
            let outcome = protocol.outcome(operation, &head, &body, &cases::LIMITS);
            writeln!(to, "{label}: {outcome:?}").unwrap();
            let (shape, read) = match error {
                None => (
                    operation.output(),
                    subject.decode_output(protocol, operation, &answer),
                ),
                Some(error) => (error, subject.decode_error(protocol, error, &answer)),
            };
            match read {
                Ok(value) => writeln!(to, "{}", value.show(shape)).unwrap(),
                Err(error) => writeln!(
                    to,
                    "{:?} at {:?} in {:?}: {error}",
                    error.kind(),
                    error.offset(),
                    error.path()
                )
                .unwrap(),
            }
        });
        match cases::written_response(protocol, operation, error, subject, case) {
            Ok(response) => {
                let (head, body) = response.into_parts();
                writeln!(to, "{head:?}").unwrap();
                to.bytes(&body);
            }
            Err(error) => writeln!(to, "{error}").unwrap(),
        }
    }
}

/// Calls `read` with the body, with its prefixes, and with changed bytes.
fn broken(body: &[u8], mut read: impl FnMut(&str, &[u8])) {
    read("whole", body);
    let step = body.len().div_ceil(PLACES).max(1);
    let mut changed = body.to_vec();
    for at in (0..body.len()).step_by(step) {
        read(&format!("cut at {at}"), &body[..at]);
        for byte in [b' ', body[at] ^ 1] {
            changed[at] = byte;
            read(&format!("{byte:#x} at {at}"), &changed);
        }
        changed[at] = body[at];
    }
}
