//! What is checked of each value, prepared when a service is mounted.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use polywire_schema::{Constraints, Member, Schema, Service};
use polywire_text::pattern::EcmaPattern;
use regex::{Regex, RegexBuilder};

use super::decimal::Bound;
use super::{UncheckedPattern, place_of};

/// How large a compiled pattern may be, in bytes; the space that it works in
/// has the same limit.
const MAX_SIZE: usize = 8 << 20;

/// How deep groups may be nested.
const MAX_NESTING: u32 = 100;

/// How much of a list of enum values or of a pattern is told, in bytes.
const MAX_TOLD: usize = 4096;

/// The checks of a service, by the index of the constraints in the set.
#[derive(Debug)]
pub(super) struct Checks(Vec<Option<Box<Check>>>);

/// What is checked of one value.
#[derive(Debug, Default)]
pub(super) struct Check {
    pub(super) length: Option<(Option<u64>, Option<u64>)>,
    pub(super) range: Option<(Option<Bound>, Option<Bound>)>,
    /// The pattern as the model has it, and compiled, unless it is left out.
    pub(super) pattern: Option<(String, Arc<Regex>)>,
    pub(super) unique_items: bool,
    pub(super) values: Option<Values>,
}

/// The values of an enum.
#[derive(Debug)]
pub(super) struct Values {
    /// Sorted.
    texts: Vec<String>,
    /// Sorted.
    numbers: Vec<i32>,
    /// Those that may be told, as `[a, b]`.
    pub(super) told: String,
}

impl Values {
    fn of(constraints: Constraints<'_>) -> Self {
        let mut told = String::from("[");
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        for value in constraints.values() {
            let number = value.number.to_string();
            let name = if value.text.is_empty() {
                &number
            } else {
                value.text
            };
            if !value.is_internal && told.len() < MAX_TOLD {
                if told.len() > 1 {
                    told.push_str(", ");
                }
                told.push_str(name);
            }
            texts.push(value.text.to_owned());
            numbers.push(value.number);
        }
        told.push_str(if told.len() < MAX_TOLD { "]" } else { ", ...]" });
        texts.sort_unstable();
        numbers.sort_unstable();
        Self {
            texts,
            numbers,
            told,
        }
    }

    pub(super) fn has_text(&self, text: &str) -> bool {
        self.texts
            .binary_search_by(|own| own.as_str().cmp(text))
            .is_ok()
    }

    pub(super) fn has_number(&self, number: i64) -> bool {
        i32::try_from(number).is_ok_and(|number| self.numbers.binary_search(&number).is_ok())
    }
}

impl Checks {
    /// What is checked of the inputs of a service, and the patterns that cannot
    /// be checked.
    pub(super) fn of(service: Service<'_>) -> (Self, Vec<UncheckedPattern>) {
        let mut building = Building::default();
        for operation in service.operations() {
            building.reach(operation.input());
        }
        (Self(building.checks), building.unchecked)
    }

    /// What is checked of the values of a member, apart from what is below.
    pub(super) fn get(&self, at: Member<'_>) -> Option<&Check> {
        let index = at.constraints()?.index() as usize;
        self.0.get(index)?.as_deref()
    }
}

#[derive(Default)]
struct Building<'s> {
    checks: Vec<Option<Box<Check>>>,
    reached: HashSet<u32>,
    compiled: HashMap<&'s str, Option<Arc<Regex>>>,
    unchecked: Vec<UncheckedPattern>,
}

impl<'s> Building<'s> {
    /// Prepares the checks of a shape and of everything below it that is
    /// constrained.
    fn reach(&mut self, shape: Schema<'s>) {
        let mut shapes = vec![shape];
        while let Some(shape) = shapes.pop() {
            if !self.reached.insert(shape.index()) {
                continue;
            }
            for member in shape.members().filter(|member| member.is_constrained()) {
                if let Some(constraints) = member.constraints() {
                    self.prepare(member, constraints);
                }
                shapes.push(member.target());
            }
        }
    }

    fn prepare(&mut self, at: Member<'s>, constraints: Constraints<'s>) {
        let index = constraints.index() as usize;
        if self.checks.len() <= index {
            self.checks.resize_with(index + 1, || None);
        }
        if self.checks[index].is_some() {
            return;
        }
        let range = constraints.range();
        let check = Check {
            length: constraints.length(),
            range: range.map(|(least, most)| (least.map(Bound::of), most.map(Bound::of))),
            pattern: constraints.pattern().and_then(|pattern| {
                let told = pattern.chars().take(MAX_TOLD).collect();
                Some((told, self.compile(at, pattern)?))
            }),
            unique_items: constraints.has_unique_items(),
            values: constraints.is_enum().then(|| Values::of(constraints)),
        };
        self.checks[index] = Some(Box::new(check));
    }

    fn compile(&mut self, at: Member<'s>, pattern: &'s str) -> Option<Arc<Regex>> {
        if let Some(compiled) = self.compiled.get(pattern) {
            return compiled.clone();
        }
        let result = compile(pattern);
        let compiled = result.as_ref().ok().cloned();
        self.compiled.insert(pattern, compiled.clone());
        if let Err(reason) = result {
            self.unchecked.push(UncheckedPattern {
                shape: place_of(at),
                pattern: pattern.to_owned(),
                reason,
            });
        }
        compiled
    }
}

/// The pattern of ECMA 262 as one of the engine's, which is not anchored either.
fn compile(pattern: &str) -> Result<Arc<Regex>, String> {
    let read = EcmaPattern::read(pattern).map_err(|flaw| format!("it has {}", flaw.what))?;
    let Some(translated) = read.translated() else {
        return Err(
            "it has look-around, back-references, or syntax that differs between dialects"
                .to_owned(),
        );
    };
    let built = RegexBuilder::new(translated)
        .size_limit(MAX_SIZE)
        .dfa_size_limit(MAX_SIZE)
        .nest_limit(MAX_NESTING)
        .build();
    built.map(Arc::new).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            format!("it takes more than {MAX_SIZE} bytes when compiled")
        }
        error => {
            let text = error.to_string();
            let last = text.lines().next_back().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    })
}
