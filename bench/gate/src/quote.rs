//! Figures that others measured.

use serde::Serialize;

/// A figure measured elsewhere by somebody else, with its source: for peers that
/// cannot run beside us. [`Case::target_ratio_time`](crate::Case::target_ratio_time)
/// may name it like a peer.
#[derive(Clone, Debug, Serialize)]
pub struct Quote {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) nanoseconds: Option<f64>,
    pub(crate) instructions_per_byte: Option<f64>,
    pub(crate) allocations: Option<u64>,
    pub(crate) bytes_allocated: Option<u64>,
}

impl Quote {
    /// Who was measured, and where the figure is from.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            source: source.into(),
            nanoseconds: None,
            instructions_per_byte: None,
            allocations: None,
            bytes_allocated: None,
        }
    }

    /// The time of one call.
    #[must_use]
    pub fn nanoseconds(mut self, nanoseconds: f64) -> Self {
        self.nanoseconds = Some(nanoseconds);
        self
    }

    /// Instructions a byte of the case's input.
    #[must_use]
    pub fn instructions_per_byte(mut self, instructions: f64) -> Self {
        self.instructions_per_byte = Some(instructions);
        self
    }

    /// Allocations of one call.
    #[must_use]
    pub fn allocations(mut self, allocations: u64) -> Self {
        self.allocations = Some(allocations);
        self
    }

    /// Bytes that one call allocates.
    #[must_use]
    pub fn bytes_allocated(mut self, bytes: u64) -> Self {
        self.bytes_allocated = Some(bytes);
        self
    }
}
