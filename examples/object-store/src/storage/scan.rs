//! Entries of a snapshot in order, for lists.

use std::ops::Bound;

use super::database::{Abort, Damaged, View};
use super::record::{self, Bucket, Summary, Upload, Version};

type Entry<T> = Result<(String, T), Abort>;
type Entries<T> = Box<dyn Iterator<Item = Entry<T>>>;

impl View {
    /// The buckets from a name on.
    pub(crate) fn buckets_from(
        &self,
        from: Bound<&str>,
    ) -> Result<impl Iterator<Item = Entry<Bucket>> + use<>, Abort> {
        let range = self.buckets.range::<&str>((from, Bound::Unbounded))?;
        Ok(range.map(|item| {
            let (name, bucket) = item?;
            Ok((name.value().to_owned(), record::decode(bucket.value())?))
        }))
    }

    /// The objects from a key on, without those whose newest version is a delete marker.
    pub(crate) fn objects_from(
        &self,
        bucket: &str,
        from: Bound<&str>,
    ) -> Result<impl Iterator<Item = Entry<Summary>> + use<>, Abort> {
        let entries = self.newest_from(bucket, from, Version::decode_summary)?;
        Ok(entries.filter(|entry| !matches!(entry, Ok((_, summary)) if summary.is_marker)))
    }

    /// The keys of objects and delete markers from a key on.
    pub(crate) fn keys_from(
        &self,
        bucket: &str,
        from: Bound<&str>,
    ) -> Result<impl Iterator<Item = Entry<()>> + use<>, Abort> {
        self.newest_from(bucket, from, |_| Ok(()))
    }

    fn newest_from<T: 'static>(
        &self,
        bucket: &str,
        from: Bound<&str>,
        decode: impl Fn(&[u8]) -> Result<T, Damaged> + 'static,
    ) -> Result<Entries<T>, Abort> {
        let start = from.map(|key| (bucket, key));
        let range = self
            .objects
            .range::<(&str, &str)>((start, Bound::Unbounded))?;
        let bucket = bucket.to_owned();
        Ok(Box::new(range.map_while(move |item| {
            let read = || -> Result<Option<(String, T)>, Abort> {
                let (place, version) = item?;
                let (found, key) = place.value();
                if found != bucket {
                    return Ok(None);
                }
                Ok(Some((key.to_owned(), decode(version.value())?)))
            };
            read().transpose()
        })))
    }

    /// All versions of a key, the newest first.
    pub(crate) fn versions_of(&self, bucket: &str, key: &str) -> Result<Vec<Summary>, Abort> {
        let Some(newest) = self.objects.get((bucket, key))? else {
            return Ok(Vec::new());
        };
        let mut versions = vec![Version::decode_summary(newest.value())?];
        for item in self
            .older
            .range((bucket, key, 0)..=(bucket, key, u64::MAX))?
        {
            versions.push(Version::decode_summary(item?.1.value())?);
        }
        Ok(versions)
    }

    /// The uploads from a text on that consists of the key, a zero character and the id of the upload.
    pub(crate) fn uploads_from(
        &self,
        bucket: &str,
        from: Bound<&str>,
    ) -> Result<impl Iterator<Item = Entry<Upload>> + use<>, Abort> {
        let (Bound::Included(place) | Bound::Excluded(place)) = from else {
            return self.uploads_from_place(bucket, Bound::Included(("", "")));
        };
        let place = place.rsplit_once('\0').unwrap_or((place, ""));
        let is_excluded = matches!(from, Bound::Excluded(_));
        self.uploads_from_place(
            bucket,
            match is_excluded {
                true => Bound::Excluded(place),
                false => Bound::Included(place),
            },
        )
    }

    fn uploads_from_place(
        &self,
        bucket: &str,
        from: Bound<(&str, &str)>,
    ) -> Result<impl Iterator<Item = Entry<Upload>> + use<>, Abort> {
        let start = from.map(|(key, id)| (bucket, key, id));
        let range = self
            .uploads
            .range::<(&str, &str, &str)>((start, Bound::Unbounded))?;
        let bucket = bucket.to_owned();
        Ok(range.map_while(move |item| {
            let read = || -> Result<Option<(String, Upload)>, Abort> {
                let (place, upload) = item?;
                let (found, key, id) = place.value();
                if found != bucket {
                    return Ok(None);
                }
                Ok(Some((
                    format!("{key}\0{id}"),
                    record::decode(upload.value())?,
                )))
            };
            read().transpose()
        }))
    }
}

/// The sequence number from which a list continues after a version. The version need not exist any more, unless it is
/// `null`.
pub(crate) fn version_sequence(versions: &[Summary], id: &str) -> Option<u64> {
    match record::sequence_of(id) {
        Some(sequence) => Some(sequence),
        None => {
            let mut found = versions.iter().filter(|version| version.is_null);
            found.next().map(|version| version.sequence)
        }
    }
}
