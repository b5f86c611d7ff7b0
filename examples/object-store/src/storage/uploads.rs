//! Uploads in parts.

use redb::ReadableTable;

use super::database::{Abort, Changes};
use super::files::DataFile;
use super::record::{self, Part, Summary, Upload, Version};
use super::versions::Stored;
use crate::error::Error;

impl Changes<'_> {
    /// Initiates an upload.
    ///
    /// # Errors
    ///
    /// There is no such bucket.
    pub(crate) fn initiate(
        &mut self,
        bucket: &str,
        key: &str,
        id: &str,
        upload: &Upload,
    ) -> Result<(), Abort> {
        self.bucket(bucket)?;
        let record = record::encode(upload)?;
        self.uploads.insert((bucket, key, id), record.as_slice())?;
        Ok(())
    }

    /// Stores a part in the place of the one that has its number.
    ///
    /// # Errors
    ///
    /// There is no such upload, or a file to which the part refers was removed.
    pub(crate) fn put_part(
        &mut self,
        (bucket, key, id): (&str, &str, &str),
        number: i32,
        part: &Part,
        file: Option<DataFile>,
    ) -> Result<(), Abort> {
        self.upload(bucket, key, id)?;
        self.check_references(&part.segments, file.as_ref())?;
        self.refer(&part.segments)?;
        let record = record::encode(part)?;
        let old = self.parts.insert((id, number), record.as_slice())?;
        let old = old.map(|old| record::decode::<Part>(old.value()));
        if let Some(old) = old.transpose()? {
            self.release(&old.segments)?;
        }
        self.added.extend(file);
        Ok(())
    }

    /// Ends an upload: makes a version of it, if `allows` that, and removes its parts.
    ///
    /// # Errors
    ///
    /// There is no such upload, its parts are not those with these ETags any more, or what `allows` returns.
    pub(crate) fn complete(
        &mut self,
        (bucket, key, id): (&str, &str, &str),
        version: Version,
        chosen: &[(i32, Part)],
        allows: impl FnOnce(Option<&Summary>) -> Result<(), Error>,
    ) -> Result<Stored, Abort> {
        self.upload(bucket, key, id)?;
        for (number, part) in chosen {
            let found = self.parts.get((id, *number))?.ok_or(Error::InvalidPart)?;
            if record::decode::<Part>(found.value())?.segments != part.segments {
                return Err(Error::InvalidPart.into());
            }
        }
        // The parts go after the version refers to their files, so these are not removed.
        let stored = self.put(bucket, key, version, None, allows)?;
        self.remove_upload(bucket, key, id)?;
        Ok(stored)
    }

    /// Removes an upload with its parts.
    ///
    /// # Errors
    ///
    /// There is no such upload.
    pub(crate) fn remove_upload(&mut self, bucket: &str, key: &str, id: &str) -> Result<(), Abort> {
        self.upload(bucket, key, id)?;
        self.uploads.remove((bucket, key, id))?;
        for (number, part) in self.parts(id, 0, usize::MAX)? {
            self.parts.remove((id, number))?;
            self.release(&part.segments)?;
        }
        Ok(())
    }

    /// The key and the id of the first upload in a bucket.
    pub(super) fn first_upload(&self, bucket: &str) -> Result<Option<(String, String)>, Abort> {
        let first = self.uploads.range((bucket, "", "")..)?.next().transpose()?;
        Ok(first.and_then(|(place, _)| {
            let (found, key, id) = place.value();
            (found == bucket).then(|| (key.to_owned(), id.to_owned()))
        }))
    }
}
