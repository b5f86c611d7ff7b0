//! The contents of the bodies as types of serde.

use std::borrow::Cow;

use polywire_schema::{Blob, Timestamp};
use serde::{Deserialize, Serialize};

/// An item of `d`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Item {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) price: f64,
    pub(crate) active: bool,
    pub(crate) sku: String,
}

/// An item of `d` whose strings borrow from the body.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct BorrowedItem<'a> {
    pub(crate) id: i32,
    pub(crate) name: &'a str,
    pub(crate) price: f64,
    pub(crate) active: bool,
    pub(crate) sku: &'a str,
}

/// A level of `c`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record<Child> {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) active: bool,
    pub(crate) score: f64,
    pub(crate) created: Timestamp,
    pub(crate) blob: Blob,
    pub(crate) tags: Vec<String>,
    pub(crate) count: i32,
    pub(crate) note: String,
    pub(crate) child: Child,
}

/// A level of `c` whose strings borrow from the body, where they have no references.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct BorrowedRecord<'a, Child> {
    pub(crate) id: i32,
    pub(crate) name: &'a str,
    pub(crate) active: bool,
    pub(crate) score: f64,
    pub(crate) created: Timestamp,
    pub(crate) blob: Blob,
    #[serde(borrow)]
    pub(crate) tags: Vec<&'a str>,
    pub(crate) count: i32,
    /// Text with references.
    #[serde(borrow)]
    pub(crate) note: Cow<'a, str>,
    pub(crate) child: Child,
}

/// All of `c`, borrowed.
pub type BorrowedNested<'a> = BorrowedRecord<'a, BorrowedRecord<'a, BorrowedRecord<'a, &'a str>>>;

/// All of `c`.
pub type Nested = Record<Record<Record<String>>>;
