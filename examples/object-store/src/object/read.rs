//! GetObject and HeadObject.

use polywire::protocol::Fault;
use polywire::rpc::Context;
use polywire::schema::Text;

use super::select::{Selection, describe, find_pinned, select};
use crate::condition::{Conditions, conditions_of};
use crate::convert::{quoted, set_checksums, size, time, version_id};
use crate::error::Error;
use crate::s3::{
    ChecksumMode, ChecksumType, GetObjectOutput, GetObjectRequest, HeadObjectOutput,
    HeadObjectRequest,
};
use crate::service::ObjectStore;
use crate::storage::{Checksums, Version};

/// Sends the bytes of an object.
pub(crate) async fn get(
    own: &ObjectStore,
    input: GetObjectRequest,
    context: &Context,
) -> Result<GetObjectOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let pinned = find_pinned(own, &input.bucket, &input.key, id.as_deref(), context)?;
    let version = &*pinned.version;
    check(&conditions_of!(input), version, context)?;
    let selection = select(version, input.range.as_deref(), input.part_number)?;
    let mut output = GetObjectOutput::default();
    output.body = pinned.stream(selection.range.clone()).await?;
    let facts = version.detail.facts.clone();
    output.content_type = content_type(input.response_content_type, facts.content_type);
    output.cache_control = input.response_cache_control.or(facts.cache_control);
    output.content_disposition = input
        .response_content_disposition
        .or(facts.content_disposition);
    output.content_encoding = input.response_content_encoding.or(facts.content_encoding);
    output.content_language = input.response_content_language.or(facts.content_language);
    output.expires = input.response_expires.or(facts.expires.map(time));
    describe_version!(output, version, selection, input, facts);
    let tags = version.detail.tags.len();
    output.tag_count = (tags > 0).then(|| i32::try_from(tags).unwrap_or(i32::MAX));
    Ok(output)
}

/// Describes an object.
pub(crate) async fn head(
    own: &ObjectStore,
    input: HeadObjectRequest,
    context: &Context,
) -> Result<HeadObjectOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let found = find_pinned(own, &input.bucket, &input.key, id.as_deref(), context);
    let pinned = found.map_err(Error::headed)?;
    let version = &*pinned.version;
    check(&conditions_of!(input), version, context)?;
    let selection = select(version, input.range.as_deref(), input.part_number)?;
    let mut output = HeadObjectOutput::default();
    output.content_length = Some(size(selection.range.end - selection.range.start));
    let facts = version.detail.facts.clone();
    output.content_type = content_type(input.response_content_type, facts.content_type);
    output.cache_control = input.response_cache_control.or(facts.cache_control);
    output.content_disposition = input
        .response_content_disposition
        .or(facts.content_disposition);
    output.content_encoding = input.response_content_encoding.or(facts.content_encoding);
    output.content_language = input.response_content_language.or(facts.content_language);
    output.expires = input.response_expires.or(facts.expires.map(time));
    describe_version!(output, version, selection, input, facts);
    Ok(output)
}

/// S3 says that an object without a type has this one.
fn content_type(asked: Option<Text>, stored: Option<Text>) -> Option<Text> {
    asked
        .or(stored)
        .or_else(|| Some("binary/octet-stream".into()))
}

fn check(conditions: &Conditions, version: &Version, context: &Context) -> Result<(), Error> {
    let checked = conditions.read(&version.summary);
    if checked == Err(Error::NotModified) {
        describe(context, &version.summary);
    }
    checked
}

/// The members that both responses have.
macro_rules! describe_version {
    ($output:ident, $version:ident, $selection:ident, $input:ident, $facts:ident) => {
        $output.accept_ranges = Some("bytes".into());
        $output.last_modified = Some(time($version.summary.modified));
        $output.etag = Some(quoted(&$version.summary.etag));
        $output.version_id = $version.shown_id.clone().map(Into::into);
        $output.content_range = $selection.content_range.clone();
        $output.website_redirect_location = $facts.redirect;
        $output.metadata = Some($facts.metadata);
        if $selection.part.is_some() {
            let parts = $version.detail.parts.len();
            $output.parts_count = i32::try_from(parts).ok();
        }
        if $input.checksum_mode == Some(ChecksumMode::Enabled) {
            if let Some(checksums) = checksums($version, &$selection) {
                set_checksums!($output, checksums);
                $output.checksum_type = checksums.algorithm().and(
                    $version
                        .summary
                        .checksum_type
                        .as_deref()
                        .map(ChecksumType::from),
                );
            }
        }
    };
}
use describe_version;

/// The checksums of the selected bytes: of the object or of a part. A range has none.
fn checksums<'v>(version: &'v Version, selection: &Selection) -> Option<&'v Checksums> {
    match selection.part {
        Some(part) => version.detail.parts.get(part).map(|part| &part.checksums),
        None if selection.range == (0..version.summary.size) => Some(&version.detail.checksums),
        None => None,
    }
}
