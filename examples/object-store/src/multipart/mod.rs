//! Uploads in parts.

mod complete;
mod part;
mod upload;

pub(crate) use complete::complete;
pub(crate) use part::{upload_part, upload_part_copy};
pub(crate) use upload::{abort, create};
