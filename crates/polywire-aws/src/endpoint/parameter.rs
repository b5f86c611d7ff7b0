//! The parameters of a rule set, and the arguments of one evaluation.

use std::borrow::Cow;
use std::fmt;

use super::value::Value;
use super::{ArgumentError, Endpoint, Partitions, ResolveError, RuleSet};

/// The type of a parameter.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ParameterType {
    /// `boolean`
    Boolean,
    /// `string`
    String,
    /// `stringArray`
    StringArray,
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::StringArray => "stringArray",
        })
    }
}

/// A parameter of a rule set
/// ([specification](https://smithy.io/2.0/additional-specs/rules-engine/specification.html#parameter-object)).
#[derive(Clone, Debug)]
pub struct Parameter {
    pub(super) name: Box<str>,
    pub(super) kind: ParameterType,
    pub(super) built_in: Option<Box<str>>,
    pub(super) required: bool,
    pub(super) default: Option<Argument<'static>>,
    pub(super) documentation: Option<Box<str>>,
    pub(super) deprecated: bool,
}

impl Parameter {
    /// The name, which `contextParam` and the other traits of bindings refer to.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its arguments.
    #[must_use]
    pub fn kind(&self) -> ParameterType {
        self.kind
    }

    /// The name of the built-in value that clients bind to it: one of [`built_in`](super::built_in), or one that this
    /// crate does not know.
    #[must_use]
    pub fn built_in(&self) -> Option<&str> {
        self.built_in.as_deref()
    }

    /// Whether an evaluation needs a value.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// The value without an argument.
    #[must_use]
    pub fn default(&self) -> Option<&Argument<'static>> {
        self.default.as_ref()
    }

    /// The documentation for users of a client.
    #[must_use]
    pub fn documentation(&self) -> Option<&str> {
        self.documentation.as_deref()
    }

    /// Whether the parameter is deprecated.
    #[must_use]
    pub fn is_deprecated(&self) -> bool {
        self.deprecated
    }
}

/// A value of a parameter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Argument<'a> {
    /// For a `boolean`.
    Boolean(bool),
    /// For a `string`.
    String(Cow<'a, str>),
    /// For a `stringArray`.
    StringArray(Cow<'a, [String]>),
}

impl Argument<'_> {
    /// The type of the parameters that accept this value.
    #[must_use]
    pub fn kind(&self) -> ParameterType {
        match self {
            Self::Boolean(_) => ParameterType::Boolean,
            Self::String(_) => ParameterType::String,
            Self::StringArray(_) => ParameterType::StringArray,
        }
    }

    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Boolean(value) => Value::Boolean(*value),
            Self::String(text) => Value::Text(Cow::Borrowed(text)),
            Self::StringArray(items) => {
                Value::Texts(items.iter().map(|item| Cow::Borrowed(&**item)).collect())
            }
        }
    }
}

impl From<bool> for Argument<'_> {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl<'a> From<&'a str> for Argument<'a> {
    fn from(value: &'a str) -> Self {
        Self::String(Cow::Borrowed(value))
    }
}

impl From<String> for Argument<'_> {
    fn from(value: String) -> Self {
        Self::String(Cow::Owned(value))
    }
}

impl<'a> From<&'a [String]> for Argument<'a> {
    fn from(value: &'a [String]) -> Self {
        Self::StringArray(Cow::Borrowed(value))
    }
}

impl From<Vec<String>> for Argument<'_> {
    fn from(value: Vec<String>) -> Self {
        Self::StringArray(Cow::Owned(value))
    }
}

/// The arguments of one evaluation, from [`RuleSet::arguments`].
///
/// They can be kept and changed between evaluations, for example a set with the configuration of a client that is
/// cloned for each call.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    rules: &'a RuleSet,
    values: Vec<Option<Argument<'a>>>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(rules: &'a RuleSet) -> Self {
        let values = vec![None; rules.parameters().len()];
        Self { rules, values }
    }

    /// Sets the parameter `name`.
    ///
    /// # Errors
    ///
    /// The rule set has no such parameter, or the type is another.
    pub fn set(
        &mut self,
        name: &str,
        argument: impl Into<Argument<'a>>,
    ) -> Result<(), ArgumentError> {
        let index = self
            .rules
            .parameter_index(name)
            .ok_or_else(|| ArgumentError::Unknown {
                name: name.to_owned(),
            })?;
        self.set_at(index, argument.into())
    }

    /// Sets the parameters that are bound to a built-in value, such as [`REGION`](super::built_in::REGION). Returns
    /// whether there is one: rule sets do not use all built-ins.
    ///
    /// # Errors
    ///
    /// The type is another.
    pub fn set_built_in(
        &mut self,
        built_in: &str,
        argument: impl Into<Argument<'a>>,
    ) -> Result<bool, ArgumentError> {
        let argument = argument.into();
        let mut found = false;
        for (index, parameter) in self.rules.parameters().iter().enumerate() {
            if parameter.built_in() == Some(built_in) {
                self.set_at(index, argument.clone())?;
                found = true;
            }
        }
        Ok(found)
    }

    fn set_at(&mut self, index: usize, argument: Argument<'a>) -> Result<(), ArgumentError> {
        let parameter = &self.rules.parameters()[index];
        if parameter.kind != argument.kind() {
            return Err(ArgumentError::Type {
                name: parameter.name.to_string(),
                expected: parameter.kind,
            });
        }
        self.values[index] = Some(argument);
        Ok(())
    }

    /// The argument of the parameter `name`, if it is set. Defaults are not arguments.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Argument<'a>> {
        self.values[self.rules.parameter_index(name)?].as_ref()
    }

    /// Evaluates the rule set.
    ///
    /// # Errors
    ///
    /// A required parameter is missing, an error rule matched, or no rule matched.
    pub fn resolve(&self, partitions: &Partitions) -> Result<Endpoint, ResolveError> {
        let parameters = self.rules.parameters();
        let mut slots = Vec::with_capacity(self.rules.slots);
        for (parameter, value) in parameters.iter().zip(&self.values) {
            let value = value.as_ref().or(parameter.default.as_ref());
            if value.is_none() && parameter.required {
                return Err(ResolveError::MissingParameter {
                    name: parameter.name.to_string(),
                });
            }
            slots.push(value.map_or(Value::Absent, Argument::value));
        }
        slots.resize_with(self.rules.slots, || Value::Absent);
        super::evaluate::resolve(&self.rules.body, slots, partitions)
    }
}
