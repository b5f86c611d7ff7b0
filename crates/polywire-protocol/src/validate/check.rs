//! The checks for each value, prepared when a service is mounted.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use polywire_schema::{Constraints, Member, Schema, Service};
use polywire_text::pattern::EcmaPattern;
use regex::{Regex, RegexBuilder};

use super::decimal::Bound;
use super::{UncheckedPattern, constrained_id};

/// The maximum size of a compiled pattern, and of the cache of its automaton, in bytes.
const MAX_SIZE: usize = 8 << 20;

/// The maximum nesting of groups.
const MAX_NESTING: u32 = 100;

/// The maximum length of a pattern or a list of enum values in messages, in bytes.
const MAX_LISTING: usize = 4096;

/// The checks of a service, by the index of the constraints in the schema set.
#[derive(Debug)]
pub(super) struct Checks(Vec<Option<Box<Check>>>);

/// The checks for one value.
#[derive(Debug, Default)]
pub(super) struct Check {
    pub(super) length: Option<(Option<u64>, Option<u64>)>,
    pub(super) range: Option<(Option<Bound>, Option<Bound>)>,
    /// The pattern in the model and in compiled form. `None` if it cannot be checked.
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
    /// The values without `@internal`, as `[a, b]`, for messages.
    pub(super) listing: String,
}

impl Values {
    fn of(constraints: Constraints<'_>) -> Self {
        let mut listing = String::from("[");
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        for value in constraints.values() {
            let number = value.number.to_string();
            let name = if value.text.is_empty() {
                &number
            } else {
                value.text
            };
            if !value.is_internal && listing.len() < MAX_LISTING {
                if listing.len() > 1 {
                    listing.push_str(", ");
                }
                listing.push_str(name);
            }
            texts.push(value.text.to_owned());
            numbers.push(value.number);
        }
        listing.push_str(if listing.len() < MAX_LISTING {
            "]"
        } else {
            ", ...]"
        });
        texts.sort_unstable();
        numbers.sort_unstable();
        Self {
            texts,
            numbers,
            listing,
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
    /// Prepares the checks for the inputs of a service. Returns also the patterns that cannot be
    /// checked.
    pub(super) fn of(service: Service<'_>) -> (Self, Vec<UncheckedPattern>) {
        let mut builder = ChecksBuilder::default();
        for operation in service.operations() {
            builder.add_shape(operation.input());
        }
        (Self(builder.checks), builder.unchecked)
    }

    /// Returns the checks for the value of a member itself, without its members or items.
    pub(super) fn get(&self, at: Member<'_>) -> Option<&Check> {
        let index = at.constraints()?.index() as usize;
        self.0.get(index)?.as_deref()
    }
}

#[derive(Default)]
struct ChecksBuilder<'s> {
    checks: Vec<Option<Box<Check>>>,
    visited: HashSet<u32>,
    compiled: HashMap<&'s str, Option<Arc<Regex>>>,
    unchecked: Vec<UncheckedPattern>,
}

impl<'s> ChecksBuilder<'s> {
    /// Prepares the checks for a shape, and for all shapes that it contains.
    fn add_shape(&mut self, shape: Schema<'s>) {
        let mut shapes = vec![shape];
        while let Some(shape) = shapes.pop() {
            if !self.visited.insert(shape.index()) {
                continue;
            }
            for member in shape.members().filter(|member| member.is_constrained()) {
                if let Some(constraints) = member.constraints() {
                    self.add_check(member, constraints);
                }
                shapes.push(member.target());
            }
        }
    }

    fn add_check(&mut self, at: Member<'s>, constraints: Constraints<'s>) {
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
            range: range.map(|(min, max)| (min.map(Bound::of), max.map(Bound::of))),
            pattern: constraints.pattern().and_then(|pattern| {
                let shown = pattern.chars().take(MAX_LISTING).collect();
                Some((shown, self.compile(at, pattern)?))
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
                shape: constrained_id(at),
                pattern: pattern.to_owned(),
                reason,
            });
        }
        compiled
    }
}

/// Compiles an ECMA 262 pattern. The regex engine does not anchor patterns either.
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
