//! Inputs and outputs that go from hand to hand within a process, without being encoded.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::handler::Output;

/// Makes another input of the same kind.
pub(crate) type Copy = fn(&(dyn Any + Send)) -> Box<dyn Any + Send>;

/// An input that may be handed over, and the output that came back for it.
///
/// Who has the same types as the caller takes the one and gives the other; everybody else is given
/// what the input is encoded as.
pub(crate) struct Hand {
    /// What is handed over.
    pub(crate) input_type: TypeId,
    /// What is expected back: a message.
    pub(crate) output_type: TypeId,
    copy: Option<Copy>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    input: Option<Box<dyn Any + Send>>,
    output: Option<Output>,
}

impl Hand {
    /// `copy` is for calls that may be made again.
    pub(crate) fn new(
        input: Box<dyn Any + Send>,
        input_type: TypeId,
        output_type: TypeId,
        copy: Option<Copy>,
    ) -> Self {
        let held = Held {
            input: Some(input),
            output: None,
        };
        Self {
            input_type,
            output_type,
            copy,
            held: Mutex::new(held),
        }
    }

    /// Of this there is only one: the call is not made again.
    pub(crate) fn alone(mut self) -> Self {
        self.copy = None;
        self
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the input; nothing, if it has been taken and was the only one.
    pub(crate) fn take(&self) -> Option<Box<dyn Any + Send>> {
        let mut held = self.held();
        match self.copy {
            None => held.input.take(),
            Some(copy) => held.input.as_deref().map(copy),
        }
    }

    /// Gives an input back that was not taken after all.
    pub(crate) fn put(&self, input: Box<dyn Any + Send>) {
        self.held().input.get_or_insert(input);
    }

    /// Looks at the input, if it is still there.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&(dyn Any + Send)) -> T) -> Option<T> {
        self.held().input.as_deref().map(look)
    }

    /// Gives what came back.
    pub(crate) fn give(&self, output: Output) {
        self.held().output = Some(output);
    }

    /// What came back.
    pub(crate) fn output(&self) -> Option<Output> {
        self.held().output.take()
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hand").finish_non_exhaustive()
    }
}
