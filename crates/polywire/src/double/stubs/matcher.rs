//! Matchers of inputs.

use polywire_schema::{Map, Member, NameSource, Schema, ShapeKind, Value};
use regex::Regex;

/// What a value must be.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    /// Equal, as JSON.
    Equals(Value),
    /// A string in which the pattern matches somewhere.
    Matches(Regex),
    /// There, and not null.
    Present,
    /// Not there, or null.
    Absent,
    /// An object with at least these members.
    Object(Vec<(String, Matcher)>),
    /// A list of as many items.
    List(Vec<Matcher>),
}

impl Matcher {
    /// A matcher of an input. The error is a path and what was expected there.
    pub(crate) fn of_input(value: &Value, input: Schema<'_>) -> Result<Self, (String, String)> {
        let Value::Map(map) = value else {
            return Err((String::new(), "expected an object of members".to_owned()));
        };
        let members = map.iter().map(|(name, value)| {
            let member = member(input, name).map_err(|reason| (name.to_owned(), reason))?;
            let own = Self::of(value, member);
            let own = own.map_err(|(path, reason)| (below(name, &path), reason))?;
            Ok::<_, (String, String)>((name.to_owned(), own))
        });
        Ok(Self::Object(members.collect::<Result<_, _>>()?))
    }

    fn of(value: &Value, at: Member<'_>) -> Result<Self, (String, String)> {
        match value {
            Value::Map(map) => {
                if let Some(special) = Self::special(map) {
                    return special.map_err(|reason| (String::new(), reason));
                }
                let members = map.iter().map(|(name, value)| {
                    let fail = |reason| (name.to_owned(), reason);
                    let inner = match at.kind() {
                        ShapeKind::Structure | ShapeKind::Union => {
                            member(at.target(), name).map_err(fail)?
                        }
                        ShapeKind::Map => at.element(),
                        ShapeKind::Document => at,
                        kind => {
                            let expected = format!(
                                "expected {}, or an object of `equals`, `matches`, `present` or \
                                 `absent`; found another object",
                                kind.describe()
                            );
                            return Err((String::new(), expected));
                        }
                    };
                    let own = Self::of(value, inner);
                    let own = own.map_err(|(path, reason)| (below(name, &path), reason))?;
                    Ok((name.to_owned(), own))
                });
                Ok(Self::Object(members.collect::<Result<_, _>>()?))
            }
            Value::List(items) => {
                let element = match at.kind() {
                    ShapeKind::List => at.element(),
                    ShapeKind::Document => at,
                    kind => {
                        let expected = format!("expected {}, found a list", kind.describe());
                        return Err((String::new(), expected));
                    }
                };
                let items = items.iter().enumerate().map(|(index, item)| {
                    let own = Self::of(item, element);
                    own.map_err(|(path, reason)| (below(&format!("[{index}]"), &path), reason))
                });
                Ok(Self::List(items.collect::<Result<_, _>>()?))
            }
            value => Ok(Self::Equals(value.clone())),
        }
    }

    /// `{"equals": ...}`, `{"matches": "..."}`, `{"present": true}` or `{"absent": true}`.
    fn special(map: &Map) -> Option<Result<Self, String>> {
        let [(name, value)] = map.entries() else {
            return None;
        };
        let is_true = |own: Self| match value.as_bool() {
            Some(true) => Ok(own),
            _ => Err(format!("expected `{name}`: true")),
        };
        Some(match &**name {
            "equals" => Ok(Self::Equals(value.clone())),
            "present" => is_true(Self::Present),
            "absent" => is_true(Self::Absent),
            "matches" => match value.as_str() {
                None => Err("expected `matches`: a regular expression".to_owned()),
                Some(text) => match Regex::new(text) {
                    Ok(pattern) => Ok(Self::Matches(pattern)),
                    Err(error) => Err(format!("`matches`: {error}")),
                },
            },
            _ => return None,
        })
    }

    /// Whether a value matches. `None` is a member that is not there.
    pub(crate) fn accepts(&self, value: Option<&Value>) -> bool {
        let value = value.filter(|value| !value.is_null());
        match (self, value) {
            (Self::Absent, None) => true,
            (Self::Present, Some(_)) => true,
            (Self::Equals(Value::Null), None) => true,
            (Self::Equals(own), Some(value)) => equal(own, value),
            (Self::Matches(pattern), Some(Value::String(text))) => pattern.is_match(text),
            (Self::Object(members), Some(Value::Map(map))) => members
                .iter()
                .all(|(name, matcher)| matcher.accepts(map.get(name))),
            (Self::List(items), Some(Value::List(values))) => {
                let mut both = items.iter().zip(values);
                items.len() == values.len() && both.all(|(own, value)| own.accepts(Some(value)))
            }
            _ => false,
        }
    }

    /// The members of an input that do not match, with what they are: for people who look for the
    /// reason.
    pub(crate) fn differences(&self, value: Option<&Value>, path: &str, into: &mut Vec<String>) {
        match (self, value) {
            (Self::Object(members), Some(Value::Map(map))) => {
                for (name, matcher) in members {
                    matcher.differences(map.get(name), &below(path, name), into);
                }
            }
            (own, value) if !own.accepts(value) => into.push(path.to_owned()),
            _ => {}
        }
    }
}

/// Whether values are equal as JSON, where numbers have no types.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            let has = |(name, one): (&str, &Value)| {
                other.get(name).is_some_and(|other| equal(one, other))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) if one == other => true,
        (one, other) => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        },
    }
}

fn member<'s>(shape: Schema<'s>, name: &str) -> Result<Member<'s>, String> {
    let found = shape.find(NameSource::Member, name.as_bytes());
    let found = found.map(|ordinal| shape.member(ordinal));
    found.ok_or_else(|| {
        let names = shape.members().take(12).map(Member::name);
        let names: Vec<_> = names.collect();
        format!(
            "{} has no such member; it has {}",
            shape.name(),
            names.join(", ")
        )
    })
}

/// A path with one more step.
pub(crate) fn below(path: &str, step: &str) -> String {
    match (path.is_empty(), step.is_empty() || step.starts_with('[')) {
        (true, _) => step.to_owned(),
        (false, true) => format!("{path}{step}"),
        (false, false) => format!("{path}.{step}"),
    }
}
