//! The benchmark harness: it checks every answer, counts instructions and
//! allocations exactly, and takes time only as a ratio against a peer that ran
//! in the same minute.
//!
//! # Words
//!
//! - A **group** is what a name on the command line selects: one format, one
//!   subject. It is a function that adds cases to a [`Group`].
//! - A **case** is one question ("parse this body"). It has a size in bytes.
//! - A **subject** answers it: `polywire`, or a **peer**.
//! - A **check** looks at a subject's answer before anything is measured. A
//!   wrong answer ends the run: a fast wrong answer is no result.
//! - A **load** is a question to systems with threads and sockets, which are run for a
//!   while ([`load`]). It has subjects and targets too.
//! - A **quote** is a figure that somebody else measured elsewhere, with its
//!   source. It stands in the table beside the peers.
//! - A **target** is what polywire's subject has to reach: met or MISSED.
//! - The **baseline** is what polywire's subjects cost when somebody last
//!   looked. The gate compares instructions and allocations with it, never time.
//!
//! # A group
//!
//! ```
//! use polywire_gate::{Group, Quote};
//!
//! fn cases(group: &mut Group) {
//!     group
//!         .case("parse ten digits")
//!         .bytes(10)
//!         .polywire(|| "1234567890".parse::<u64>().ok(), |answer| *answer == Some(1_234_567_890))
//!         .peer("from_str_radix", || u64::from_str_radix("1234567890", 10), |answer| {
//!             *answer == Ok(1_234_567_890)
//!         })
//!         .quote(Quote::new("lexical", "a figure's source, its date").nanoseconds(9.8))
//!         .target_allocations(0)
//!         .target_ratio_instructions("from_str_radix", 1.1);
//! }
//! # let mut group = Group::new("doc", polywire_gate::DataFolder::at("."));
//! # cases(&mut group);
//! # assert_eq!(group.case_names(), ["parse ten digits"]);
//! ```
//!
//! # The path of a run
//!
//! [`run()`] builds the selected groups, checks every answer (`check`), counts
//! instructions in two child processes under callgrind (`instructions`), counts
//! allocations ([`allocations`]), takes time (`timing`), judges the targets
//! (`target`), runs the loads ([`load`]), reports (`report`) and compares (`baseline`).

// `allocations` needs unsafe code, and says why.
#![deny(unsafe_code)]

pub mod allocations;
mod baseline;
mod case;
mod check;
mod command;
mod data;
mod group;
pub mod groups;
mod instructions;
pub mod load;
mod measure;
mod measurement;
mod quote;
mod report;
mod run;
mod subject;
mod target;
mod timing;

pub use case::Case;
pub use check::{Verdict, same, same_bytes};
pub use data::DataFolder;
pub use group::{Group, GroupEntry};
pub use load::{Figure, Figures, Load, Span};
pub use quote::Quote;
pub use run::run;

/// The subject that targets and the baseline are about.
pub const POLYWIRE: &str = "polywire";

/// What the harness's own functions fail with: words for the terminal.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
