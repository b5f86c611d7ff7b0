//! Types generated for every service of the official protocol suites: a module
//! for each service, and functions that find a type by the ids of the service
//! and of a structure, operation or event stream.
//!
//! ```
//! use conformance_types::{Visitor, visit_input};
//!
//! struct Empty;
//!
//! impl Visitor for Empty {
//!     type Output = String;
//!
//!     fn visit<T: Default + std::fmt::Debug>(self) -> String {
//!         format!("{:?}", T::default())
//!     }
//! }
//!
//! // `None` without the suites.
//! let service = "aws.protocoltests.restjson#RestJson";
//! let shown = visit_input(service, "aws.protocoltests.restjson#EmptyInputAndEmptyOutput", Empty);
//! assert!(shown.is_none_or(|shown| shown == "EmptyInputAndEmptyOutputInput"));
//! ```

#![allow(
    clippy::disallowed_names,
    reason = "members of the suites are named so"
)]

pub use polywire_schema::generated::{EventVisitor, Visitor};

/// A service, as IDL, for the operations of the suite `aws` that have
/// cases and that no service of the suite has.
pub const STRAYS: &str = include_str!("../strays.smithy");

include!(concat!(env!("OUT_DIR"), "/registry.rs"));
