//! What the build script generates of the model.

include!(concat!(env!("OUT_DIR"), "/smithy_types.rs"));
