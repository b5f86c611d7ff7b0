//! The target of requests: a URI pattern with the literals already encoded.

use std::ops::Range;

use http::Uri;
use polywire_schema::Schema;
use polywire_text::percent;

use super::{Pattern, Segment};
use crate::intern;

/// A pattern with its literals joined, and its labels resolved to members of the input.
#[derive(Debug)]
pub(crate) struct RequestTarget {
    parts: Vec<TargetPart>,
    /// `?` and the literal parameters of the query, percent-encoded. Empty if there are none.
    query: String,
    /// The keys of the literal parameters.
    keys: Vec<String>,
    /// The target, if it does not depend on the input.
    fixed: Option<Uri>,
}

#[derive(Debug)]
enum TargetPart {
    Literal(String),
    /// The value of a member, percent-encoded.
    Label(Label),
}

/// A label of a path.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) name: String,
    /// Whether the label takes any number of segments.
    pub(crate) is_greedy: bool,
    /// Whether a segment of a greedy label can be `.` or `..`.
    pub(crate) allows_dots: bool,
    /// The ordinal of the member. `None` if the input has no member with this name.
    pub(crate) ordinal: Option<u32>,
}

impl RequestTarget {
    pub(crate) fn new(pattern: &Pattern, input: Schema<'_>) -> Self {
        let mut parts = Vec::new();
        let mut literal = String::new();
        for segment in pattern.segments() {
            literal.push('/');
            match segment {
                Segment::Literal(text) => literal.push_str(text),
                Segment::Label(name) | Segment::Greedy(name) => {
                    parts.push(TargetPart::Literal(std::mem::take(&mut literal)));
                    let mut members = input.members();
                    let member = members.find(|member| member.name() == name);
                    parts.push(TargetPart::Label(Label {
                        name: name.clone(),
                        is_greedy: matches!(segment, Segment::Greedy(_)),
                        allows_dots: false,
                        ordinal: member.map(|member| member.ordinal()),
                    }));
                }
            }
        }
        if parts.is_empty() && literal.is_empty() {
            literal.push('/');
        }
        if !literal.is_empty() {
            parts.push(TargetPart::Literal(literal));
        }
        let mut query = String::new();
        for (key, value) in pattern.query() {
            query.push(if query.is_empty() { '?' } else { '&' });
            percent::push(&mut query, key);
            if let Some(value) = value {
                query.push('=');
                percent::push(&mut query, value);
            }
        }
        let fixed = match &parts[..] {
            [TargetPart::Literal(path)] => intern::target(&format!("{path}{query}")),
            _ => None,
        };
        Self {
            parts,
            query,
            keys: pattern.query().iter().map(|(key, _)| key.clone()).collect(),
            fixed,
        }
    }

    /// Allows the segments `.` and `..` in greedy labels. They are sent without encoding.
    pub(crate) fn allow_dots(&mut self) {
        for part in &mut self.parts {
            if let TargetPart::Label(label) = part {
                label.allows_dots = label.is_greedy;
            }
        }
    }

    /// Returns the target if it is the same for all requests without query parameters from members.
    pub(crate) const fn fixed(&self) -> Option<&Uri> {
        self.fixed.as_ref()
    }

    /// Returns whether the query has literal parameters.
    pub(crate) fn has_query(&self) -> bool {
        !self.query.is_empty()
    }

    /// Returns whether the query has a literal parameter with this key.
    pub(crate) fn has_parameter(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key)
    }

    /// Appends the path and the literal query to `out`. `range` returns the range of `out` that
    /// contains the value of a label.
    pub(crate) fn push<E>(
        &self,
        out: &mut Vec<u8>,
        range: impl Fn(&Label, &[u8]) -> Result<Range<usize>, E>,
    ) -> Result<(), E> {
        for part in &self.parts {
            match part {
                TargetPart::Literal(text) => out.extend_from_slice(text.as_bytes()),
                TargetPart::Label(label) => {
                    let range = range(label, out)?;
                    out.extend_from_within(range);
                }
            }
        }
        out.extend_from_slice(self.query.as_bytes());
        Ok(())
    }
}
