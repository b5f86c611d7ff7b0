//! From a method, a path and a query to an operation.
//!
//! The patterns of a service stand in a tree, a level a segment. A path is
//! looked for from the root; at each level a literal is tried before a label
//! and a label before a greedy one, so the most specific pattern is found
//! first, and a dead end goes back to the next choice. Of greedy labels one
//! with segments behind it is more specific than one without. At the leaf the
//! pattern that asks for most of the query wins.
//!
//! A literal `x-id=Name` in the query is there to tell the operations of S3
//! apart by their name alone, and half of its clients do not send it. So it
//! may be missing, but must not be another; without it, those operations come
//! first of which the request has all that they require in query and headers.

use std::cmp::Ordering;
use std::ops::Range;

use http::{HeaderMap, HeaderName, Method, request};
use polywire_schema::{Location, Operation};
use polywire_text::percent;
use smallvec::SmallVec;

use super::{Prepared, Segment};
use crate::protocol::{MountError, Route};

#[derive(Debug, Default)]
pub(crate) struct Router {
    root: Node,
}

#[derive(Debug, Default)]
struct Node {
    literals: Literals,
    label: Option<Box<Node>>,
    /// Greedy labels: the segments behind them are matched from the end.
    greedy: Option<Box<Node>>,
    leaves: Vec<Leaf>,
}

/// The nodes behind literals, sorted by length and then by text: most look-ups
/// compare one text only.
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

    /// The node behind a segment, which may be percent-encoded.
    fn of_segment(&self, text: &str) -> Option<&Node> {
        if self.0.is_empty() {
            return None;
        }
        self.get(text).or_else(|| match text.contains('%') {
            // Rare: a literal that was sent percent-encoded.
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

#[derive(Debug)]
struct Leaf {
    method: Method,
    query: Vec<(String, Option<String>)>,
    /// What the query has to say where it says `x-id`.
    id: Option<String>,
    /// What a request without `x-id` must have.
    needs: Vec<Need>,
    operation: u32,
    /// The members of the labels, in the order of the path.
    labels: Vec<u32>,
}

/// A part of a request that an operation requires.
#[derive(Debug)]
enum Need {
    Header(HeaderName),
    Query(String),
}

const ID: &str = "x-id";

/// What was found for a request.
#[derive(Debug)]
pub(crate) enum Found {
    Route(Route),
    /// The path is there, but with these methods only.
    Methods(Vec<Method>),
    Nothing,
}

impl Node {
    /// Whether no pattern goes on behind it.
    fn is_leaf(&self) -> bool {
        self.literals.0.is_empty() && self.label.is_none() && self.greedy.is_none()
    }
}

impl Router {
    /// Adds an operation.
    pub(crate) fn add(
        &mut self,
        operation: Operation<'_>,
        prepared: &Prepared,
    ) -> Result<(), MountError> {
        let name = operation.name();
        let Prepared {
            method, pattern, ..
        } = prepared;
        let input = operation.input();
        let mut labels = Vec::new();
        let mut label = |label: &str| {
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
                    label(name)?;
                    node.label.get_or_insert_default()
                }
                Segment::Greedy(name) => {
                    label(name)?;
                    node.greedy.get_or_insert_default()
                }
            };
        }
        let mut query = pattern.query().to_vec();
        let id = query
            .iter()
            .position(|(key, value)| key == ID && value.is_some());
        let id = id.and_then(|position| query.remove(position).1);
        let mut needs = Vec::new();
        if id.is_some() {
            for member in input.members().filter(|member| member.is_required()) {
                let name = member.location_name();
                match member.location() {
                    Location::Query => needs.push(Need::Query(name.to_owned())),
                    Location::Header => {
                        needs.extend(HeaderName::from_bytes(name.as_bytes()).map(Need::Header));
                    }
                    _ => {}
                }
            }
        }
        let same = |leaf: &&Leaf| leaf.method == *method && leaf.query == query && leaf.id == id;
        if node.leaves.iter().any(|leaf| same(&leaf)) {
            let uri = operation.http().map_or("", |(_, uri, _)| uri);
            return Err(MountError(format!(
                "{name}: another operation has {method} {uri} too"
            )));
        }
        node.leaves.push(Leaf {
            method: method.clone(),
            query,
            id,
            needs,
            operation: operation.index(),
            labels,
        });
        // Those that ask for more are tried first.
        node.leaves
            .sort_by_key(|leaf| std::cmp::Reverse((leaf.query.len(), leaf.needs.len())));
        Ok(())
    }

    /// Finds the operation of a request.
    pub(crate) fn find(&self, method: &Method, head: &request::Parts) -> Found {
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
            return Found::Route(route);
        }
        // A second search, which fails too, lists the methods for the error: most requests do not need them.
        search.methods = Some(Vec::new());
        search.node(&self.root, start);
        match search.methods {
            Some(methods) if !methods.is_empty() => Found::Methods(methods),
            _ => Found::Nothing,
        }
    }
}

