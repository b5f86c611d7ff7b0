//! Smithy's selectors.
//!
//! ```text
//! text ── scanner, parser, parse_attributes ──► syntax (the tree)
//! model ──────────────► graph (numbers and edges) ─┐
//!                                  syntax ─────────┴─► evaluate, walk ──► nodes
//! ```
//!
//! `value` and `compare` evaluate attributes, `contains` checks one shape, `template` fills in
//! messages of validators.

mod compare;
mod contains;
mod display;
mod error;
mod evaluate;
mod graph;
mod nodes;
mod parse_attributes;
mod parser;
mod relations;
mod scanner;
mod select;
pub(crate) mod syntax;
mod template;
mod value;
mod walk;

use std::fmt;
use std::str::FromStr;

use self::syntax::Sequence;

pub(crate) use self::evaluate::Evaluation;
pub(crate) use self::graph::{Graph, Node};
pub(crate) use self::template::Template;
pub(crate) use self::value::Budget;

pub use self::error::SelectorError;
pub use self::select::{Match, ShapeOrMember};

/// A selector: an expression that matches shapes and members of a model.
///
/// Every shape and member of the model passes through the steps of the selector from left to right.
/// A step yields none, one or many shapes, and each of them is the input of the next step. The
/// results of the last step match.
///
/// | step | yields |
/// |---|---|
/// | `*` | the shape itself. The steps called "test" yield the shape itself if the test succeeds |
/// | `structure`, `string`, `operation`, ... | test: a type. An `enum` is a `string` too, an `intEnum` an `integer`; `set` and `collection` are old names of `list` |
/// | `member` | test: a member of a shape |
/// | `number`, `simpleType`, `aggregateType`, `dataType`, `serviceType` | test: one of several types |
/// | `[attribute]` | test: the attribute exists |
/// | `[attribute = value, value i]` | test: a comparison with any of the values holds; `i` ignores case |
/// | `[@attribute: @{path} = value && ...]` | test: comparisons below an attribute, or, as `[@: ...]`, below the shape, all hold |
/// | `>` | all that the shape is directly connected to |
/// | `-[input, output]->` | those connected in one of these ways |
/// | `<`, `<-[input]-` | those that are connected to the shape |
/// | `~>` | all that the shape leads to over any number of connections, without itself |
/// | `:test(a, b)` | test: any of the selectors yields something |
/// | `:not(a)` | test: the selector yields nothing |
/// | `:is(a, b)` | what any of the selectors yields |
/// | `:in(a)` | test: the selector yields the shape |
/// | `:root(a)` | what the selector matches in the whole model |
/// | `:recursive(a)` | what the selector yields, and what it yields for these results, and so on |
/// | `:topdown(a, b)` | services, resources and operations that `a` matches, or that are below one that does, except below those that `b` matches |
/// | `$name(a)` | the shape itself; what `a` yields for it is stored in a variable |
/// | `${name}` | the value of the variable |
///
/// **Attributes** are `id`, with `namespace`, `name`, `member`; `service`, with
/// `id`, `version`; `trait`, with the name of a trait, which for one of
/// `smithy.api` may be short, and then parts of its value; and `var` with
/// the name of a variable. Parts are joined by bars: `[trait|range|min = 1]`.
/// `(length)` of ids, text, arrays and objects, `(keys)` and `(values)` of objects
/// and of `trait`, `(values)` of arrays, and `(first)` of several values can be
/// parts too. Of several values one must match.
///
/// **Comparators** of text are `=`, `!=`, `^=` (begins with), `$=` (ends with),
/// `*=` (contains), `?=` (exists: `true` or `false`), those of numbers `>`, `>=`,
/// `<`, `<=`; and in `[@...]` those of several values `{=}`, `{!=}`, `{<}` (all are
/// among the others) and `{<<}` (and there are others). Values are names, shape
/// ids, numbers, or text in single or double quotes.
///
/// **Connections** by name: `bound`, `collectionOperation`, `create`, `delete`, `error`,
/// `identifier`, `input`, `instanceOperation`, `list`, `member`, `mixin`, `operation`, `output`,
/// `property`, `put`, `read`, `resource`, `trait`, `update`. A member is connected to its target
/// without a name. `trait` (to the definitions of the traits on a shape) and `bound` (from
/// operations and resources to what binds them) are followed only by name. Lifecycle operations are
/// among the `operation`s of a resource and, by their kind, its `instanceOperation`s or
/// `collectionOperation`s, as the specification says. Some versions of other tools differ.
///
/// Unknown names of functions and connections yield nothing. Everything else that is wrong is an
/// error. Selectors of more than 64 KiB, more than 40 nested levels, or more than 200 consecutive
/// steps to other shapes are errors, too.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, Selector};
///
/// let text = r#"
///     $version: "2"
///     namespace example
///     service Weather { version: "1", operations: [GetCity] }
///     @readonly
///     operation GetCity { input := { @required name: CityName } }
///     @length(min: 1, max: 60)
///     string CityName
/// "#;
/// let model = Loader::new().add_text("weather.smithy", text).assemble()?.model;
/// let ids = |selector: &str| -> Result<Vec<String>, Box<dyn std::error::Error>> {
///     let selected = Selector::parse(selector)?.select(&model)?;
///     Ok(selected.iter().map(|found| found.id().to_string()).collect())
/// };
/// assert_eq!(ids("operation[trait|readonly]")?, ["example#GetCity"]);
/// assert_eq!(ids("structure > member[trait|required]")?, ["example#GetCityInput$name"]);
/// assert_eq!(ids("service ~> string")?, ["example#CityName"]);
/// assert_eq!(ids("[@trait|length: @{min} < @{max}]")?, ["example#CityName"]);
/// assert_eq!(ids("operation :not(-[output]->)")?, ["example#GetCity"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Selector {
    sequence: Sequence,
    variables: Vec<String>,
    step_count: u32,
}

impl Selector {
    /// Parses a selector.
    ///
    /// # Errors
    ///
    /// The first syntax error with its location, or a limit that is exceeded.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let parsed = parser::parse(text)?;
        Ok(Self {
            sequence: parsed.sequence,
            variables: parsed.variables,
            step_count: parsed.step_count,
        })
    }

    /// The names of the variables that the selector sets or reads.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    pub(crate) fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// An evaluation of this selector. It caches results, so reuse it for the same graph.
    pub(crate) fn evaluation<'s, 'm>(
        &'s self,
        graph: &'s Graph<'m>,
        budget: &'s Budget,
    ) -> Evaluation<'s, 'm> {
        Evaluation::new(graph, &self.variables, self.step_count, budget)
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Self::parse(text)
    }
}

impl fmt::Display for Selector {
    /// The canonical form of the selector. It parses to the same selector.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sequence.fmt(formatter)
    }
}

impl fmt::Debug for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Selector({self})")
    }
}
