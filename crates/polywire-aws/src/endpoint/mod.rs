//! The Smithy rules engine: computes the endpoint of a call from parameters
//! ([specification](https://smithy.io/2.0/additional-specs/rules-engine/index.html)).
//!
//! A model has its rules in the trait `smithy.rules#endpointRuleSet`, as a tree of conditions and results, or in
//! `smithy.rules#endpointBdd`, as a decision diagram. [`RuleSet`] compiles both into the same form: it resolves
//! names, splits templates and checks types, so that an evaluation does not look anything up by name. The functions
//! of AWS are included.
//!
//! ```
//! use polywire_aws::endpoint::{Partitions, RuleSet, built_in};
//!
//! let rules = RuleSet::from_json(
//!     r#"{
//!         "version": "1.0",
//!         "parameters": {
//!             "Region": { "type": "string", "builtIn": "AWS::Region", "required": true, "documentation": "" }
//!         },
//!         "rules": [{
//!             "type": "endpoint",
//!             "conditions": [{ "fn": "aws.partition", "argv": [{ "ref": "Region" }], "assign": "partition" }],
//!             "endpoint": {
//!                 "url": "https://kettles.{Region}.{partition#dnsSuffix}",
//!                 "properties": { "authSchemes": [{ "name": "sigv4", "signingRegion": "{Region}" }] }
//!             }
//!         }]
//!     }"#,
//! )?;
//! let mut arguments = rules.arguments();
//! arguments.set_built_in(built_in::REGION, "cn-north-1")?;
//! let endpoint = arguments.resolve(Partitions::aws())?;
//! assert_eq!(endpoint.url, "https://kettles.cn-north-1.amazonaws.com.cn");
//! let scheme = endpoint.auth_schemes().next().unwrap();
//! assert_eq!((scheme.name(), scheme.signing_region()), ("sigv4", Some("cn-north-1")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The caller binds values to parameters: [`RuleSet::parameters`] lists them with their built-ins. Bindings to
//! members of inputs (`contextParam` and `operationContextParams`) and to constants are traits of the model, which
//! [`ServiceRules`] reads.
//!
//! Where the specification leaves room:
//!
//! - a rule set of any version 1.x may use all functions, also those that were added in 1.1;
//! - a condition that uses an absent value does not match, because published rule sets do not check all of them by
//!   `isSet`;
//! - `parseURL` keeps the path and the port as they were written: the path of `https://example.com` is empty, as the
//!   published cases require, and a default port stays;
//! - `aws.partition` of a region that matches no pattern is the partition `aws`;
//! - `split` by an empty text, or with a negative limit, has no result.

pub mod built_in;
mod compile;
mod diagram;
mod document;
mod error;
mod evaluate;
mod function;
mod parameter;
mod partition;
mod program;
mod resolved;
mod service;
mod value;

pub use error::{ArgumentError, ResolveError, RuleSetError};
pub use parameter::{Argument, Arguments, Parameter, ParameterType};
pub use partition::{Partition, Partitions};
pub use resolved::{AuthScheme, Endpoint, Property};
pub use service::ServiceRules;

/// The longest text that templates of a rule set may make, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// A rule set, ready for evaluations.
///
/// It is immutable, so threads can share it.
#[derive(Clone, Debug)]
pub struct RuleSet {
    parameters: Box<[Parameter]>,
    /// The number of parameters and variables.
    slots: usize,
    body: program::Body,
}

impl RuleSet {
    /// Reads a rule set in JSON: of the form of `endpointBdd` if it has a member `nodes`, else of `endpointRuleSet`.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or the rule set is not valid. The error names the path in the document.
    pub fn from_json(text: &str) -> Result<Self, RuleSetError> {
        let document = compile::parse(text)?;
        match document.get("nodes") {
            Some(_) => Self::from_diagram(&document),
            None => Self::from_tree(&document),
        }
    }

    /// Reads the value of the trait `smithy.rules#endpointRuleSet`, version 1.x.
    ///
    /// # Errors
    ///
    /// The rule set is not valid: a member is missing, a name is not in scope, a type does not fit, a value may be
    /// absent, or it is nested too deeply. The error names the path in the document.
    pub fn from_tree(document: &serde_json::Value) -> Result<Self, RuleSetError> {
        compile::tree(document)
    }

    /// Reads the value of the trait `smithy.rules#endpointBdd`, version 1.1 or later.
    ///
    /// # Errors
    ///
    /// As [`Self::from_tree`]; also if a node refers to something that does not exist, or nodes form a cycle.
    pub fn from_diagram(document: &serde_json::Value) -> Result<Self, RuleSetError> {
        compile::diagram(document)
    }

    /// The parameters, in the order of the document, with their types, built-ins and defaults.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The parameter `name`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameter_index(name)
            .map(|index| &self.parameters[index])
    }

    /// The built-ins that a client must provide to use all rules, each once.
    #[must_use]
    pub fn built_ins(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .parameters
            .iter()
            .filter_map(Parameter::built_in)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Arguments for an evaluation, none of which is set.
    #[must_use]
    pub fn arguments(&self) -> Arguments<'_> {
        Arguments::new(self)
    }

    fn parameter_index(&self, name: &str) -> Option<usize> {
        self.parameters
            .iter()
            .position(|parameter| *parameter.name == *name)
    }
}
