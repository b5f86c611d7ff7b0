//! Finds the operation for a method, a path and a query.
//!
//! The URI patterns of a service form a tree with one level per path segment. The search tries a
//! literal before a label, and a label before a greedy label, so that it finds the most specific
//! pattern first. If a branch has no match, the search backtracks. A greedy label that is followed
//! by other segments is tried before one at the end of a pattern. Among the patterns with the same
//! path, those with more query literals are tried first.
//!
//! The query literal `x-id=Name` is special: S3 uses it only to distinguish operations, and many
//! clients omit it. A request without `x-id` therefore matches if it has all required headers and
//! query parameters of the operation. A request with a different `x-id` does not match.

use std::cmp::Ordering;
use std::ops::Range;

use http::{HeaderMap, HeaderName, Method, request};
use polywire_schema::{Location, Operation};
use polywire_text::percent;
use smallvec::SmallVec;

use super::{OperationBindings, Segment};
use crate::protocol::{MountError, Route};

/// The operations of a service, by method and URI pattern.
#[derive(Debug, Default)]
pub(crate) struct Router {
    root: Node,
}

/// A node of the tree: the patterns that start with the same segments.
#[derive(Debug, Default)]
struct Node {
    literals: Literals,
    /// The node after a label.
    label: Option<Box<Node>>,
    /// The node after a greedy label.
    greedy: Option<Box<Node>>,
    candidates: Vec<Candidate>,
}

/// The nodes after literals, sorted by length and then by text, so that most lookups compare a
/// single text.
#[derive(Debug, Default)]
struct Literals(Vec<(String, Node)>);

impl Literals {
    fn position(&self, text: &str) -> Result<usize, usize> {
        let order = |own: &str| match own.len().cmp(&text.len()) {
            Ordering::Equal => own.cmp(text),
            other => other,
        };
        self.0.binary_search_by(|(own, _)| order(own))
    }

    fn get(&self, text: &str) -> Option<&Node> {
        let position = self.position(text).ok()?;
        Some(&self.0[position].1)
    }

    /// Returns the node after a segment of a request, which can be percent-encoded.
    fn get_decoded(&self, text: &str) -> Option<&Node> {
        if self.0.is_empty() {
            return None;
        }
        self.get(text).or_else(|| match text.contains('%') {
            // Clients rarely percent-encode literals.
            true => self.get(&percent::decode(text).ok()?),
            false => None,
        })
    }

    fn entry(&mut self, text: &str) -> &mut Node {
        let position = self.position(text).unwrap_or_else(|position| {
            self.0.insert(position, (text.to_owned(), Node::default()));
            position
        });
        &mut self.0[position].1
    }
}

/// An operation whose path pattern ends at a node.
#[derive(Debug)]
struct Candidate {
    method: Method,
    /// The parameters that the query must have, except `x-id`.
    query: Vec<(String, Option<String>)>,
    /// The value that `x-id` must have if it is present.
    id: Option<String>,
    /// The headers and parameters that a request without `x-id` must have.
    requirements: Vec<Requirement>,
    /// The index of the operation.
    operation: u32,
    /// The ordinals of the members that are bound to the labels, in the order of the path.
    labels: Vec<u32>,
}

/// A part of a request that an operation requires.
#[derive(Debug)]
enum Requirement {
    Header(HeaderName),
    Query(String),
}

/// The query parameter with which S3 distinguishes operations.
const ID: &str = "x-id";

/// The result of a search.
#[derive(Debug)]
pub(crate) enum RouteMatch {
    /// The operation and the ranges of its labels.
    Found(Route),
    /// Operations have this path, but only with these methods.
    OtherMethods(Vec<Method>),
    /// No operation has this path and query.
    NotFound,
}

impl Node {
    /// Returns whether a pattern has a segment after this node.
    fn has_children(&self) -> bool {
        !self.literals.0.is_empty() || self.label.is_some() || self.greedy.is_some()
    }
}

