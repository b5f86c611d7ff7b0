//! URI patterns of `@http`.

use std::fmt;

use polywire_text::percent;

/// A URI pattern such as `/cities/{cityId}/{rest+}?forecast`.
///
/// <https://smithy.io/2.0/spec/http-bindings.html#uri>
///
/// ```
/// use polywire_protocol::{Pattern, Segment};
///
/// let pattern = Pattern::parse("/cities/{cityId}?forecast")?;
/// assert_eq!(pattern.segments()[1], Segment::Label("cityId".to_owned()));
/// assert_eq!(pattern.query(), [("forecast".to_owned(), None)]);
/// # Ok::<(), polywire_protocol::PatternError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pattern {
    segments: Vec<Segment>,
    query: Vec<(String, Option<String>)>,
}

/// A segment of a pattern's path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Segment {
    /// A segment with exactly this text.
    Literal(String),
    /// Any one segment. Its text is the value of this member.
    Label(String),
    /// One or more segments. Their text, including the slashes, is the value of this member.
    Greedy(String),
}

/// The error for a text that is not a URI pattern.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// Parses a pattern, with an optional query.
    ///
    /// # Errors
    ///
    /// The text does not start with `/`, a brace is not closed, there are two greedy labels, or the
    /// query has a `%` that is not followed by two hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let Some(path) = path.strip_prefix('/') else {
            return Err(PatternError(format!("`{text}` does not start with /")));
        };
        let mut segments = Vec::new();
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            let label = segment
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            segments.push(match label {
                None if segment.contains(['{', '}']) => {
                    return Err(PatternError(format!(
                        "`{text}`: `{segment}` is not a label"
                    )));
                }
                None => Segment::Literal(segment.to_owned()),
                Some(label) => match label.strip_suffix('+') {
                    Some(label) => Segment::Greedy(label.to_owned()),
                    None => Segment::Label(label.to_owned()),
                },
            });
        }
        let is_greedy = |segment: &&Segment| matches!(segment, Segment::Greedy(_));
        if segments.iter().filter(is_greedy).count() > 1 {
            return Err(PatternError(format!("`{text}` has two greedy labels")));
        }
        // The query of a pattern is percent-encoded. Store it decoded, to compare it with decoded
        // parameters.
        let plain = |part: &str| match percent::decode(part) {
            Ok(plain) => Ok(plain.into_owned()),
            Err(_) => Err(PatternError(format!(
                "`{text}`: `{part}` is not a valid query"
            ))),
        };
        let literal = |part: &str| match part.split_once('=') {
            Some((key, value)) => Ok((plain(key)?, Some(plain(value)?))),
            None => Ok((plain(part)?, None)),
        };
        let parts = query.split('&').filter(|part| !part.is_empty());
        let query = parts.map(literal).collect::<Result<_, PatternError>>()?;
        Ok(Self { segments, query })
    }

    /// Returns the segments of the path.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns whether the label with this name is greedy.
    pub(crate) fn is_greedy(&self, name: &str) -> bool {
        let greedy = |segment: &Segment| matches!(segment, Segment::Greedy(own) if own == name);
        self.segments.iter().any(greedy)
    }

    /// Returns the parameters that the query of a request must have, decoded: keys and, if the
    /// pattern has them, values.
    #[must_use]
    pub fn query(&self) -> &[(String, Option<String>)] {
        &self.query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_patterns_are_rejected() {
        for text in ["", "a", "/{a", "/a}", "/x{a}", "/{a+}/{b+}", "/?a=%2"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
        assert!(Pattern::parse("/").unwrap().segments().is_empty());
        let pattern = Pattern::parse("/{a+}/b?x=1&y").unwrap();
        assert_eq!(pattern.segments()[0], Segment::Greedy("a".to_owned()));
        assert_eq!(pattern.query()[0], ("x".to_owned(), Some("1".to_owned())));
        let pattern = Pattern::parse("/?%61=a%20b").unwrap();
        assert_eq!(pattern.query()[0], ("a".to_owned(), Some("a b".to_owned())));
    }
}
