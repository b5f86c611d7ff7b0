//! Models in the forms that other tools read.

pub mod botocore;
