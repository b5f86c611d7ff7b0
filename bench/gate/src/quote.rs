//! Published figures.

use serde::Serialize;

/// A published figure with its source, for competitors that cannot run here.
/// [`Case::target_ratio_time`](crate::Case::target_ratio_time) may name it like a peer.
#[derive(Clone, Debug, Serialize)]
pub struct Quote {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) nanoseconds: Option<f64>,
    pub(crate) instructions_per_byte: Option<f64>,
}

impl Quote {
    /// The name of the competitor, and the source of the figure.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            source: source.into(),
            nanoseconds: None,
            instructions_per_byte: None,
        }
    }

    /// The time of one call.
    #[must_use]
    pub fn nanoseconds(mut self, nanoseconds: f64) -> Self {
        self.nanoseconds = Some(nanoseconds);
        self
    }

    /// Instructions per byte of the case's input.
    #[must_use]
    pub fn instructions_per_byte(mut self, instructions: f64) -> Self {
        self.instructions_per_byte = Some(instructions);
        self
    }
}
