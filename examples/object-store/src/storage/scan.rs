//! Entries of a snapshot in order, for lists.

use std::ops::Bound;

use super::database::{Abort, Damaged, View};
use super::record::{self, Bucket, Summary, Upload, Version};
use crate::error::Error;

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

    /// Up to `most` versions of a key, the newest first, with whether they are the newest one. If there is a marker, only
    /// those that are older than the version of this id, which need not exist, unless it is `null`.
    ///
    /// # Errors
    ///
    /// The marker is not a version id, or there is no version `null`.
    pub(crate) fn versions_of(
        &self,
        bucket: &str,
        key: &str,
        marker: Option<&str>,
        most: usize,
    ) -> Result<Vec<(Summary, bool)>, Abort> {
        let newest = self.objects.get((bucket, key))?;
        let newest = newest.map(|found| Version::decode_summary(found.value()));
        let newest = newest.transpose()?;
        let wrong = Error::InvalidArgument("Invalid version id specified");
        // The tables are in the order of inverted sequence numbers.
        let first = match marker {
            None => 0,
            Some(record::NULL) => match &newest {
                Some(newest) if newest.is_null => (!newest.sequence).saturating_add(1),
                _ => {
                    self.older_position(bucket, key, record::NULL)?
                        .ok_or(wrong)?
                        + 1
                }
            },
            Some(id) => (!record::sequence_of(id).ok_or(wrong)?).saturating_add(1),
        };
        let newest = newest.filter(|newest| !newest.sequence >= first);
        let older = self
            .older
            .range((bucket, key, first)..=(bucket, key, u64::MAX))?;
        let older = older.map(|item| Ok((Version::decode_summary(item?.1.value())?, false)));
        let newest = newest.map(|newest| Ok((newest, true)));
        newest.into_iter().chain(older).take(most).collect()
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
