//! Lists: of objects, versions, uploads, parts and buckets.

mod objects;
mod page;
mod parts;
mod uploads;
mod versions;

pub(crate) use objects::{list_objects_v1, list_objects_v2};
pub(crate) use page::{After, Query, page};
pub(crate) use page::{MOST, owner, page_size};
pub(crate) use parts::list_parts;
pub(crate) use uploads::list_uploads;
pub(crate) use versions::list_versions;
