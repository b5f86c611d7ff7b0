//! Smithy models as files of other tools.
//!
//! - [`botocore`]: data files with which boto3 and the AWS CLI call a service.
//!
//! The functions return the contents of the files and do no I/O.

#![forbid(unsafe_code)]

pub mod botocore;
