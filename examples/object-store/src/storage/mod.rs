//! What is on disk, without any of S3's messages.
//!
//! ```text
//! DATA/objects.redb        buckets, versions of objects, uploads and their parts; small bodies
//! DATA/incoming/ID         a data file that is being written
//! DATA/data/XX/ID          a complete data file; it never changes
//! ```
//!
//! A data file is written in `incoming`, and moved to `data` when it is complete. It becomes part of an object in a
//! transaction of the database. So an object is visible with all of its bytes or not at all, at whatever moment the
//! process is killed. Files that no transaction mentions are removed at the next start (`recovery.rs`).
//!
//! | file | subject |
//! |---|---|
//! | `record.rs` | the records of the database |
//! | `backend.rs` | the file of the database |
//! | `database.rs` | tables, transactions and snapshots of redb |
//! | `writer.rs` | the thread that commits changes in groups |
//! | `versions.rs` | what a change does to the versions of an object |
//! | `uploads.rs` | uploads in parts |
//! | `files.rs` | names, pins and removal of data files |
//! | `receive.rs`, `send.rs` | bodies that arrive and leave |
//! | `scan.rs` | entries in order, for lists |
//! | `store.rs` | all of it together |

mod backend;
mod database;
mod files;
mod receive;
mod record;
mod recovery;
mod scan;
mod send;
mod store;
mod uploads;
mod versions;
mod writer;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod versions_tests;

pub(crate) use database::{Abort, Changes, View};
pub(crate) use files::DataFile;
pub(crate) use receive::Received;
pub(crate) use record::{
    Bucket, Checksums, Facts, Part, PartSize, Summary, Tag, Upload, Version, Versioning,
    is_version_id,
};
pub(crate) use send::slice;
pub use store::OpenError;
pub(crate) use store::{Pinned, Store};
pub(crate) use versions::Deleted;
