//! Uploads in parts.

use std::collections::BTreeMap;

use md5::{Digest, Md5};
use polywire::protocol::Fault;
use polywire::schema::{Blob, Text};

use crate::clock::now;
use crate::condition::{Conditions, is_one_of};
use crate::error::Error;
use crate::listing::{After, Query, check_encoding, common_prefixes, named, owner, page, size};
use crate::object::{check_key, checked_sum, facts_of, tag_of};
use crate::s3::{
    AbortMultipartUploadOutput, AbortMultipartUploadRequest, CompleteMultipartUploadOutput,
    CompleteMultipartUploadRequest, CompletedPart, CreateMultipartUploadOutput,
    CreateMultipartUploadRequest, ListMultipartUploadsOutput, ListMultipartUploadsRequest,
    ListPartsOutput, ListPartsRequest, MultipartUpload, Part as Listed, UploadPartOutput,
    UploadPartRequest,
};
use crate::store::{Facts, Object, Part, Store, Upload};

/// The numbers of parts.
const NUMBERS: std::ops::RangeInclusive<i32> = 1..=10_000;

/// CreateMultipartUpload.
pub(crate) fn create(
    store: &Store,
    input: CreateMultipartUploadRequest,
) -> Result<CreateMultipartUploadOutput, Fault> {
    check_key(&input.key)?;
    let id = uuid::Uuid::new_v4().simple().to_string();
    let upload = Upload {
        begun: now(),
        facts: facts_of!(input),
        parts: BTreeMap::new(),
    };
    store.lock().begin(&input.bucket, &input.key, &id, upload)?;
    let output = CreateMultipartUploadOutput::builder().bucket(input.bucket);
    Ok(output.key(input.key).upload_id(id).build())
}

/// UploadPart.
pub(crate) fn upload(
    store: &Store,
    input: UploadPartRequest,
    body: Blob,
) -> Result<UploadPartOutput, Fault> {
    if !NUMBERS.contains(&input.part_number) {
        let reason = "The number of a part is one from 1 to 10000.";
        return Err(Error::InvalidArgument(reason).into());
    }
    let sum = checked_sum(&body, input.content_md5.as_deref())?;
    let modified = now();
    let part = Part {
        body,
        sum,
        modified,
    };
    let (bucket, key, id) = (&input.bucket, &input.key, &input.upload_id);
    store
        .lock()
        .put_part(bucket, key, id, input.part_number, part)?;
    Ok(UploadPartOutput::builder().etag(tag_of(&sum)).build())
}

/// CompleteMultipartUpload: parts but the last have at least `smallest` bytes,
/// the object has `largest` at most.
pub(crate) fn complete(
    store: &Store,
    input: CompleteMultipartUploadRequest,
    smallest: usize,
    largest: usize,
) -> Result<CompleteMultipartUploadOutput, Fault> {
    let (bucket, key, id) = (&input.bucket, &input.key, &input.upload_id);
    let asked = input.multipart_upload.and_then(|upload| upload.parts);
    let asked = asked.filter(|parts| !parts.is_empty());
    let asked = asked.ok_or(Error::MalformedXml)?;
    let parts = store.lock().upload(bucket, key, id)?.parts.clone();
    let chosen = choose(&parts, &asked)?;
    let small = |part: &&Part| part.body.len() < smallest;
    if chosen
        .split_last()
        .is_some_and(|(_, rest)| rest.iter().any(small))
    {
        return Err(Error::EntityTooSmall.into());
    }
    let len: usize = chosen.iter().map(|part| part.body.len()).sum();
    if len > largest {
        let why = "The object is larger than this store allows: start it with a larger --object.";
        return Err(Error::EntityTooLarge(why).into());
    }
    // Copied without the lock. What the parts hold counts until it is all there,
    // so the object takes no more than what was counted.
    let mut body = Vec::with_capacity(len);
    let mut sums = Md5::new();
    for part in &chosen {
        body.extend_from_slice(&part.body);
        sums.update(part.sum);
    }
    let tag = tag_of(&sums.finalize().into());
    let tag: Text = format!("\"{}-{}\"", tag.trim_matches('"'), chosen.len()).into();
    let conditions = Conditions {
        if_match: input.if_match.as_deref(),
        if_none_match: input.if_none_match.as_deref(),
        ..Conditions::default()
    };
    let mut contents = store.lock();
    // Once only: another call may have ended it meanwhile.
    conditions.write(contents.object(bucket, key).ok().as_deref())?;
    let upload = contents.end(bucket, key, id)?;
    let object = Object {
        body: body.into(),
        tag: tag.clone(),
        modified: now(),
        facts: upload.facts,
    };
    contents.put(bucket, key, object, |_| Ok(()))?;
    let output = CompleteMultipartUploadOutput::builder()
        .location(format!("/{bucket}/{key}"))
        .bucket(input.bucket)
        .key(input.key);
    Ok(output.etag(tag).build())
}

