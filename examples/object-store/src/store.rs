//! Buckets, objects and uploads in memory. Nothing of S3's messages is here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polywire::schema::{Blob, Text, Timestamp};

use crate::error::Error;

/// What an entry counts beside its bytes, so that many small ones are not free.
const OVERHEAD: u64 = 512;

/// What is stored. All of it is behind one lock, which is held for look-ups and
/// changes of maps and never while bytes are copied or summed.
#[derive(Debug)]
pub(crate) struct Store {
    contents: Mutex<Contents>,
}

/// What [`Store::lock`] gives.
#[derive(Debug)]
pub(crate) struct Contents {
    buckets: BTreeMap<String, Bucket>,
    /// The bytes that are held and those that may be.
    used: u64,
    limit: u64,
}

/// A bucket.
#[derive(Debug)]
pub(crate) struct Bucket {
    pub created: Timestamp,
    /// What `LocationConstraint` said.
    pub region: Option<Text>,
    pub objects: BTreeMap<String, Arc<Object>>,
    /// By key and id, which is the order in which they are listed.
    pub uploads: BTreeMap<(String, String), Upload>,
}

/// An object.
#[derive(Debug)]
pub(crate) struct Object {
    pub body: Blob,
    /// With its quotes.
    pub tag: Text,
    pub modified: Timestamp,
    pub facts: Facts,
}

/// What a caller said of an object, and gets back with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub content_type: Option<Text>,
    pub cache_control: Option<Text>,
    pub content_disposition: Option<Text>,
    pub content_encoding: Option<Text>,
    pub content_language: Option<Text>,
    pub expires: Option<Timestamp>,
    pub metadata: BTreeMap<Text, Text>,
}

/// An upload in parts that is not completed.
#[derive(Debug)]
pub(crate) struct Upload {
    pub begun: Timestamp,
    pub facts: Facts,
    pub parts: BTreeMap<i32, Arc<Part>>,
}

/// A part of an upload.
#[derive(Debug)]
pub(crate) struct Part {
    pub body: Blob,
    pub sum: [u8; 16],
    pub modified: Timestamp,
}

impl Store {
    /// An empty store that holds so many bytes.
    #[must_use]
    pub(crate) const fn new(limit: u64) -> Self {
        Self {
            contents: Mutex::new(Contents {
                buckets: BTreeMap::new(),
                used: 0,
                limit,
            }),
        }
    }

    /// Everything, for as long as the guard is kept. A handler that has panicked
    /// has left it whole, since each change is one call.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    /// The buckets, in the order of their names.
    #[must_use]
    pub(crate) const fn buckets(&self) -> &BTreeMap<String, Bucket> {
        &self.buckets
    }

    /// The bytes that are held.
    #[cfg(test)]
    #[must_use]
    pub(crate) const fn used(&self) -> u64 {
        self.used
    }

    /// A bucket.
    ///
    /// # Errors
    ///
    /// There is no such bucket.
    pub(crate) fn bucket(&self, name: &str) -> Result<&Bucket, Error> {
        self.buckets.get(name).ok_or(Error::NoSuchBucket)
    }

    /// An object.
    ///
    /// # Errors
    ///
    /// There is no such bucket or object.
    pub(crate) fn object(&self, bucket: &str, key: &str) -> Result<Arc<Object>, Error> {
        let object = self.bucket(bucket)?.objects.get(key);
        object.cloned().ok_or(Error::NoSuchKey)
    }

    /// An upload.
    ///
    /// # Errors
    ///
    /// There is no such bucket or upload.
    pub(crate) fn upload(&self, bucket: &str, key: &str, id: &str) -> Result<&Upload, Error> {
        let place = (key.to_owned(), id.to_owned());
        let upload = self.bucket(bucket)?.uploads.get(&place);
        upload.ok_or(Error::NoSuchUpload)
    }

    /// Makes a bucket.
    ///
    /// # Errors
    ///
    /// There is one of that name.
    pub(crate) fn create(
        &mut self,
        name: &str,
        region: Option<Text>,
        now: Timestamp,
    ) -> Result<(), Error> {
        if self.buckets.contains_key(name) {
            return Err(Error::BucketAlreadyOwnedByYou);
        }
        self.take(OVERHEAD, 0)?;
        let bucket = Bucket {
            created: now,
            region,
            objects: BTreeMap::new(),
            uploads: BTreeMap::new(),
        };
        self.buckets.insert(name.to_owned(), bucket);
        Ok(())
    }

