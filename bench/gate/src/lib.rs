//! Benchmarks of Polywire. This library is the harness and the cases of our own code;
//! `bench/peers` adds the competitors to the same cases.
//!
//! The harness checks every answer, counts instructions and allocations exactly, and compares
//! times only within one run.
//!
//! # Terms
//!
//! - A **group** is what a name on the command line selects. It is a function that adds cases
//!   to a [`Group`].
//! - A **case** is one task, such as parsing a given body. It has a size in bytes.
//! - A **subject** does the task: `polywire`, or a **peer**.
//! - A **check** looks at the answer of each subject before anything is measured. A wrong
//!   answer ends the run.
//! - A **target** is a limit for polywire's subject: met or MISSED.
//! - A **load** runs systems with threads and sockets for a while ([`load`]). It has subjects
//!   and targets too.
//! - A **quote** is a published figure with its source. It stands in the table beside the
//!   peers.
//! - The **baseline** is a file with the costs of polywire's subjects. The gate compares
//!   instructions and allocations with it, never time.
//!
//! # A group
//!
//! ```
//! use polywire_gate::Group;
//!
//! fn cases(group: &mut Group) {
//!     group
//!         .case("parse ten digits")
//!         .bytes(10)
//!         .polywire(|| "1234567890".parse::<u64>().ok(), |answer| *answer == Some(1_234_567_890))
//!         .peer("from_str_radix", || u64::from_str_radix("1234567890", 10), |answer| {
//!             *answer == Ok(1_234_567_890)
//!         })
//!         .target_allocations(0)
//!         .target_ratio_instructions("from_str_radix", 1.1);
//! }
//! # let mut group = Group::new("doc", polywire_gate::DataFolder::at("."));
//! # cases(&mut group);
//! # assert_eq!(group.case_names(), ["parse ten digits"]);
//! ```
//!
//! # Steps of a run
//!
//! 1. [`run()`] builds the selected groups.
//! 2. `check` looks at every answer.
//! 3. `instructions` counts instructions in two child processes under callgrind.
//! 4. [`allocations`] counts allocations, and `timing` measures time.
//! 5. `target` judges the targets.
//! 6. [`load`] runs the loads.
//! 7. `report` writes the tables, and `baseline` compares.

// The counting allocator in `allocations` needs unsafe code.
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

/// The name of our own subject, to which targets and the baseline apply.
pub const POLYWIRE: &str = "polywire";

/// The harness's result: its errors are messages for the terminal.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