impl Router {
    /// Adds an operation.
    pub(crate) fn add(
        &mut self,
        operation: Operation<'_>,
        operation_bindings: &OperationBindings,
    ) -> Result<(), MountError> {
        let name = operation.name();
        let OperationBindings {
            method, pattern, ..
        } = operation_bindings;
        let input = operation.input();
        let mut labels = Vec::new();
        let mut bind_label = |label: &str| {
            let member = input.members().find(|member| member.name() == label);
            let member = member.ok_or_else(|| {
                MountError(format!(
                    "{name}: the input has no member for the label `{label}`"
                ))
            })?;
            labels.push(member.ordinal());
            Ok(())
        };
        let mut node = &mut self.root;
        for segment in pattern.segments() {
            node = match segment {
                Segment::Literal(text) => node.literals.entry(text),
                Segment::Label(name) => {
                    bind_label(name)?;
                    node.label.get_or_insert_default()
                }
                Segment::Greedy(name) => {
                    bind_label(name)?;
                    node.greedy.get_or_insert_default()
                }
            };
        }
        let mut query = pattern.query().to_vec();
        let id = query
            .iter()
            .position(|(key, value)| key == ID && value.is_some());
        let id = id.and_then(|position| query.remove(position).1);
        let mut requirements = Vec::new();
        if id.is_some() {
            for member in input.members().filter(|member| member.is_required()) {
                let name = member.location_name();
                match member.location() {
                    Location::Query => requirements.push(Requirement::Query(name.to_owned())),
                    Location::Header => {
                        requirements.extend(
                            HeaderName::from_bytes(name.as_bytes()).map(Requirement::Header),
                        );
                    }
                    _ => {}
                }
            }
        }
        let is_same =
            |other: &Candidate| other.method == *method && other.query == query && other.id == id;
        if node.candidates.iter().any(is_same) {
            let uri = operation.http().map_or("", |(_, uri, _)| uri);
            return Err(MountError(format!(
                "{name}: another operation also has {method} {uri}"
            )));
        }
        node.candidates.push(Candidate {
            method: method.clone(),
            query,
            id,
            requirements,
            operation: operation.index(),
            labels,
        });
        // Try patterns with more conditions first.
        node.candidates.sort_by_key(|candidate| {
            std::cmp::Reverse((candidate.query.len(), candidate.requirements.len()))
        });
        Ok(())
    }

    /// Finds the operation for a request.
    pub(crate) fn find(&self, method: &Method, head: &request::Parts) -> RouteMatch {
        let path = head.uri.path();
        let mut search = Search {
            path,
            method,
            query: head.uri.query().unwrap_or_default(),
            headers: &head.headers,
            labels: Labels::new(),
            methods: None,
        };
        let start = usize::from(path.starts_with('/'));
        if let Some(route) = search.node(&self.root, start) {
            return RouteMatch::Found(route);
        }
        // Search again for the methods of the path. Requests with a matching method do not pay for
        // it.
        search.methods = Some(Vec::new());
        search.node(&self.root, start);
        match search.methods {
            Some(methods) if !methods.is_empty() => RouteMatch::OtherMethods(methods),
            _ => RouteMatch::NotFound,
        }
    }
}

/// Returns the end of the segment that starts at `start`.
fn end_of_segment(path: &str, start: usize) -> usize {
    let rest = &path.as_bytes()[start..];
    let len = rest.iter().position(|byte| *byte == b'/');
    start + len.unwrap_or(rest.len())
}

/// The values of labels, as ranges of the path.
type Labels = SmallVec<[Range<usize>; 4]>;

/// The state of a search in the tree.
struct Search<'a> {
    path: &'a str,
    method: &'a Method,
    query: &'a str,
    headers: &'a HeaderMap,
    labels: Labels,
    /// The methods of all operations with this path and query. `None` in the first search.
    methods: Option<Vec<Method>>,
}

