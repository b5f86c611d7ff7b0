//! Smithy models without a JVM: reads IDL and JSON AST into a checked [`Model`], and writes both.
//!
//! # Examples
//!
//! ```
//! use polywire_model::Loader;
//!
//! let text = r#"
//!     $version: "2"
//!     namespace example.weather
//!
//!     service Weather { version: "2026-01-01", operations: [GetCity] }
//!
//!     @readonly
//!     @http(method: "GET", uri: "/cities/{name}")
//!     operation GetCity {
//!         input := { @required @httpLabel name: String }
//!         output := { @required name: String, population: Long }
//!     }
//! "#;
//! let assembled = Loader::new().add_text("weather.smithy", text).assemble()?;
//! let model = assembled.model;
//! let operation = model.get("example.weather#GetCity").unwrap();
//! assert_eq!(operation.traits().http().unwrap().method, "GET");
//! let output = model.output(operation).unwrap();
//! let names: Vec<&str> = output.members().iter().map(|member| member.name()).collect();
//! assert_eq!(names, ["name", "population"]);
//! # Ok::<(), polywire_model::ModelError>(())
//! ```
//!
//! # A tour
//!
//! - [`Loader`]: reads files, folders, JARs and texts into one model, and reports [`Diagnostic`]s.
//! - [`Model`]: lookup ([`get`](Model::get), [`member`](Model::member), [`target`](Model::target)),
//!   iterate ([`shapes`](Model::shapes), [`shapes_of`](Model::shapes_of)), walk
//!   ([`neighbors`](Model::neighbors), [`reach`](Model::reach), and back with
//!   [`uses`](Model::uses)).
//! - [`Closure`]: the shapes that a service reaches, with their names in the service.
//! - [`Shape`], [`Member`], [`Traits`]: traits by id, and typed views of those that protocols need.
//! - [`Selector`]: Smithy's queries over models.
//! - [`ast`], [`idl`]: write the model as text. The crate `polywire-model-export` writes files of
//!   other tools.
//! - [`rules`]: the rules that are checked, with examples. [`ids`]: the traits that the crate
//!   knows.
//! - [`Model::schemas`]: schemas for codecs.
//!
//! # The way of a model
//!
//! ```text
//! .smithy -> idl: lexer, parser, lower ─┐
//!                                       ├─> fragments -> assemble -> validate -> Model
//! .json   -> json, ast reader ──────────┘
//! .jar    -> the files of both kinds below META-INF/smithy
//! ```
//!
//! Invalid input gives [`Diagnostic`]s with file, line, column and what was expected. It never
//! causes a panic. Depth, size and the number of findings are bounded.
//!
//! # Features
//!
//! - `jar`, on by default: models in JARs. It adds two small dependencies.

#![forbid(unsafe_code)]

mod assemble;
pub mod ast;
mod bundled;
mod closure;
mod diagnostic;
mod flatten;
mod fragment;
pub mod idl;
pub mod ids;
mod json;
mod loader;
mod model;
mod node;
pub mod rules;
mod schemas;
mod selector;
mod severity;
mod shape;
mod shape_table;
mod source;
mod spelling;
mod traits;
mod upgrade;
mod uri;
mod uses;
mod validate;
mod version;

pub use closure::Closure;
pub use diagnostic::{Diagnostic, ModelError};
pub use loader::{Assembly, Loader, Progress, Step};
pub use model::{Model, Relation};
pub use node::{Entry, Node, NodeValue, Number, Object};
pub use polywire_schema::{ShapeId, ShapeIdError};
pub use selector::{Match, Selector, SelectorError, ShapeOrMember};
pub use severity::Severity;
pub use shape::{
    Lifecycle, Member, Operation, Resource, Service, Shape, ShapeRef, ShapeType, UNIT,
};
pub use source::{Position, SourceFile, SourceLocation, Sources};
pub use traits::{
    AppliedTrait, AwsQueryError, AwsService, Deprecated, ErrorKind, Example, HttpChecksum,
    HttpTrait, LengthTrait, Paginated, RangeTrait, Retryable, TimestampFormat, Traits,
    XmlNamespace, XmlRpcMethod,
};
pub use uri::{Segment, UriPattern};
pub use uses::Uses;
