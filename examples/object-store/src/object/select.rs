//! Which version and which bytes of it a request asks for.

use std::ops::Range;

use http::HeaderValue;
use http::header::{ETAG, HeaderName, LAST_MODIFIED};
use polywire::rpc::Context;
use polywire::schema::Text;

use crate::convert::quoted;
use crate::error::Error;
use crate::layer::set_header;
use crate::range;
use crate::service::ObjectStore;
use crate::storage::{Abort, Pinned, Summary, Version, Versioning, View};

/// Finds a version, or the newest one.
///
/// # Errors
///
/// There is no such bucket, object or version, or it is a delete marker.
pub(crate) fn find(
    view: &View,
    bucket: &str,
    key: &str,
    id: Option<&str>,
) -> Result<Version, Abort> {
    let versioning = view.bucket(bucket)?.versioning;
    let mut version = match id {
        Some(id) => view.version(bucket, key, id)?.ok_or(Error::NoSuchVersion)?,
        None => view.newest(bucket, key)?.ok_or(Error::NoSuchKey)?,
    };
    match (version.summary.is_marker, id) {
        (true, Some(_)) => return Err(Error::MethodNotAllowed.into()),
        (true, None) => return Err(Error::NoSuchKey.into()),
        (false, _) => {}
    }
    version.shown_id = (versioning != Versioning::Off).then(|| version.summary.id());
    Ok(version)
}

/// Finds a version whose files stay. If it is a delete marker, the response has headers that say so.
pub(super) fn find_pinned(
    own: &ObjectStore,
    bucket: &str,
    key: &str,
    id: Option<&str>,
    context: &Context,
) -> Result<Pinned, Error> {
    let found = own.store.pinned(|view| find(view, bucket, key, id));
    if let Err(Error::NoSuchKey | Error::MethodNotAllowed) = found {
        let view = own.store.view()?;
        let marker = match id {
            Some(id) => view.version(bucket, key, id)?,
            None => view.newest(bucket, key)?,
        };
        if let Some(marker) = marker.filter(|found| found.summary.is_marker) {
            let name = HeaderName::from_static("x-amz-delete-marker");
            set_header(context, name, HeaderValue::from_static("true"));
            let name = HeaderName::from_static("x-amz-version-id");
            if let Ok(id) = marker.summary.id().parse() {
                set_header(context, name, id);
            }
            set_modified(context, &marker.summary);
        }
    }
    found
}

/// Sets the headers of a response with status 304, which has no other members.
pub(super) fn describe(context: &Context, summary: &Summary) {
    if let Ok(etag) = HeaderValue::from_str(&quoted(&summary.etag)) {
        set_header(context, ETAG, etag);
    }
    set_modified(context, summary);
}

fn set_modified(context: &Context, summary: &Summary) {
    let mut time = Vec::new();
    let pushed = crate::convert::time(summary.modified).push_http_date(&mut time);
    if pushed.is_ok()
        && let Ok(time) = HeaderValue::from_bytes(&time)
    {
        set_header(context, LAST_MODIFIED, time);
    }
}

/// Bytes of an object.
pub(super) struct Selection {
    pub range: Range<u64>,
    /// `Content-Range`, if these are not all bytes.
    pub content_range: Option<Text>,
    /// The index of the part, if the request asks for one.
    pub part: Option<usize>,
}

/// Selects the bytes of a range or of a part.
///
/// # Errors
///
/// There are no such bytes, or the request asks for both.
pub(super) fn select(
    version: &Version,
    range: Option<&str>,
    part: Option<i32>,
) -> Result<Selection, Error> {
    let whole = version.summary.size;
    let selected = |range: Range<u64>, part| {
        let text = format!("bytes {}-{}/{whole}", range.start, range.end.max(1) - 1);
        Selection {
            content_range: (!range.is_empty()).then(|| text.into()),
            range,
            part,
        }
    };
    match (range, part) {
        (Some(_), Some(_)) => Err(Error::InvalidRequest(
            "Cannot specify both Range header and partNumber query parameter",
        )),
        (_, None) => match range::find(range, whole)? {
            Some(range) => Ok(selected(range, None)),
            None => Ok(Selection {
                range: 0..whole,
                content_range: None,
                part: None,
            }),
        },
        (None, Some(number)) => {
            let parts = &version.detail.parts;
            if parts.is_empty() && number == 1 {
                return Ok(selected(0..whole, None));
            }
            let mut start = 0;
            for (index, part) in parts.iter().enumerate() {
                if part.number == number {
                    return Ok(selected(start..start + part.size, Some(index)));
                }
                start += part.size;
            }
            Err(Error::InvalidPartNumber)
        }
    }
}
