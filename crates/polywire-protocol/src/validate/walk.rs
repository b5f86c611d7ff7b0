//! The traversal of a decoded input, as an encoder that writes nothing.
//!
//! A stack has a frame for each open structure, list or map. The path of a value is computed from
//! the stack only for a failure.

use std::cmp::Ordering;
use std::fmt::Write as _;

use polywire_schema::{
    BigDecimal, BigInteger, ByteStream, Encoder, Error, Member, MemberFlags, SchemaSet, ShapeKind,
    Timestamp,
};
use smallvec::SmallVec;

use super::canonical::{Canonical, Tag};
use super::check::{Check, Checks};
use super::decimal::Bound;
use super::failures::Failures;
use crate::Fault;
use crate::event_stream::is_event_stream;

/// The maximum length of a key in a path, in bytes.
const MAX_KEY: usize = 128;

/// The state of a traversal.
pub(super) struct Walk<'v> {
    checks: &'v Checks,
    set: &'v SchemaSet<'v>,
    /// Whether required members can be missing. These are failures.
    reports_missing: bool,
    frames: SmallVec<[Frame; 2]>,
    /// The number of innermost frames that are in a `@sensitive` value.
    sensitive_depth: usize,
    canonical: Canonical,
    failures: Failures,
    /// The error of a value that does not fit its shape. Decoded values always fit.
    error: Option<Error>,
}

/// An open structure, list or map.
enum Frame {
    Structure {
        /// The index of the shape.
        shape: u32,
        /// The ordinal of the current member.
        member: u32,
        /// A bit for each member that is present. Unused unless required members can be missing.
        seen: SmallVec<[u64; 2]>,
    },
    List {
        /// The number of items that have started.
        count: usize,
        /// The offsets of the items in the canonical form, for lists with `@uniqueItems`.
        items: Option<Vec<usize>>,
    },
    Map {
        /// The current key.
        key: String,
        /// The offsets of the entries in the canonical form, inside lists with `@uniqueItems`.
        entries: Option<Vec<usize>>,
    },
}

impl<'v> Walk<'v> {
    pub(super) fn new(checks: &'v Checks, root: Member<'v>, reports_missing: bool) -> Self {
        Self {
            checks,
            set: root.target().set(),
            reports_missing,
            frames: SmallVec::new(),
            sensitive_depth: 0,
            canonical: Canonical::default(),
            failures: Failures::default(),
            error: None,
        }
    }

    pub(super) fn finish(self) -> Result<Failures, Fault> {
        match self.error {
            Some(error) => Err(Fault::internal(error)),
            None => Ok(self.failures),
        }
    }

    /// Starts a value.
    fn begin(&mut self) {
        if let Some(Frame::List { count, items }) = self.frames.last_mut() {
            *count += 1;
            if let Some(items) = items {
                items.push(self.canonical.len());
            }
        }
    }

    fn open(&mut self, at: Member<'_>, frame: Frame) {
        if self.sensitive_depth > 0 || at.has(MemberFlags::SENSITIVE) {
            self.sensitive_depth += 1;
        }
        self.frames.push(frame);
    }

    fn close(&mut self) -> Option<Frame> {
        self.sensitive_depth = self.sensitive_depth.saturating_sub(1);
        self.frames.pop()
    }