/// The end of the segment that begins at `start`.
fn end_of_segment(path: &str, start: usize) -> usize {
    let rest = &path.as_bytes()[start..];
    let len = rest.iter().position(|byte| *byte == b'/');
    start + len.unwrap_or(rest.len())
}

/// The values of labels, as ranges of the path.
type Labels = SmallVec<[Range<usize>; 4]>;

struct Search<'a> {
    path: &'a str,
    method: &'a Method,
    query: &'a str,
    headers: &'a HeaderMap,
    labels: Labels,
    /// The methods of the path, if they are asked for.
    methods: Option<Vec<Method>>,
}

impl Search<'_> {
    /// Looks for the segments from offset `at` of the path. An empty segment at the end does not
    /// count, unless a greedy label takes the end.
    fn node(&mut self, node: &Node, at: usize) -> Option<Route> {
        if at >= self.path.len() {
            return self.leaf(node);
        }
        let end = end_of_segment(self.path, at);
        let text = &self.path[at..end];
        let next_at = end + 1;
        if let Some(next) = node.literals.of_segment(text)
            && let Some(route) = self.node(next, next_at)
        {
            return Some(route);
        }
        if let Some(next) = &node.label
            && !text.is_empty()
        {
            self.labels.push(at..end);
            if let Some(route) = self.node(next, next_at) {
                return Some(route);
            }
            self.labels.pop();
        }
        self.greedy(node.greedy.as_ref()?, at)
    }

    /// Looks for a greedy label from offset `start`: first with segments behind it, the longest label first; then up to
    /// the end of the path.
    fn greedy(&mut self, next: &Node, start: usize) -> Option<Route> {
        let len = self.path.len();
        if !next.is_leaf() {
            // From the right: the label ends before each slash in turn.
            let slashes = self.path[start..].rmatch_indices('/');
            for (slash, _) in slashes {
                let end = start + slash;
                // The label is not empty, and a segment follows it.
                if end == start || end + 1 == len {
                    continue;
                }
                if let Some(route) = self.with_label(next, start..end, end + 1) {
                    return Some(route);
                }
            }
        }
        // A slash at the end belongs to the value of the label: the keys `photos` and `photos/` of
        // an object store differ.
        let only_slash = &self.path[start..] == "/";
        match only_slash {
            true => None,
            false => self.with_label(next, start..len, len),
        }
    }

    /// Looks for the segments from offset `at`, behind a label.
    fn with_label(&mut self, next: &Node, label: Range<usize>, at: usize) -> Option<Route> {
        self.labels.push(label);
        let route = self.node(next, at);
        self.labels.pop();
        route
    }

    fn leaf(&mut self, node: &Node) -> Option<Route> {
        for leaf in &node.leaves {
            if self.methods.is_none() && leaf.method != *self.method {
                continue;
            }
            let asked =
                |(key, value): &(String, Option<String>)| has(self.query, key, value.as_deref());
            if !leaf.query.iter().all(asked) || !self.is_meant(leaf) {
                continue;
            }
            if leaf.method == *self.method {
                let labels = leaf.labels.iter().copied().zip(self.labels.iter().cloned());
                return Some(Route {
                    operation: leaf.operation,
                    labels: labels.collect(),
                });
            }
            if let Some(methods) = &mut self.methods
                && !methods.contains(&leaf.method)
            {
                methods.push(leaf.method.clone());
            }
        }
        None
    }
}

impl Search<'_> {
    /// Whether the request may mean an operation that is told by `x-id`.
    fn is_meant(&self, leaf: &Leaf) -> bool {
        let Some(id) = &leaf.id else {
            return true;
        };
        if has(self.query, ID, None) {
            return has(self.query, ID, Some(id));
        }
        leaf.needs.iter().all(|need| match need {
            Need::Header(name) => self.headers.contains_key(name),
            Need::Query(name) => has(self.query, name, None),
        })
    }
}

/// Whether a query has a parameter, with this value if one is asked for.
fn has(query: &str, key: &str, value: Option<&str>) -> bool {
    query.split('&').any(|part| {
        let (own, own_value) = part.split_once('=').unwrap_or((part, ""));
        percent::decode_query(own).is_ok_and(|own| own == key)
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
        router.add(operation, &Prepared::of(operation)?)
    }

    fn find(set: &SchemaSet<'_>, count: u32, method: &Method, target: &str) -> String {
        let mut router = Router::default();
        for index in 0..count {
            add(&mut router, set.operation(index)).unwrap();
        }
        let (head, ()) = http::Request::get(target).body(()).unwrap().into_parts();
        let path = head.uri.path();
        match router.find(method, &head) {
            Found::Route(route) => {
                let mut found = set.operation(route.operation).name().to_owned();
                for (member, range) in route.labels {
                    found.push_str(&format!(" {member}={}", &path[range]));
                }
                found
            }
            Found::Methods(methods) => format!("{methods:?}"),
            Found::Nothing => "nothing".to_owned(),
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
        // As much as there is.
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
    fn conflicts_are_refused() {
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
            "Two: another operation has GET /x/{b} too"
        );
        let error = add(&mut router, set.operation(2)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Three: the input has no member for the label `c`"
        );
    }
}
