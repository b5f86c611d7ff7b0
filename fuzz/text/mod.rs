//! The primitives of `polywire-text`, against their readable twins.

pub(crate) mod hex;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod number;
pub(crate) mod percent;
pub(crate) mod string;
pub(crate) mod timestamp;
pub(crate) mod xml;