/// The parts that are asked for.
fn choose<'p>(
    parts: &'p BTreeMap<i32, std::sync::Arc<Part>>,
    asked: &[CompletedPart],
) -> Result<Vec<&'p Part>, Error> {
    let mut chosen = Vec::with_capacity(asked.len());
    let mut last = 0;
    for asked in asked {
        let number = asked.part_number.ok_or(Error::MalformedXml)?;
        if number <= last {
            return Err(Error::InvalidPartOrder);
        }
        last = number;
        let part = parts.get(&number).ok_or(Error::InvalidPart)?;
        let tag = asked.etag.as_deref().ok_or(Error::MalformedXml)?;
        if tag == "*" || !is_one_of(&tag_of(&part.sum), tag) {
            return Err(Error::InvalidPart);
        }
        chosen.push(&**part);
    }
    Ok(chosen)
}

/// AbortMultipartUpload.
pub(crate) fn abort(
    store: &Store,
    input: AbortMultipartUploadRequest,
) -> Result<AbortMultipartUploadOutput, Fault> {
    store
        .lock()
        .end(&input.bucket, &input.key, &input.upload_id)?;
    Ok(AbortMultipartUploadOutput::default())
}

/// ListParts.
pub(crate) fn list_parts(store: &Store, input: ListPartsRequest) -> Result<ListPartsOutput, Fault> {
    let most = size(input.max_parts)?;
    let marker = input.part_number_marker.as_deref().unwrap_or("0");
    let marker: i32 = marker
        .parse()
        .map_err(|_| Error::InvalidArgument("The marker is not the number of a part."))?;
    let contents = store.lock();
    let upload = contents.upload(&input.bucket, &input.key, &input.upload_id)?;
    let mut parts = upload.parts.range(marker.saturating_add(1)..);
    let listed: Vec<Listed> = parts
        .by_ref()
        .take(usize::try_from(most).unwrap_or_default())
        .map(|(number, part)| {
            Listed::builder()
                .part_number(*number)
                .last_modified(part.modified)
                .etag(tag_of(&part.sum))
                .size(part.body.len() as i64)
                .build()
        })
        .collect();
    let last = listed.last().and_then(|part| part.part_number);
    let is_truncated = most > 0 && parts.next().is_some();
    let mut output = ListPartsOutput::default();
    output.parts = Some(listed);
    output.is_truncated = Some(is_truncated);
    output.max_parts = Some(most);
    output.part_number_marker = Some(marker.to_string().into());
    output.next_part_number_marker = last
        .filter(|_| is_truncated)
        .map(|number| number.to_string().into());
    output.owner = Some(owner());
    output.bucket = Some(input.bucket);
    output.key = Some(input.key);
    output.upload_id = Some(input.upload_id);
    Ok(output)
}

/// ListMultipartUploads.
pub(crate) fn list_uploads(
    store: &Store,
    input: ListMultipartUploadsRequest,
) -> Result<ListMultipartUploadsOutput, Fault> {
    check_encoding(input.encoding_type.as_ref())?;
    let encoding = input.encoding_type.as_ref();
    let most = size(input.max_uploads)?;
    let contents = store.lock();
    let uploads = &contents.bucket(&input.bucket)?.uploads;
    // A key may have several uploads. As one text, they stand in the same order:
    // ids have one length, and no character is smaller than what is between.
    let joined = |key: &str, id: &str| format!("{key}\0{id}");
    let by_text = uploads.iter();
    let by_text = by_text.map(|((key, id), upload)| (joined(key, id), (key, id, upload)));
    let by_text: BTreeMap<String, _> = by_text.collect();
    let after = match (&input.key_marker, &input.upload_id_marker) {
        (None, _) => After::Nothing,
        (Some(key), Some(id)) if !id.is_empty() => After::Key(joined(key, id)),
        (Some(key), _) => match &input.delimiter {
            // A marker may be a common prefix.
            Some(delimiter) if key.ends_with(delimiter.as_str()) => After::Prefix(key.to_string()),
            _ => After::Key(format!("{key}\0\u{7f}")),
        },
    };
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default(),
        delimiter: input.delimiter.as_deref().unwrap_or_default(),
        after: &after,
        most: usize::try_from(most).unwrap_or_default(),
    };
    let page = page(&by_text, query);
    let listed = page.keys.iter().map(|(_, (key, id, upload))| {
        MultipartUpload::builder()
            .upload_id(id.as_str())
            .key(named(key, encoding))
            .initiated(upload.begun)
            .owner(owner())
            .build()
    });
    let encoded = |text: &Text| named(text, encoding);
    let mut output = ListMultipartUploadsOutput::default();
    output.uploads = Some(listed.collect());
    output.common_prefixes = Some(common_prefixes(&page.prefixes, encoding));
    output.is_truncated = Some(page.next.is_some());
    match page.next {
        Some(After::Key(text)) => {
            let (key, id) = text.rsplit_once('\0').unwrap_or((&text, ""));
            output.next_key_marker = Some(named(key, encoding));
            output.next_upload_id_marker = Some(id.into());
        }
        Some(After::Prefix(prefix)) => output.next_key_marker = Some(named(&prefix, encoding)),
        _ => {}
    }
    output.max_uploads = Some(most);
    output.prefix = input.prefix.as_ref().map(encoded);
    output.delimiter = input.delimiter.as_ref().map(encoded);
    output.key_marker = Some(encoded(&input.key_marker.unwrap_or_default()));
    output.upload_id_marker = input.upload_id_marker;
    output.encoding_type = input.encoding_type;
    output.bucket = Some(input.bucket);
    Ok(output)
}
