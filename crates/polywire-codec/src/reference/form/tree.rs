//! A form as a tree: a node for each segment of its keys.

use polywire_schema::{Error, ErrorKind};
use polywire_text::percent::Plus;
use polywire_text::reference::percent;

/// What the keys of one beginning have.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Where the first of these fields begins.
    pub(super) offset: usize,
    /// The values of the fields whose key ends here: more than one, if it came
    /// more than once.
    pub(super) values: Vec<String>,
    /// What goes on, in the order in which it came first.
    pub(super) children: Vec<(String, Node)>,
}

impl Node {
    /// How many fields there are in all.
    pub(super) fn fields(&self) -> u32 {
        let below: u32 = self.children.iter().map(|(_, node)| node.fields()).sum();
        self.values.len() as u32 + below
    }

    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        let mut children = self.children.iter();
        children.find(|(own, _)| own == name).map(|(_, node)| node)
    }

    fn child_mut(&mut self, name: &str, offset: usize) -> &mut Self {
        let known = self.children.iter().position(|(own, _)| own == name);
        let place = known.unwrap_or_else(|| {
            let node = Self {
                offset,
                ..Self::default()
            };
            self.children.push((name.to_owned(), node));
            self.children.len() - 1
        });
        &mut self.children[place].1
    }
}

/// The tree of a form, without the fields that are the protocol's own.
pub(super) fn parse(form: &str, own: &[&str]) -> Result<Node, Error> {
    let mut root = Node::default();
    let mut seen = Vec::new();
    let mut offset = 0;
    for field in form.split('&') {
        let start = offset;
        offset += field.len() + 1;
        if field.is_empty() {
            continue;
        }
        let (key, value) = field.split_once('=').unwrap_or((field, ""));
        let decoded = |text| percent::decoded_text(text, Plus::Space);
        let (Ok(key), Ok(value)) = (decoded(key), decoded(value)) else {
            return Err(error(ErrorKind::Syntax, start, "percent-encoded UTF-8"));
        };
        if own.contains(&&*key) {
            if seen.contains(&key) {
                return Err(error(ErrorKind::Duplicate, start, "each key once"));
            }
            seen.push(key);
            continue;
        }
        let mut node = &mut root;
        for segment in key.split('.') {
            node = node.child_mut(segment, start);
        }
        node.values.push(value);
    }
    Ok(root)
}

pub(super) fn error(kind: ErrorKind, offset: usize, expected: &'static str) -> Error {
    let error = Error::new(kind).in_format("form");
    error.expected(expected).at_offset(offset)
}
