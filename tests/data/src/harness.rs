//! Tests that can be ignored while they run.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Trial};

use crate::Missing;

/// A test: passes unless it panics or its data is missing.
pub type Test = fn() -> Result<(), Missing>;

/// What a test returns: nothing, or `Missing` where data is missing.
pub trait Outcome {
    /// The outcome as a result.
    ///
    /// # Errors
    ///
    /// Data is missing.
    fn into_result(self) -> Result<(), Missing>;
}

impl Outcome for () {
    fn into_result(self) -> Result<(), Missing> {
        Ok(())
    }
}

impl Outcome for Result<(), Missing> {
    fn into_result(self) -> Self {
        self
    }
}

/// Defines `main` for a test target with `harness = false`: runs the tests of a list.
#[macro_export]
macro_rules! tests {
    ($($test:path),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::run(&[$((
                stringify!($test),
                || $crate::Outcome::into_result($test()),
            )),*])
        }
    };
}

/// Runs tests as libtest does, with its arguments and its output.
#[must_use]
pub fn run(tests: &[(&str, Test)]) -> ExitCode {
    let trial = |&(name, test): &(&str, Test)| {
        Trial::ignorable_test(name, move || match test() {
            Ok(()) => Ok(Completion::Completed),
            Err(missing) if missing.is_failure() => Err(missing.into()),
            Err(missing) => Ok(Completion::ignored_with(missing)),
        })
    };
    let trials = tests.iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
