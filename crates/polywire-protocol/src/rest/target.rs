//! The target of a request: a URI pattern, ready to be filled in.

use std::ops::Range;

use http::Uri;
use polywire_schema::Schema;
use polywire_text::percent;

use super::{Pattern, Segment};
use crate::kept;

/// A pattern whose literals are joined and whose labels are places of members.
#[derive(Debug)]
pub(crate) struct Target {
    parts: Vec<Part>,
    /// `?` and the literals of the query, if there are any.
    query: String,
    /// Their keys.
    keys: Vec<String>,
    /// The whole target, if no member has a part in it.
    fixed: Option<Uri>,
}

#[derive(Debug)]
enum Part {
    Literal(String),
    /// The value of a member, which has been encoded.
    Label(Label),
}

/// A label of a path.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) name: String,
    /// Whether it stands for any number of segments.
    pub(crate) greedy: bool,
    /// Whether its segments may be `.` and `..`.
    pub(crate) keeps_dots: bool,
    /// `None` if the input has no such member.
    pub(crate) ordinal: Option<u32>,
}

impl Target {
    pub(crate) fn new(pattern: &Pattern, input: Schema<'_>) -> Self {
        let mut parts = Vec::new();
        let mut literal = String::new();
        for segment in pattern.segments() {
            literal.push('/');
            match segment {
                Segment::Literal(text) => literal.push_str(text),
                Segment::Label(name) | Segment::Greedy(name) => {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                    let mut members = input.members();
                    let member = members.find(|member| member.name() == name);
                    parts.push(Part::Label(Label {
                        name: name.clone(),
                        greedy: matches!(segment, Segment::Greedy(_)),
                        keeps_dots: false,
                        ordinal: member.map(|member| member.ordinal()),
                    }));
                }
            }
        }
        if parts.is_empty() && literal.is_empty() {
            literal.push('/');
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
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
            [Part::Literal(path)] => kept::target(&format!("{path}{query}")),
            _ => None,
        };
        Self {
            parts,
            query,
            keys: pattern.query().iter().map(|(key, _)| key.clone()).collect(),
            fixed,
        }
    }

    /// Sends the segments `.` and `..` of greedy labels as they are.
    pub(crate) fn keep_dots(&mut self) {
        for part in &mut self.parts {
            if let Part::Label(label) = part {
                label.keeps_dots = label.greedy;
            }
        }
    }

    /// The target of requests that have no parameters of members, if it is
    /// always the same.
    pub(crate) const fn fixed(&self) -> Option<&Uri> {
        self.fixed.as_ref()
    }

    /// Whether something stands in the query already.
    pub(crate) fn has_query(&self) -> bool {
        !self.query.is_empty()
    }

    /// Whether a parameter stands there already.
    pub(crate) fn has_parameter(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key)
    }

    /// Writes path and literal query behind the values of labels. `range` says
    /// where in the texts before the value of a label stands.
    pub(crate) fn push<E>(
        &self,
        out: &mut Vec<u8>,
        range: impl Fn(&Label, &[u8]) -> Result<Range<usize>, E>,
    ) -> Result<(), E> {
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Part::Label(label) => {
                    let range = range(label, out)?;
                    out.extend_from_within(range);
                }
            }
        }
        out.extend_from_slice(self.query.as_bytes());
        Ok(())
    }
}
