//! What a change does to the versions of an object.
//!
//! The newest version of each object, which may be a delete marker, is in one table, and the older ones are in another.
//! An object with older versions always has a newest one.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/userguide/versioning-workflows.html>

use redb::ReadableTable;

use super::database::{Abort, Changes};
use super::files::DataFile;
use super::record::{self, Bucket, Segment, Summary, Tag, Version, Versioning};
use crate::error::Error;

/// What a stored version is to the client.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// `None` if the bucket never had versions.
    pub id: Option<String>,
}

/// What a deletion did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deleted {
    /// The id of the version that was deleted, or of the delete marker that was created. `None` if the bucket never had
    /// versions.
    pub id: Option<String>,
    /// Whether a delete marker was created, or deleted.
    pub is_marker: bool,
}

impl Changes<'_> {
    /// Creates a bucket.
    ///
    /// # Errors
    ///
    /// It exists.
    pub(crate) fn create_bucket(&mut self, name: &str, bucket: &Bucket) -> Result<(), Abort> {
        if self.buckets.get(name)?.is_some() {
            return Err(Error::BucketAlreadyOwnedByYou.into());
        }
        self.set_bucket(name, bucket)
    }

    /// Replaces the record of a bucket.
    pub(crate) fn set_bucket(&mut self, name: &str, bucket: &Bucket) -> Result<(), Abort> {
        self.buckets
            .insert(name, record::encode(bucket)?.as_slice())?;
        Ok(())
    }

    /// Removes an empty bucket, and the uploads that were initiated in it.
    ///
    /// # Errors
    ///
    /// There is no such bucket, or it has versions of objects.
    pub(crate) fn remove_bucket(&mut self, name: &str) -> Result<(), Abort> {
        self.bucket(name)?;
        let first = self.objects.range((name, "")..)?.next().transpose()?;
        if first.is_some_and(|(key, _)| key.value().0 == name) {
            return Err(Error::BucketNotEmpty.into());
        }
        while let Some((key, id)) = self.first_upload(name)? {
            self.remove_upload(name, &key, &id)?;
        }
        self.buckets.remove(name)?;
        Ok(())
    }

    /// Stores a version in the place of the newest one, if `allows` that. `files` are those that the segments of the
    /// version refer to, and that nothing else refers to.
    ///
    /// # Errors
    ///
    /// There is no such bucket, or what `allows` returns.
    pub(crate) fn put(
        &mut self,
        bucket: &str,
        key: &str,
        mut version: Version,
        files: Option<DataFile>,
        allows: impl FnOnce(Option<&Summary>) -> Result<(), Error>,
    ) -> Result<Stored, Abort> {
        let versioning = self.bucket(bucket)?.versioning;
        let newest = self.newest(bucket, key)?;
        let current = newest.as_ref().map(|newest| &newest.summary);
        allows(current.filter(|summary| !summary.is_marker))?;
        self.check_references(&version.detail.segments, files.as_ref())?;
        version.summary.sequence = self.next_sequence();
        version.summary.is_null = versioning != Versioning::Enabled;
        let stored = Stored {
            id: (versioning != Versioning::Off).then(|| version.summary.id()),
        };
        self.refer(&version.detail.segments)?;
        self.make_room(bucket, key, versioning, newest)?;
        self.objects
            .insert((bucket, key), version.encode()?.as_slice())?;
        self.added.extend(files);
        Ok(stored)
    }

    /// Deletes an object: removes it, or adds a delete marker if the bucket has versions.
    ///
    /// # Errors
    ///
    /// There is no such bucket, or what `allows` returns.
    pub(crate) fn delete(
        &mut self,
        bucket: &str,
        key: &str,
        now: i64,
        allows: impl FnOnce(Option<&Summary>) -> Result<(), Error>,
    ) -> Result<Deleted, Abort> {
        let versioning = self.bucket(bucket)?.versioning;
        let newest = self.newest(bucket, key)?;
        let current = newest.as_ref().map(|newest| &newest.summary);
        allows(current.filter(|summary| !summary.is_marker))?;
        if versioning == Versioning::Off {
            if let Some(newest) = newest {
                self.objects.remove((bucket, key))?;
                self.release(&newest.detail.segments)?;
            }
            return Ok(Deleted::default());
        }
        let mut marker = Version::default();
        marker.summary = Summary {
            sequence: self.next_sequence(),
            is_null: versioning == Versioning::Suspended,
            is_marker: true,
            modified: now,
            ..Summary::default()
        };
        self.make_room(bucket, key, versioning, newest)?;
        self.objects
            .insert((bucket, key), marker.encode()?.as_slice())?;
        Ok(Deleted {
            id: Some(marker.summary.id()),
            is_marker: true,
        })
    }

    /// Removes the version that a new one replaces, and moves the newest one to the older ones if it stays.
    fn make_room(
        &mut self,
        bucket: &str,
        key: &str,
        versioning: Versioning,
        newest: Option<Version>,
    ) -> Result<(), Abort> {
        let replaces_null = versioning != Versioning::Enabled;
        let Some(newest) = newest else { return Ok(()) };
        if replaces_null && newest.summary.is_null {
            self.release(&newest.detail.segments)?;
            return Ok(());
        }
        // A bucket without versions has only `null`, so there is nothing to search for.
        if replaces_null && let Some(position) = self.older_position(bucket, key, record::NULL)? {
            self.take_older(bucket, key, position)?;
        }
        let place = (bucket, key, !newest.summary.sequence);
        self.older.insert(place, newest.encode()?.as_slice())?;
        Ok(())
    }

    /// Deletes one version. Does nothing if there is no such version.
    ///
    /// # Errors
    ///
    /// There is no such bucket, or what `allows` returns.
    pub(crate) fn delete_version(
        &mut self,
        bucket: &str,
        key: &str,
        id: &str,
        allows: impl FnOnce(Option<&Summary>) -> Result<(), Error>,
    ) -> Result<Deleted, Abort> {
        self.bucket(bucket)?;
        let version = self.version(bucket, key, id)?;
        allows(version.as_ref().map(|version| &version.summary))?;
        let mut deleted = Deleted {
            id: Some(id.to_owned()),
            is_marker: false,
        };
        let Some(version) = version else {
            return Ok(deleted);
        };
        deleted.is_marker = version.summary.is_marker;
        if let Some(position) = self.older_position(bucket, key, id)? {
            self.take_older(bucket, key, position)?;
            return Ok(deleted);
        }
        self.release(&version.detail.segments)?;
        self.objects.remove((bucket, key))?;
        let range = (bucket, key, 0)..=(bucket, key, u64::MAX);
        let next = self.older.range(range)?.next().transpose()?;
        let next = next.map(|(place, version)| (place.value().2, version.value().to_vec()));
        if let Some((position, version)) = next {
            self.older.remove((bucket, key, position))?;
            self.objects.insert((bucket, key), version.as_slice())?;
        }
        Ok(deleted)
    }

    /// Removes an older version.
    fn take_older(&mut self, bucket: &str, key: &str, position: u64) -> Result<(), Abort> {
        let removed = self.older.remove((bucket, key, position))?;
        let removed = removed.map(|removed| Version::decode(removed.value()));
        if let Some(removed) = removed.transpose()? {
            self.release(&removed.detail.segments)?;
        }
        Ok(())
    }

    /// Replaces the tags of a version, or of the newest one. Returns the id of the version.
    ///
    /// # Errors
    ///
    /// There is no such bucket or version, or it is a delete marker.
    pub(crate) fn set_tags(
        &mut self,
        bucket: &str,
        key: &str,
        id: Option<&str>,
        tags: Vec<Tag>,
    ) -> Result<Stored, Abort> {
        let versioning = self.bucket(bucket)?.versioning;
        let found = match id {
            Some(id) => self.version(bucket, key, id)?.ok_or(Error::NoSuchVersion)?,
            None => self.newest(bucket, key)?.ok_or(Error::NoSuchKey)?,
        };
        if found.summary.is_marker {
            return Err(match id {
                Some(_) => Error::MethodNotAllowed.into(),
                None => Error::NoSuchKey.into(),
            });
        }
        let mut version = found;
        version.detail.tags = tags;
        let place = (bucket, key, !version.summary.sequence);
        let is_older = self.older.get(place)?.is_some();
        let encoded = version.encode()?;
        match is_older {
            true => drop(self.older.insert(place, encoded.as_slice())?),
            false => drop(self.objects.insert((bucket, key), encoded.as_slice())?),
        }
        Ok(Stored {
            id: (versioning != Versioning::Off).then(|| version.summary.id()),
        })
    }

    /// Checks that the files of segments exist, because something refers to them, or because they are new.
    ///
    /// # Errors
    ///
    /// A file was removed since the segments were read.
    pub(super) fn check_references(
        &self,
        segments: &[Segment],
        new: Option<&DataFile>,
    ) -> Result<(), Abort> {
        let new = new.map(|file| file.segment().file);
        for segment in segments {
            if Some(segment.file) != new && self.files.get(segment.file)?.is_none() {
                return Err(Error::OperationAborted.into());
            }
        }
        Ok(())
    }

    /// Counts references to the files of segments.
    pub(super) fn refer(&mut self, segments: &[Segment]) -> Result<(), Abort> {
        for segment in segments {
            let count = self
                .files
                .get(segment.file)?
                .map_or(0, |count| count.value());
            self.files.insert(segment.file, count.saturating_add(1))?;
        }
        Ok(())
    }

    /// Removes references to the files of segments. Files without references are removed after the transaction.
    pub(super) fn release(&mut self, segments: &[Segment]) -> Result<(), Abort> {
        for segment in segments {
            let count = self
                .files
                .get(segment.file)?
                .map_or(0, |count| count.value());
            if count > 1 {
                self.files.insert(segment.file, count - 1)?;
            } else {
                self.files.remove(segment.file)?;
                self.removed.push(segment.file);
            }
        }
        Ok(())
    }
}
