//! The report of the passed and failed cases.

use std::collections::{BTreeMap, BTreeSet};

use polywire_protocol::ProtocolKind;
use serde_json::Value as Json;

/// The side that runs a case.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Side {
    ClientRequest,
    ServerRequest,
    Malformed,
    ClientResponse,
    ServerResponse,
    ClientEvents,
    ServerEvents,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::ClientRequest => "client request",
            Self::ServerRequest => "server request",
            Self::Malformed => "malformed request",
            Self::ClientResponse => "client response",
            Self::ServerResponse => "server response",
            Self::ClientEvents => "client event stream",
            Self::ServerEvents => "server event stream",
        }
    }

    /// Returns whether a case applies to this side, according to the suite.
    fn has(self, case: &Json) -> bool {
        let side = match self {
            Self::ClientRequest | Self::ClientResponse | Self::ClientEvents => "client",
            Self::ServerRequest | Self::Malformed | Self::ServerResponse | Self::ServerEvents => {
                "server"
            }
        };
        case["appliesTo"].as_str().is_none_or(|own| own == side)
    }
}

/// The numbers of cases of one kind, by result.
#[derive(Clone, Copy, Default)]
struct Counts {
    passed: u32,
    failed: u32,
    excepted: u32,
    /// Cases that apply only to the other side.
    not_applicable: u32,
}

pub(crate) struct Report {
    only: Option<String>,
    /// The cases of `exceptions.txt`.
    exceptions: BTreeSet<String>,
    counts: BTreeMap<String, Counts>,
    /// Unexpected failures, with the reason.
    failed: Vec<String>,
    /// The exceptions that applied.
    needed: BTreeSet<String>,
}

impl Report {
    pub(crate) fn new(only: Option<String>) -> Self {
        Self {
            only,
            exceptions: exceptions(include_str!("exceptions.txt")).unwrap(),
            counts: BTreeMap::new(),
            failed: Vec::new(),
            needed: BTreeSet::new(),
        }
    }

    /// Runs a case and counts it.
    pub(crate) fn run(
        &mut self,
        kind: ProtocolKind,
        side: Side,
        through: &str,
        case: &Json,
        test: impl FnOnce() -> Result<(), String>,
    ) {
        let id = case["id"].as_str().unwrap();
        if self.only.as_ref().is_some_and(|only| !id.contains(only)) {
            return;
        }
        let row = format!("{kind} {}, {through}", side.name());
        let counts = self.counts.entry(row).or_default();
        if !side.has(case) {
            counts.not_applicable += 1;
            return;
        }
        let name = format!("{kind} {} {id}", side.name());
        let result = test();
        if self.only.is_some() {
            match &result {
                Ok(()) => println!("passed: {name}, {through}"),
                Err(reason) => println!("failed: {name}, {through}: {reason}"),
            }
        }
        let Err(reason) = result else {
            counts.passed += 1;
            return;
        };
        if self.exceptions.contains(&name) {
            counts.excepted += 1;
            self.needed.insert(name);
        } else {
            counts.failed += 1;
            self.failed.push(format!("{name}, {through}: {reason}"));
        }
    }

    /// Prints the numbers, and compares the failures with the list of exceptions.
    pub(crate) fn finish(self) {
        let mut total = Counts::default();
        let line = |what: &str, counts: Counts| {
            println!(
                "{what}: {} passed, {} failed, {} excepted ({} not for this side)",
                counts.passed, counts.failed, counts.excepted, counts.not_applicable
            );
        };
        for (what, counts) in &self.counts {
            line(what, *counts);
            total.passed += counts.passed;
            total.failed += counts.failed;
            total.excepted += counts.excepted;
            total.not_applicable += counts.not_applicable;
        }
        let failed = &self.failed;
        assert!(
            failed.is_empty(),
            "{} fail:\n{}",
            failed.len(),
            failed.join("\n")
        );
        let passes: Vec<_> = self.exceptions.difference(&self.needed).collect();
        assert!(
            passes.is_empty() || self.only.is_some(),
            "listed in exceptions.txt, and pass now: {passes:#?}"
        );
        line("total", total);
    }
}

/// Parses a list of exceptions: protocol, side and case.
///
/// # Errors
///
/// A line is not `protocol | side | case | reason`, or its reason is empty.
fn exceptions(list: &str) -> Result<BTreeSet<String>, String> {
    let lines = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut names = BTreeSet::new();
    for line in lines {
        let fields: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let [protocol, side, case, reason] = fields[..] else {
            return Err(format!("not `protocol | side | case | reason`: {line}"));
        };
        if reason.split_whitespace().count() < 8 {
            return Err(format!("a reason that says nothing: {line}"));
        }
        if !names.insert(format!("{protocol} {side} {case}")) {
            return Err(format!("listed twice: {line}"));
        }
    }
    Ok(names)
}

pub(crate) fn exceptions_have_reasons() {
    let error = exceptions("restXml | client request | SomeCase | does not pass").unwrap_err();
    assert!(error.starts_with("a reason that says nothing"), "{error}");
}

pub(crate) fn exceptions_are_whole() {
    let error = exceptions("restXml | client request | SomeCase").unwrap_err();
    assert!(
        error.starts_with("not `protocol | side | case | reason`"),
        "{error}"
    );
}