    fn check(&self, at: Member<'_>) -> Option<&'v Check> {
        self.checks.get(at)
    }

    fn add_failure(&mut self, what: &str, constraint: &str) {
        let (frames, set) = (&self.frames, self.set);
        self.failures
            .add(what, || path(frames, set, None), constraint);
    }

    fn length(&mut self, check: &Check, len: impl FnOnce() -> usize) {
        let Some((min, max)) = check.length else {
            return;
        };
        let len = len() as u64;
        if min.is_none_or(|min| len >= min) && max.is_none_or(|max| len <= max) {
            return;
        }
        let constraint = match (min, max) {
            (Some(min), Some(max)) => {
                format!("Member must have length between {min} and {max}, inclusive")
            }
            (Some(min), None) => {
                format!("Member must have length greater than or equal to {min}")
            }
            (_, max) => {
                let max = max.unwrap_or(u64::MAX);
                format!("Member must have length less than or equal to {max}")
            }
        };
        self.add_failure(&format!("Value with length {len}"), &constraint);
    }

    /// Checks `@range`. `compare` compares the value with a bound. It returns `None` for NaN.
    fn range(&mut self, check: &Check, compare: impl Fn(&Bound) -> Option<Ordering>) {
        let Some((min, max)) = &check.range else {
            return;
        };
        let is_within = |bound: &Option<Bound>, beyond: Ordering| match bound {
            Some(bound) => compare(bound).is_some_and(|order| order != beyond),
            None => true,
        };
        if is_within(min, Ordering::Less) && is_within(max, Ordering::Greater) {
            return;
        }
        let constraint = match (min, max) {
            (Some(min), Some(max)) => {
                let (min, max) = (&min.text, &max.text);
                format!("Member must be between {min} and {max}, inclusive")
            }
            (Some(min), None) => {
                format!("Member must be greater than or equal to {}", min.text)
            }
            (_, max) => {
                let max = max.as_ref().map_or("", |max| &max.text);
                format!("Member must be less than or equal to {max}")
            }
        };
        self.add_failure("Value", &constraint);
    }

    /// Checks a string or a map key.
    fn check_text(&mut self, at: Member<'_>, value: &str) {
        let Some(check) = self.check(at) else {
            return;
        };
        self.length(check, || value.chars().count());
        if let Some((pattern, regex)) = &check.pattern
            && !regex.is_match(value)
        {
            let constraint = format!("Member must satisfy regular expression pattern: {pattern}");
            self.add_failure("Value", &constraint);
        }
        if let Some(values) = &check.values
            && !values.has_text(value)
        {
            let constraint = format!("Member must satisfy enum value set: {}", values.listing);
            self.add_failure("Value", &constraint);
        }
    }

    /// Starts a map entry. `shown` is the key in paths.
    fn begin_entry(&mut self, shown: &str) {
        if let Some(Frame::Map { key, entries }) = self.frames.last_mut() {
            key.clear();
            key.push_str(shown);
            if let Some(entries) = entries {
                entries.push(self.canonical.len());
            }
        }
    }
}

/// Returns the path of the current value as a JSON pointer (RFC 6901).
fn path(frames: &[Frame], set: &SchemaSet<'_>, last: Option<&str>) -> String {
    let mut path = String::new();
    for frame in frames {
        match frame {
            Frame::Structure { member, .. } if *member == u32::MAX => {}
            Frame::Structure { shape, member, .. } => {
                push_step(&mut path, set.shape(*shape).member(*member).name());
            }
            Frame::List { count, .. } => {
                // Writing to a string cannot fail.
                let _ = write!(path, "/{}", count.saturating_sub(1));
            }
            Frame::Map { key, .. } if key.is_empty() => path.push('/'),
            Frame::Map { key, .. } => push_step(&mut path, key),
        }
    }
    if let Some(last) = last {
        push_step(&mut path, last);
    }
    path
}

fn push_step(path: &mut String, step: &str) {
    path.push('/');
    let start = path.len();
    for character in step.chars() {
        if path.len() - start >= MAX_KEY {
            path.push('\u{2026}');
            return;
        }
        match character {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            character => path.push(character),
        }
    }
}

impl Encoder for Walk<'_> {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        self.begin();
        self.canonical.tag(Tag::Begin);
        let shape = at.target();
        let words = if self.reports_missing {
            shape.len().div_ceil(64) as usize
        } else {
            0
        };
        let frame = Frame::Structure {
            shape: shape.index(),
            member: u32::MAX,
            seen: SmallVec::from_elem(0, words),
        };
        self.open(at, frame);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if let Some(Frame::Structure { member, seen, .. }) = self.frames.last_mut() {
            *member = at.ordinal();
            if let Some(word) = seen.get_mut(at.ordinal() as usize / 64) {
                *word |= 1 << (at.ordinal() % 64);
            }
        }
        if self.canonical.is_open() {
            self.canonical.ordinal(at.ordinal());
            return true;
        }
        self.reports_missing || at.is_constrained()
    }

    fn end_structure(&mut self, at: Member<'_>) {
        self.canonical.tag(Tag::End);
        let Some(Frame::Structure { seen, .. }) = self.close() else {
            return;
        };
        if !self.reports_missing || at.kind() == ShapeKind::Union {
            return;
        }
        let is_needed = |member: &Member<'_>| member.is_required() && !is_event_stream(*member);
        for member in at.target().members().filter(is_needed) {
            let word = seen.get(member.ordinal() as usize / 64).copied();
            if word.unwrap_or(0) & 1 << (member.ordinal() % 64) == 0 {
                let (frames, set) = (&self.frames, self.set);
                let path = || path(frames, set, Some(member.name()));
                self.failures.add("Value", path, "Member must not be null");
            }
        }
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        self.begin();
        self.canonical.tag(Tag::Begin);
        let check = self.check(at);
        if let Some(check) = check {
            self.length(check, || len);
        }
        let is_unique = check.is_some_and(|check| check.unique_items);
        if is_unique {
            self.canonical.open();
        }
        let frame = Frame::List {
            count: 0,
            items: is_unique.then(|| Vec::with_capacity(len.min(1024))),
        };
        self.open(at, frame);
    }

    fn end_list(&mut self, _: Member<'_>) {
        let Some(Frame::List { items, .. }) = self.close() else {
            return;
        };
        if let Some(items) = items
            && self.canonical.close(&items)
        {
            self.add_failure("Value", "Member must have unique values");
        }
        self.canonical.tag(Tag::End);
    }

    fn begin_map(&mut self, at: Member<'_>, len: usize) {
        self.begin();
        self.canonical.tag(Tag::Begin);
        if let Some(check) = self.check(at) {
            self.length(check, || len);
        }
        let frame = Frame::Map {
            key: String::new(),
            entries: self.canonical.is_open().then(Vec::new),
        };
        self.open(at, frame);
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        let mut is_hidden = self.sensitive_depth > 0;
        if at.kind() == ShapeKind::Map {
            let own = at.target().member(0);
            if own.is_constrained() {
                // A failure of a key is reported with the path of the map.
                let frame = self.frames.pop();
                self.check_text(own, key);
                self.frames.extend(frame);
            }
            is_hidden |= own.has(MemberFlags::SENSITIVE);
        }
        self.begin_entry(if is_hidden { "*" } else { key });
        self.canonical.bytes(Tag::Text, key.as_bytes());
    }

    fn end_map(&mut self, _: Member<'_>) {
        if let Some(Frame::Map { entries, .. }) = self.close()
            && let Some(entries) = entries
        {
            self.canonical.sort(&entries);
        }
        self.canonical.tag(Tag::End);
    }

    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.begin();
        self.canonical.bytes(Tag::Boolean, &[u8::from(value)]);
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.begin();
        self.canonical.integer(value);
        let Some(check) = self.check(at) else {
            return;
        };
        self.range(check, |bound| Some(bound.integer(value)));
        if let Some(values) = &check.values
            && !values.has_number(value)
        {
            let constraint = format!("Member must satisfy enum value set: {}", values.listing);
            self.add_failure("Value", &constraint);
        }
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.begin();
        self.canonical.double(f64::from(value));
        if let Some(check) = self.check(at) {
            self.range(check, |bound| bound.float(value));
        }
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.begin();
        self.canonical.double(value);
        if let Some(check) = self.check(at) {
            self.range(check, |bound| bound.double(value));
        }
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.begin();
        self.canonical.bytes(Tag::Number, value.as_str().as_bytes());
        if let Some(check) = self.check(at) {
            self.range(check, |bound| Some(bound.decimal(value.as_str())));
        }
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.begin();
        self.canonical.decimal(value);
        if let Some(check) = self.check(at) {
            self.range(check, |bound| Some(bound.decimal(value.as_str())));
        }
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        self.begin();
        self.canonical.bytes(Tag::Text, value.as_bytes());
        self.check_text(at, value);
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.begin();
        self.canonical.bytes(Tag::Blob, value);
        if let Some(check) = self.check(at) {
            self.length(check, || value.len());
        }
    }

    fn stream(&mut self, at: Member<'_>, value: &ByteStream) {
        match value.as_blob() {
            Some(blob) => self.blob(at, blob),
            // Its length can be unknown, and it is the only value of the body.
            None => self.begin(),
        }
    }

    fn timestamp(&mut self, _: Member<'_>, value: Timestamp) {
        self.begin();
        self.canonical.timestamp(value);
    }

    fn null(&mut self, _: Member<'_>) {
        self.begin();
        self.canonical.tag(Tag::Null);
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
