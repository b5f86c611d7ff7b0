//! ListObjectVersions.

use polywire::protocol::Fault;
use polywire::rpc::Context;
use polywire::schema::Text;

use super::page::{
    After, Page, Query, check_encoding, common_prefixes, named, owner, page, page_size,
};
use crate::convert::{quoted, size, time};
use crate::error::Error;
use crate::s3::{
    ChecksumAlgorithm, ChecksumType, DeleteMarkerEntry, EncodingType, ListObjectVersionsOutput,
    ListObjectVersionsRequest, ObjectVersion, ObjectVersionStorageClass,
};
use crate::service::ObjectStore;
use crate::storage::{Abort, Summary, View};

/// Where a page of versions begins.
#[derive(Debug)]
struct Marker {
    after: After,
    /// Begin after this version of this key.
    version: Option<(String, String)>,
}

/// A page of versions.
#[derive(Debug, Default)]
struct Versions {
    /// With whether it is the newest version of its key.
    entries: Vec<(String, Summary, bool)>,
    prefixes: Vec<String>,
    /// The markers of the next page: key or prefix, and version.
    next: Option<(String, Option<String>)>,
}

/// Keys are paged as in ListObjects, and the versions of each key are added to the page until it is full.
fn versions(
    view: &View,
    bucket: &str,
    query: &Query,
    marker: Option<(String, String)>,
) -> Result<Versions, Abort> {
    view.bucket(bucket)?;
    let mut found = Versions::default();
    if query.most == 0 {
        return Ok(found);
    }
    if let Some((key, id)) = marker {
        // One more than the page has place for, to know whether there is one.
        for (version, is_latest) in view.versions_of(bucket, &key, Some(&id), query.most + 1)? {
            if found.entries.len() == query.most {
                found.next = last_of(&found.entries);
                return Ok(found);
            }
            found.entries.push((key.clone(), version, is_latest));
        }
    }
    let keys: Page<()> = page(query, |from| view.keys_from(bucket, from))?;
    let mut prefixes = keys.prefixes.into_iter().peekable();
    let mut names = keys.keys.into_iter().peekable();
    let mut last = None;
    loop {
        // Keys and prefixes in one order, so that the page ends at the right place.
        let is_prefix = match (names.peek(), prefixes.peek()) {
            (Some((key, ())), Some(prefix)) => prefix < key,
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (None, None) => break,
        };
        let is_full = |found: &Versions| found.entries.len() + found.prefixes.len() == query.most;
        if is_full(&found) {
            found.next = last.or_else(|| last_of(&found.entries));
            return Ok(found);
        }
        if is_prefix {
            if let Some(prefix) = prefixes.next() {
                last = Some((prefix.clone(), None));
                found.prefixes.push(prefix);
            }
            continue;
        }
        let Some((key, ())) = names.next() else { break };
        let left = query.most - found.entries.len() - found.prefixes.len();
        for (version, is_latest) in view.versions_of(bucket, &key, None, left + 1)? {
            if is_full(&found) {
                found.next = last;
                return Ok(found);
            }
            last = Some((key.clone(), Some(version.id())));
            found.entries.push((key.clone(), version, is_latest));
        }
    }
    if keys.next.is_some() {
        found.next = last;
    }
    Ok(found)
}

fn last_of(entries: &[(String, Summary, bool)]) -> Option<(String, Option<String>)> {
    let (key, version, _) = entries.last()?;
    Some((key.clone(), Some(version.id())))
}

/// Lists versions and delete markers.
pub(crate) async fn list_versions(
    own: &ObjectStore,
    input: ListObjectVersionsRequest,
    _: &Context,
) -> Result<ListObjectVersionsOutput, Fault> {
    check_encoding(input.encoding_type.as_ref())?;
    let encoding = input.encoding_type.clone();
    let most = page_size(input.max_keys)?;
    let Marker { after, version } = marker(&input)?;
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default().to_owned(),
        delimiter: input.delimiter.as_deref().unwrap_or_default().to_owned(),
        after,
        most: usize::try_from(most).unwrap_or_default(),
    };
    let bucket = input.bucket.clone();
    let read = move |view: &View| versions(view, &bucket, &query, version);
    let found = own.store.read(read).await?;
    let encoding = encoding.as_ref();
    let encoded = |text: &Text| named(text, encoding);
    let mut output = ListObjectVersionsOutput::default();
    let (mut versions, mut markers) = (Vec::new(), Vec::new());
    for (key, summary, is_latest) in &found.entries {
        match summary.is_marker {
            true => markers.push(listed_marker(key, summary, *is_latest, encoding)),
            false => versions.push(listed_version(key, summary, *is_latest, encoding)),
        }
    }
    output.versions = Some(versions);
    output.delete_markers = Some(markers);
    output.common_prefixes = Some(common_prefixes(&found.prefixes, encoding));
    output.is_truncated = Some(found.next.is_some());
    if let Some((key, id)) = found.next {
        output.next_key_marker = Some(named(&key, encoding));
        output.next_version_id_marker = id.map(Into::into);
    }
    output.max_keys = Some(most);
    output.prefix = Some(encoded(&input.prefix.unwrap_or_default()));
    output.delimiter = input.delimiter.as_ref().map(encoded);
    output.key_marker = Some(encoded(&input.key_marker.unwrap_or_default()));
    output.version_id_marker = Some(input.version_id_marker.unwrap_or_default());
    output.encoding_type = encoding.cloned();
    output.name = Some(input.bucket);
    Ok(output)
}

fn marker(input: &ListObjectVersionsRequest) -> Result<Marker, Error> {
    let key = input.key_marker.as_deref().unwrap_or_default();
    let id = input.version_id_marker.as_deref().unwrap_or_default();
    if key.is_empty() && !id.is_empty() {
        return Err(Error::InvalidArgument(
            "A version-id marker cannot be specified without a key marker.",
        ));
    }
    let prefix = input.prefix.as_deref().unwrap_or_default();
    let delimiter = input.delimiter.as_deref().unwrap_or_default();
    Ok(match id {
        "" => Marker {
            after: After::marker(key, prefix, delimiter),
            version: None,
        },
        id => Marker {
            after: After::Key(key.to_owned()),
            version: Some((key.to_owned(), id.to_owned())),
        },
    })
}

fn listed_version(
    key: &str,
    summary: &Summary,
    is_latest: bool,
    encoding: Option<&EncodingType>,
) -> ObjectVersion {
    let mut listed = ObjectVersion::default();
    listed.key = Some(named(key, encoding));
    listed.version_id = Some(summary.id().into());
    listed.is_latest = Some(is_latest);
    listed.last_modified = Some(time(summary.modified));
    listed.etag = Some(quoted(&summary.etag));
    listed.size = Some(size(summary.size));
    listed.storage_class = Some(ObjectVersionStorageClass::Standard);
    let algorithm = summary.algorithm.as_deref();
    listed.checksum_algorithm = algorithm.map(|name| vec![ChecksumAlgorithm::from(name)]);
    listed.checksum_type = summary.checksum_type.as_deref().map(ChecksumType::from);
    listed.owner = Some(owner());
    listed
}

fn listed_marker(
    key: &str,
    summary: &Summary,
    is_latest: bool,
    encoding: Option<&EncodingType>,
) -> DeleteMarkerEntry {
    let mut listed = DeleteMarkerEntry::default();
    listed.key = Some(named(key, encoding));
    listed.version_id = Some(summary.id().into());
    listed.is_latest = Some(is_latest);
    listed.last_modified = Some(time(summary.modified));
    listed.owner = Some(owner());
    listed
}