impl Search<'_> {
    /// Matches the segments from offset `at` of the path. An empty segment at the end is ignored,
    /// unless it belongs to a greedy label.
    fn node(&mut self, node: &Node, at: usize) -> Option<Route> {
        if at >= self.path.len() {
            return self.find_candidate(node);
        }
        let end = end_of_segment(self.path, at);
        let text = &self.path[at..end];
        let next_at = end + 1;
        if let Some(next) = node.literals.get_decoded(text)
            && let Some(route) = self.node(next, next_at)
        {
            return Some(route);
        }
        if let Some(next) = &node.label
            && !text.is_empty()
            && let Some(route) = self.with_label(next, at..end, next_at)
        {
            return Some(route);
        }
        self.greedy(node.greedy.as_ref()?, at)
    }

    /// Matches a greedy label that starts at offset `start`. If patterns have segments after the
    /// label, tries the longest value of the label first.
    fn greedy(&mut self, next: &Node, start: usize) -> Option<Route> {
        let len = self.path.len();
        if next.has_children() {
            // The label ends before a slash. Start with the last one.
            let slashes = self.path[start..].rmatch_indices('/');
            for (slash, _) in slashes {
                let end = start + slash;
                // The label must not be empty, and a segment must follow.
                if end == start || end + 1 == len {
                    continue;
                }
                if let Some(route) = self.with_label(next, start..end, end + 1) {
                    return Some(route);
                }
            }
        }
        // A slash at the end belongs to the value: `photos` and `photos/` are different keys in an
        // object store.
        let only_slash = &self.path[start..] == "/";
        match only_slash {
            true => None,
            false => self.with_label(next, start..len, len),
        }
    }

    /// Matches the segments from offset `at` after a label.
    fn with_label(&mut self, next: &Node, label: Range<usize>, at: usize) -> Option<Route> {
        self.labels.push(label);
        let route = self.node(next, at);
        self.labels.pop();
        route
    }

    /// Returns the first operation at the end of the path that accepts the rest of the request. In
    /// the second search, adds the methods of all such operations to `methods` and returns `None`, so
    /// that the search goes on.
    fn find_candidate(&mut self, node: &Node) -> Option<Route> {
        for candidate in &node.candidates {
            if self.methods.is_none() && candidate.method != *self.method {
                continue;
            }
            let has_literal = |(key, value): &(String, Option<String>)| {
                has_parameter(self.query, key, value.as_deref())
            };
            if !candidate.query.iter().all(has_literal) || !self.allows_id(candidate) {
                continue;
            }
            if candidate.method == *self.method {
                let members = candidate.labels.iter().copied();
                let labels = members.zip(self.labels.iter().cloned());
                return Some(Route {
                    operation: candidate.operation,
                    labels: labels.collect(),
                });
            }
            if let Some(methods) = &mut self.methods
                && !methods.contains(&candidate.method)
            {
                methods.push(candidate.method.clone());
            }
        }
        None
    }

    /// Returns whether the `x-id` of the request, or its other parts if it has none, allow the
    /// operation.
    fn allows_id(&self, candidate: &Candidate) -> bool {
        let Some(id) = &candidate.id else {
            return true;
        };
        if has_parameter(self.query, ID, None) {
            return has_parameter(self.query, ID, Some(id));
        }
        candidate.requirements.iter().all(|need| match need {
            Requirement::Header(name) => self.headers.contains_key(name),
            Requirement::Query(name) => has_parameter(self.query, name, None),
        })
    }
}

/// Returns whether a query has a parameter, with this value if there is one.
fn has_parameter(query: &str, key: &str, value: Option<&str>) -> bool {
    query.split('&').any(|part| {
        let (own_key, own_value) = part.split_once('=').unwrap_or((part, ""));
        percent::decode_query(own_key).is_ok_and(|own_key| own_key == key)
            && value.is_none_or(|value| {
                percent::decode_query(own_value).is_ok_and(|own_value| own_value == value)
            })
    })
}

#[cfg(test)]
mod tests {
    use polywire_schema::{MemberSpec, OperationSpec, SchemaBuilder, SchemaSet, ShapeKind};

    use super::*;

