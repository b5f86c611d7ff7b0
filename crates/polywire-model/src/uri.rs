//! The `uri` of `@http`: a path of literals and labels, and a literal query.

use std::fmt;

/// A parsed URI pattern, such as `/buckets/{bucket}/{key+}?list-type=2`.
///
/// # Examples
///
/// ```
/// use polywire_model::{Segment, UriPattern};
///
/// let uri = UriPattern::parse("/{bucket}/{key+}?acl&v=2").unwrap();
/// assert_eq!(uri.segments()[0], Segment::Label("bucket".into()));
/// assert_eq!(uri.segments()[1], Segment::GreedyLabel("key".into()));
/// assert_eq!(uri.query(), [("acl".into(), "".into()), ("v".into(), "2".into())]);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UriPattern {
    segments: Vec<Segment>,
    query: Vec<(String, String)>,
}

/// A segment of a URI pattern.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Segment {
    /// `{name+}`: one or more segments.
    GreedyLabel(String),
    /// `{name}`: one segment.
    Label(String),
    /// Literal text.
    Literal(String),
}

impl UriPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// The error, as a sentence without a subject: "must start with `/`".
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, query) = match text.split_once('?') {
            Some((_, "")) => return Err("must not end with `?`".to_owned()),
            Some((path, query)) => (path, Some(query)),
            None => (text, None),
        };
        let Some(path) = path.strip_prefix('/') else {
            return Err("must start with `/`".to_owned());
        };
        if text.contains('#') {
            return Err("must not have a fragment".to_owned());
        }
        let mut segments: Vec<Segment> = Vec::new();
        if !path.is_empty() {
            let parts: Vec<&str> = path.split('/').collect();
            for (index, part) in parts.iter().enumerate() {
                // `/foo/` differs from `/foo`: the empty last segment is kept.
                if part.is_empty() && index + 1 < parts.len() {
                    return Err("must not have an empty segment (`//`)".to_owned());
                }
                segments.push(parse_segment(part)?);
            }
        }
        check_labels(&segments)?;
        let query = match query {
            None => Vec::new(),
            Some(query) if query.contains(['{', '}']) => {
                return Err("must not have labels in the query; use @httpQuery".to_owned());
            }
            Some(query) => query
                .split('&')
                .filter(|part| !part.is_empty())
                .map(|part| {
                    let (key, value) = part.split_once('=').unwrap_or((part, ""));
                    (key.to_owned(), value.to_owned())
                })
                .collect(),
        };
        let mut keys: Vec<&str> = query.iter().map(|(key, _)| key.as_str()).collect();
        if let Some(key) = first_repeated(&mut keys) {
            return Err(format!("must not have the query parameter `{key}` twice"));
        }
        Ok(Self { segments, query })
    }

    /// The segments of the path. `/` has none.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The literal query parameters, as written. A key without `=` has an empty value.
    #[must_use]
    pub fn query(&self) -> &[(String, String)] {
        &self.query
    }

    /// The names of all labels in order.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(Segment::label)
    }

    /// The name of the first greedy label. Most servers support only one, as the last label:
    /// validation reports other patterns as a danger.
    #[must_use]
    pub fn greedy_label(&self) -> Option<&str> {
        self.segments.iter().find_map(|segment| match segment {
            Segment::GreedyLabel(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

impl Segment {
    /// The name of the label, if the segment is one.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::GreedyLabel(name) | Self::Label(name) => Some(name),
            Self::Literal(_) => None,
        }
    }
}

fn parse_segment(part: &str) -> Result<Segment, String> {
    let Some(inner) = part
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    else {
        if part.contains(['{', '}']) {
            return Err(format!(
                "must not have text beside a label in the segment `{part}`"
            ));
        }
        return Ok(Segment::Literal(part.to_owned()));
    };
    let (name, greedy) = match inner.strip_suffix('+') {
        Some(name) => (name, true),
        None => (inner, false),
    };
    if !polywire_schema::is_identifier(name) {
        return Err(format!(
            "must have the name of a member in the label `{part}`"
        ));
    }
    let name = name.to_owned();
    Ok(if greedy {
        Segment::GreedyLabel(name)
    } else {
        Segment::Label(name)
    })
}

/// Labels are members, whose names must differ in more than case.
fn check_labels(segments: &[Segment]) -> Result<(), String> {
    let labels = segments.iter().filter_map(Segment::label);
    let names: Vec<String> = labels.map(str::to_ascii_lowercase).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    match first_repeated(&mut names) {
        Some(name) => Err(format!("must not have the label `{name}` twice")),
        None => Ok(()),
    }
}

fn first_repeated<'a>(names: &mut [&'a str]) -> Option<&'a str> {
    names.sort_unstable();
    let pair = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(pair[0])
}

impl fmt::Display for UriPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segments.is_empty() {
            formatter.write_str("/")?;
        }
        for segment in &self.segments {
            match segment {
                Segment::GreedyLabel(name) => write!(formatter, "/{{{name}+}}")?,
                Segment::Label(name) => write!(formatter, "/{{{name}}}")?,
                Segment::Literal(text) => write!(formatter, "/{text}")?,
            }
        }
        for (index, (key, value)) in self.query.iter().enumerate() {
            formatter.write_str(if index == 0 { "?" } else { "&" })?;
            formatter.write_str(key)?;
            if !value.is_empty() {
                write!(formatter, "={value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_survive_a_round_trip() {
        for text in [
            "/",
            "/a",
            "/a/",
            "/{a}/b/{c+}/d",
            "/{a+}/{b}",
            "/{a+}/{b+}",
            "/{Bucket}?location",
            "/a?x=1&y=2",
        ] {
            assert_eq!(UriPattern::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn malformed_patterns() {
        for text in [
            "",
            "a",
            "/a//b",
            "/a{b}",
            "/{b",
            "/{}",
            "/a#b",
            "/{a}/{A}",
            "/a?",
            "/a?b=1&b=2",
            "/a?b={c}",
            "/{1a}",
        ] {
            assert!(UriPattern::parse(text).is_err(), "{text}");
        }
    }
}