    /// Removes an empty bucket, and the uploads that were begun in it.
    ///
    /// # Errors
    ///
    /// It is not there, or holds objects.
    pub(crate) fn remove(&mut self, name: &str) -> Result<(), Error> {
        if !self.bucket(name)?.objects.is_empty() {
            return Err(Error::BucketNotEmpty);
        }
        if let Some(bucket) = self.buckets.remove(name) {
            let uploads: u64 = bucket.uploads.iter().map(upload_size).sum();
            self.used -= OVERHEAD + uploads;
        }
        Ok(())
    }

    /// Stores an object in the place of the one that was there, if `allows` that.
    ///
    /// # Errors
    ///
    /// There is no such bucket, what `allows` says, or the store is full.
    pub(crate) fn put(
        &mut self,
        bucket: &str,
        key: &str,
        object: Object,
        allows: impl FnOnce(Option<&Object>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let old = self.bucket(bucket)?.objects.get(key);
        allows(old.map(|old| &**old))?;
        let freed = old.map_or(0, |old| object_size(key, old));
        self.take(object_size(key, &object), freed)?;
        if let Some(bucket) = self.buckets.get_mut(bucket) {
            bucket.objects.insert(key.to_owned(), Arc::new(object));
        }
        Ok(())
    }

    /// Deletes an object, if there is one.
    ///
    /// # Errors
    ///
    /// There is no such bucket.
    pub(crate) fn delete(&mut self, bucket: &str, key: &str) -> Result<(), Error> {
        let bucket = self.buckets.get_mut(bucket).ok_or(Error::NoSuchBucket)?;
        if let Some(old) = bucket.objects.remove(key) {
            self.used -= object_size(key, &old);
        }
        Ok(())
    }

    /// Begins an upload.
    ///
    /// # Errors
    ///
    /// There is no such bucket, or the store is full.
    pub(crate) fn begin(
        &mut self,
        bucket: &str,
        key: &str,
        id: &str,
        upload: Upload,
    ) -> Result<(), Error> {
        self.bucket(bucket)?;
        let place = (key.to_owned(), id.to_owned());
        self.take(upload_size((&place, &upload)), 0)?;
        if let Some(bucket) = self.buckets.get_mut(bucket) {
            bucket.uploads.insert(place, upload);
        }
        Ok(())
    }

    /// Stores a part in the place of the one that had its number.
    ///
    /// # Errors
    ///
    /// There is no such upload, or the store is full.
    pub(crate) fn put_part(
        &mut self,
        bucket: &str,
        key: &str,
        id: &str,
        number: i32,
        part: Part,
    ) -> Result<(), Error> {
        let old = self.upload(bucket, key, id)?.parts.get(&number);
        let freed = old.map_or(0, |old| part_size(old));
        self.take(part_size(&part), freed)?;
        let place = (key.to_owned(), id.to_owned());
        let bucket = self.buckets.get_mut(bucket);
        if let Some(upload) = bucket.and_then(|bucket| bucket.uploads.get_mut(&place)) {
            upload.parts.insert(number, Arc::new(part));
        }
        Ok(())
    }

    /// Ends an upload and takes it out.
    ///
    /// # Errors
    ///
    /// There is no such upload.
    pub(crate) fn end(&mut self, bucket: &str, key: &str, id: &str) -> Result<Upload, Error> {
        let bucket = self.buckets.get_mut(bucket).ok_or(Error::NoSuchBucket)?;
        let place = (key.to_owned(), id.to_owned());
        let upload = bucket.uploads.remove(&place).ok_or(Error::NoSuchUpload)?;
        self.used -= upload_size((&place, &upload));
        Ok(upload)
    }

    /// Counts what comes and what goes.
    fn take(&mut self, bytes: u64, freed: u64) -> Result<(), Error> {
        let used = self.used - freed + bytes;
        if used > self.limit {
            return Err(Error::InsufficientStorage);
        }
        self.used = used;
        Ok(())
    }
}

fn object_size(key: &str, object: &Object) -> u64 {
    OVERHEAD + (key.len() + object.body.len()) as u64 + facts_size(&object.facts)
}

fn upload_size(((key, _), upload): (&(String, String), &Upload)) -> u64 {
    let parts: u64 = upload.parts.values().map(|part| part_size(part)).sum();
    OVERHEAD + key.len() as u64 + facts_size(&upload.facts) + parts
}

fn part_size(part: &Part) -> u64 {
    OVERHEAD + part.body.len() as u64
}

fn facts_size(facts: &Facts) -> u64 {
    let texts = [
        &facts.content_type,
        &facts.cache_control,
        &facts.content_disposition,
        &facts.content_encoding,
        &facts.content_language,
    ];
    let texts = texts.into_iter().flatten().map(Text::len).sum::<usize>();
    let entries = facts.metadata.iter();
    let entries: usize = entries.map(|(name, value)| name.len() + value.len()).sum();
    (texts + entries) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::new(1_700_000_000, 0);

    fn object(body: &[u8]) -> Object {
        Object {
            body: body.into(),
            tag: "\"t\"".into(),
            modified: NOW,
            facts: Facts::default(),
        }
    }

    fn any(_: Option<&Object>) -> Result<(), Error> {
        Ok(())
    }

    #[test]
    fn what_is_put_is_there_until_it_is_deleted() {
        let store = Store::new(1 << 20);
        let mut contents = store.lock();
        let put = contents.put("b", "k", object(b"x"), any);
        assert_eq!(put, Err(Error::NoSuchBucket));
        contents.create("b", None, NOW).unwrap();
        let again = contents.create("b", None, NOW);
        assert_eq!(again, Err(Error::BucketAlreadyOwnedByYou));
        contents.put("b", "k", object(b"one"), any).unwrap();
        assert_eq!(contents.object("b", "k").unwrap().body.as_bytes(), b"one");
        assert_eq!(contents.remove("b"), Err(Error::BucketNotEmpty));
        // Whoever has it keeps it.
        let held = contents.object("b", "k").unwrap();
        contents.put("b", "k", object(b"two"), any).unwrap();
        assert_eq!(held.body.as_bytes(), b"one");
        let refused = contents.put("b", "k", object(b"three"), |old| {
            assert_eq!(old.unwrap().body.as_bytes(), b"two");
            Err(Error::PreconditionFailed)
        });
        assert_eq!(refused, Err(Error::PreconditionFailed));
        contents.delete("b", "k").unwrap();
        contents.delete("b", "k").unwrap();
        assert_eq!(contents.object("b", "k").err(), Some(Error::NoSuchKey));
        contents.remove("b").unwrap();
        assert_eq!(contents.used(), 0);
    }

    #[test]
    fn uploads_are_counted_and_given_back() {
        let store = Store::new(1 << 20);
        let mut contents = store.lock();
        contents.create("b", None, NOW).unwrap();
        let part = |body: &[u8]| Part {
            body: body.into(),
            sum: [0; 16],
            modified: NOW,
        };
        let none = contents.put_part("b", "k", "u", 1, part(b"x"));
        assert_eq!(none, Err(Error::NoSuchUpload));
        let upload = || Upload {
            begun: NOW,
            facts: Facts::default(),
            parts: BTreeMap::new(),
        };
        contents.begin("b", "k", "u", upload()).unwrap();
        contents.begin("b", "k", "v", upload()).unwrap();
        let before = contents.used();
        contents.put_part("b", "k", "u", 1, part(b"long")).unwrap();
        contents.put_part("b", "k", "u", 1, part(b"x")).unwrap();
        assert_eq!(contents.used(), before + OVERHEAD + 1);
        assert_eq!(contents.end("b", "k", "u").unwrap().parts.len(), 1);
        assert_eq!(contents.end("b", "k", "u").err(), Some(Error::NoSuchUpload));
        // What was not ended goes with its bucket.
        contents.remove("b").unwrap();
        assert_eq!(contents.used(), 0);
    }

    #[test]
    fn a_full_store_takes_no_more_and_loses_nothing() {
        let store = Store::new(2 * OVERHEAD + 10);
        let mut contents = store.lock();
        contents.create("b", None, NOW).unwrap();
        contents.put("b", "k", object(b"12345"), any).unwrap();
        let full = contents.put("b", "k", object(b"1234567890"), any);
        assert_eq!(full, Err(Error::InsufficientStorage));
        let full = contents.put("b", "l", object(b""), any);
        assert_eq!(full, Err(Error::InsufficientStorage));
        assert_eq!(contents.object("b", "k").unwrap().body.len(), 5);
        // What it takes the place of does not count.
        contents.put("b", "k", object(b"123456789"), any).unwrap();
        assert_eq!(contents.used(), 2 * OVERHEAD + 10);
    }
}