    fn set(operations: &[(&str, &str, &str)]) -> SchemaSet<'static> {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let input = builder.shape(ShapeKind::Structure, "example#Input");
        for name in ["a", "b"] {
            builder.member(input, MemberSpec::new(name, string));
        }
        for (name, method, uri) in operations {
            let mut spec = OperationSpec::new(format!("example#{name}"), input, input);
            spec.http = Some(((*method).to_owned(), (*uri).to_owned(), 200));
            builder.operation(spec);
        }
        builder.finish().unwrap()
    }

    fn add(router: &mut Router, operation: Operation<'_>) -> Result<(), MountError> {
        router.add(operation, &OperationBindings::of(operation)?)
    }

    fn find(set: &SchemaSet<'_>, count: u32, method: &Method, target: &str) -> String {
        let mut router = Router::default();
        for index in 0..count {
            add(&mut router, set.operation(index)).unwrap();
        }
        let (head, ()) = http::Request::get(target).body(()).unwrap().into_parts();
        let path = head.uri.path();
        match router.find(method, &head) {
            RouteMatch::Found(route) => {
                let mut found = set.operation(route.operation).name().to_owned();
                for (member, range) in route.labels {
                    found.push_str(&format!(" {member}={}", &path[range]));
                }
                found
            }
            RouteMatch::OtherMethods(methods) => format!("{methods:?}"),
            RouteMatch::NotFound => "nothing".to_owned(),
        }
    }

    #[test]
    fn the_most_specific_pattern_wins() {
        let set = set(&[
            ("Root", "GET", "/"),
            ("Literal", "GET", "/x/y"),
            ("Label", "GET", "/x/{a}"),
            ("Greedy", "GET", "/x/{a+}"),
            ("Rest", "GET", "/g/{a+}"),
            ("Between", "GET", "/g/{a+}/z/{b}"),
            ("Query", "GET", "/x/{a}?list&type=2"),
            ("Put", "PUT", "/x/{a}"),
            ("Encoded", "GET", "/x?kind=a%20b"),
        ]);
        let find = |method: Method, target: &str| find(&set, 9, &method, target);
        assert_eq!(find(Method::GET, "/"), "Root");
        assert_eq!(find(Method::GET, "/x/y"), "Literal");
        assert_eq!(find(Method::GET, "/x/%79"), "Literal");
        assert_eq!(find(Method::GET, "/x/q"), "Label 0=q");
        assert_eq!(find(Method::GET, "/x/q/"), "Label 0=q");
        assert_eq!(find(Method::GET, "/x/q/r"), "Greedy 0=q/r");
        assert_eq!(find(Method::GET, "/x/q/r/"), "Greedy 0=q/r/");
        assert_eq!(find(Method::GET, "/g/1/2/z/3"), "Between 0=1/2 1=3");
        assert_eq!(find(Method::GET, "/g/1/z/3/"), "Between 0=1 1=3");
        // A greedy label takes as many segments as possible.
        assert_eq!(find(Method::GET, "/g/1/z/2/z/3"), "Between 0=1/z/2 1=3");
        assert_eq!(find(Method::GET, "/g/1/z"), "Rest 0=1/z");
        assert_eq!(find(Method::GET, "/g//z/3"), "Rest 0=/z/3");
        assert_eq!(find(Method::GET, "/g/"), "nothing");
        assert_eq!(find(Method::GET, "/x/q?type=2&list"), "Query 0=q");
        assert_eq!(find(Method::GET, "/x/q?type=3&list"), "Label 0=q");
        assert_eq!(find(Method::PUT, "/x/q"), "Put 0=q");
        assert_eq!(find(Method::POST, "/x/q"), "[GET, PUT]");
        assert_eq!(find(Method::GET, "/nowhere"), "nothing");
        assert_eq!(find(Method::GET, "/x//"), "nothing");
        assert_eq!(find(Method::GET, "/x?kind=a%20b"), "Encoded");
        assert_eq!(find(Method::GET, "/x?kind=a+b"), "Encoded");
        assert_eq!(find(Method::GET, "/x?kind=a%2520b"), "nothing");
    }

    #[test]
    fn conflicts_are_rejected() {
        let set = set(&[
            ("One", "GET", "/x/{a}"),
            ("Two", "GET", "/x/{b}"),
            ("Three", "GET", "/{c}"),
        ]);
        let mut router = Router::default();
        add(&mut router, set.operation(0)).unwrap();
        let error = add(&mut router, set.operation(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Two: another operation also has GET /x/{b}"
        );
        let error = add(&mut router, set.operation(2)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Three: the input has no member for the label `c`"
        );
    }
}
