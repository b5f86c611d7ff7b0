//! Uploads by HTML forms: `POST /BUCKET` with `multipart/form-data`.

use bytes::Bytes;
use http::{Response, request};
use http_body::Body;

use crate::document::{ResponseBody, error_response};
use crate::error::Error;
use crate::service::ObjectStore;

/// Whether a request uploads a form.
pub(crate) fn is_form(_: &request::Parts) -> bool {
    false
}

/// Stores the file of a form.
pub(crate) async fn answer<B, R>(
    _: &ObjectStore,
    head: &request::Parts,
    _: B,
) -> Response<ResponseBody<R>>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    error_response(Error::NotImplemented(""), head.uri.path())
}
