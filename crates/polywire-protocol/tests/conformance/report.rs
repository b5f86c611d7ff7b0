//! What passed and what did not.

use std::collections::{BTreeMap, BTreeSet};

use polywire_protocol::ProtocolKind;
use serde_json::Value as Json;

/// What a case is tried as.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Side {
    ClientRequest,
    ServerRequest,
    Malformed,
    ClientResponse,
    ServerResponse,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::ClientRequest => "client request",
            Self::ServerRequest => "server request",
            Self::Malformed => "malformed request",
            Self::ClientResponse => "client response",
            Self::ServerResponse => "server response",
        }
    }

    /// Whether a case is one of this side, by the suite's own words.
    fn has(self, case: &Json) -> bool {
        let side = match self {
            Self::ClientRequest | Self::ClientResponse => "client",
            Self::ServerRequest | Self::Malformed | Self::ServerResponse => "server",
        };
        case["appliesTo"].as_str().is_none_or(|own| own == side)
    }
}

/// How many cases of one kind ended how.
#[derive(Clone, Copy, Default)]
struct Counts {
    passed: u32,
    failed: u32,
    excepted: u32,
    /// The suite itself says that they are for the other side.
    not_applicable: u32,
}

pub(crate) struct Report {
    only: Option<String>,
    /// The lines of `known.txt`; one may end in `*`, for the cases of one
    /// feature.
    known: BTreeSet<&'static str>,
    counts: BTreeMap<String, Counts>,
    /// Those that nobody knew of, with the reason.
    failed: Vec<String>,
    /// The entries of the list that were needed.
    needed: BTreeSet<&'static str>,
}

impl Report {
    pub(crate) fn new(only: Option<String>) -> Self {
        let lines = include_str!("known.txt").lines();
        let entries = lines.map(|line| line.split('#').next().unwrap().trim());
        Self {
            only,
            known: entries.filter(|entry| !entry.is_empty()).collect(),
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
        let known = self
            .known
            .iter()
            .find(|entry| match entry.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == **entry,
            });
        match known {
            Some(entry) => {
                counts.excepted += 1;
                self.needed.insert(entry);
            }
            None => {
                counts.failed += 1;
                self.failed.push(format!("{name}, {through}: {reason}"));
            }
        }
    }

    /// Says what there was, and compares with the list of known failures.
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
        line("total", total);
        let failed = &self.failed;
        assert!(
            failed.is_empty(),
            "{} fail:\n{}",
            failed.len(),
            failed.join("\n")
        );
        let passes: Vec<_> = self.known.difference(&self.needed).collect();
        assert!(
            passes.is_empty() || self.only.is_some(),
            "listed in known.txt, and pass now: {passes:#?}"
        );
    }
}
