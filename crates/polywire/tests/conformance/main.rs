//! The official protocol tests of Smithy and AWS, case by case, on both sides.
//!
//! The suites are models whose operations carry cases as traits: a message and
//! the value that it stands for. They are looked for in the folder that
//! `POLYWIRE_CONFORMANCE` names, else in `../shared/conformance` beside the
//! repository; without them the test says so and is skipped.
//!
//! `known.txt` lists the cases that fail, each with the reason. A case that
//! fails and is not listed, and one that is listed and passes, fail the test.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and says what it counts"
)]

mod cases;
mod compare;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use polywire::model::Loader;
use polywire::prelude::*;
use polywire::protocol::Protocol;
use polywire::schema::{Operation, Schema};
use serde_json::Value as Json;

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
    let mut report = Report::default();
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
                    let service = polywire::service_of(&model, Some(id)).unwrap();
                    let protocol = kind.build(service.service()).unwrap();
                    for operation in service.service().operations() {
                        of_operation(&mut report, &ast, &*protocol, operation);
                    }
                }
            }
        }
    }
    report.finish();
}

/// The cases of an operation and of its errors.
fn of_operation(
    report: &mut Report,
    ast: &Json,
    protocol: &dyn Protocol,
    operation: Operation<'_>,
) {
    let kind = protocol.kind();
    let of = |id: &str, name: &str| -> Vec<Json> {
        let cases = &ast["shapes"][id]["traits"][format!("smithy.test#{name}")];
        let cases = cases.as_array().into_iter().flatten();
        cases
            .filter(|case| case["protocol"] == kind.id())
            .cloned()
            .collect()
    };
    let applies =
        |case: &Json, side: &str| case["appliesTo"].as_str().is_none_or(|own| own == side);

    for case in of(operation.id(), "httpRequestTests") {
        if applies(&case, "client") {
            report.add(
                kind,
                "client request",
                &case,
                cases::client_request(protocol, operation, &case),
            );
        }
        if applies(&case, "server") {
            report.add(
                kind,
                "server request",
                &case,
                cases::server_request(protocol, operation, &case),
            );
        }
    }
    for case in of(operation.id(), "httpMalformedRequestTests") {
        for case in cases::with_parameters(&case) {
            report.add(
                kind,
                "malformed request",
                &case,
                cases::malformed(protocol, operation, &case),
            );
        }
    }
    let errors = operation.errors().map(Some);
    for error in std::iter::once(None::<Schema<'_>>).chain(errors) {
        let id = error.map_or_else(|| operation.id(), Schema::id);
        for case in of(id, "httpResponseTests") {
            if applies(&case, "client") {
                let result = cases::client_response(protocol, operation, error, &case);
                report.add(kind, "client response", &case, result);
            }
            if applies(&case, "server") {
                let result = cases::server_response(protocol, operation, error, &case);
                report.add(kind, "server response", &case, result);
            }
        }
    }
}

/// What passed and what did not.
#[derive(Default)]
struct Report {
    counts: BTreeMap<String, (u32, u32)>,
    failed: BTreeMap<String, String>,
}

impl Report {
    fn add(&mut self, kind: ProtocolKind, what: &str, case: &Json, result: Result<(), String>) {
        let count = self.counts.entry(format!("{kind} {what}")).or_default();
        match result {
            Ok(()) => count.0 += 1,
            Err(reason) => {
                count.1 += 1;
                let id = case["id"].as_str().unwrap();
                self.failed.insert(format!("{kind} {what} {id}"), reason);
            }
        }
    }

    /// Compares with the list of known failures.
    fn finish(self) {
        for (what, (passed, failed)) in &self.counts {
            println!("{what}: {passed} passed, {failed} known to fail");
        }
        let mut known = BTreeSet::new();
        for line in include_str!("known.txt").lines() {
            let entry = line.split('#').next().unwrap().trim();
            if !entry.is_empty() {
                known.insert(entry);
            }
        }
        // A line may end in `*`, for the cases of one feature.
        let is_known = |case: &str| {
            known.iter().any(|entry| match entry.strip_suffix('*') {
                Some(prefix) => case.starts_with(prefix),
                None => case == *entry,
            })
        };
        let new = self.failed.iter().filter(|(case, _)| !is_known(case));
        let new: Vec<String> = new
            .map(|(case, reason)| format!("{case}: {reason}"))
            .collect();
        let passes = known.iter().filter(|entry| {
            !self
                .failed
                .keys()
                .any(|case| match entry.strip_suffix('*') {
                    Some(prefix) => case.starts_with(prefix),
                    None => case == *entry,
                })
        });
        let passes: Vec<_> = passes.collect();
        assert!(new.is_empty(), "{} fail:\n{}", new.len(), new.join("\n"));
        assert!(
            passes.is_empty(),
            "listed in known.txt, and pass now: {passes:#?}"
        );
    }
}
