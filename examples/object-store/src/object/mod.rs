//! Operations on objects.

mod attributes;
mod copy;
mod delete;
mod put;
mod read;
mod select;
mod source;

pub(crate) use attributes::attributes;
pub(crate) use copy::copy;
pub(crate) use delete::{delete, delete_all};
pub(crate) use put::{put, received_version};
pub(crate) use read::{get, head};
pub(crate) use select::find;
pub(crate) use source::CopySource;
