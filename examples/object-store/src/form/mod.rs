//! Uploads by HTML forms: `POST /BUCKET` with `multipart/form-data`.
//!
//! S3's model has no such operation, so the layer around HTTP requests answers them. The file of a form is stored while it
//! arrives. The signature of a policy is checked if the store has access keys; its conditions always are.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html>

mod fields;
mod file;
mod parser;
mod policy;
mod post;
mod signature;

pub(crate) use post::{answer, is_form};
