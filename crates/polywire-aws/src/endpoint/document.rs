//! JSON values with their paths, for errors.

use std::fmt;

use serde_json::{Map, Value};

use super::RuleSetError;

/// The way from the root of a document to a value. It lives on the stack of the reader, so that documents without
/// errors cost no paths.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => f.write_str("$"),
            Step::Key(key) => write!(f, ".{key}"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A value and its path.
#[derive(Clone, Copy)]
pub(super) struct Node<'j, 'p> {
    pub(super) value: &'j Value,
    path: Path<'p>,
}

impl<'j, 'p> Node<'j, 'p> {
    pub(super) fn root(value: &'j Value) -> Self {
        let path = Path {
            parent: None,
            step: Step::Root,
        };
        Self { value, path }
    }

    fn child<'s>(&'s self, value: &'j Value, step: Step<'s>) -> Node<'j, 's> {
        let path = Path {
            parent: Some(&self.path),
            step,
        };
        Node { value, path }
    }

    #[cold]
    pub(super) fn error(&self, message: impl Into<String>) -> RuleSetError {
        RuleSetError::new(self.path, message)
    }

    /// An optional member; a null is an absent member.
    pub(super) fn optional<'s>(
        &'s self,
        key: &'s str,
    ) -> Result<Option<Node<'j, 's>>, RuleSetError> {
        let found = self.object()?.get(key).filter(|value| !value.is_null());
        Ok(found.map(|value| self.child(value, Step::Key(key))))
    }

    pub(super) fn member<'s>(&'s self, key: &'s str) -> Result<Node<'j, 's>, RuleSetError> {
        self.optional(key)?
            .ok_or_else(|| self.error(format!("the member `{key}` is missing")))
    }

    pub(super) fn object(&self) -> Result<&'j Map<String, Value>, RuleSetError> {
        self.value
            .as_object()
            .ok_or_else(|| self.error("expected an object"))
    }

    pub(super) fn members<'s>(
        &'s self,
    ) -> Result<impl Iterator<Item = (&'j str, Node<'j, 's>)>, RuleSetError>
    where
        'j: 's,
    {
        Ok(self
            .object()?
            .iter()
            .map(|(key, value)| (key.as_str(), self.child(value, Step::Key(key)))))
    }

    pub(super) fn items<'s>(
        &'s self,
    ) -> Result<impl ExactSizeIterator<Item = Node<'j, 's>>, RuleSetError> {
        let items = self
            .value
            .as_array()
            .ok_or_else(|| self.error("expected an array"))?;
        Ok(items
            .iter()
            .enumerate()
            .map(|(index, value)| self.child(value, Step::Index(index))))
    }

    pub(super) fn text(&self) -> Result<&'j str, RuleSetError> {
        self.value
            .as_str()
            .ok_or_else(|| self.error("expected a string"))
    }

    pub(super) fn boolean(&self) -> Result<bool, RuleSetError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.error("expected a boolean"))
    }

    pub(super) fn integer(&self) -> Result<i64, RuleSetError> {
        self.value
            .as_i64()
            .ok_or_else(|| self.error("expected an integer"))
    }
}
