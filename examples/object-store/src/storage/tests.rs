//! Tests of the storage: what stays, and which files are left.

use std::path::Path;

use bytes::Bytes;
use md5::{Digest, Md5};
use polywire::schema::{ByteStream, StreamError, StreamErrorKind};

use super::*;
use crate::error::Error;

/// A store with a bucket `b`.
pub(super) async fn open(directory: &Path) -> Store {
    let store = Store::open(directory, false).unwrap();
    let bucket = Bucket {
        created: 1,
        region: None,
        versioning: Versioning::Off,
        tags: None,
    };
    let created = store
        .change(move |changes| changes.create_bucket("b", &bucket))
        .await;
    assert!(matches!(
        created,
        Ok(()) | Err(Error::BucketAlreadyOwnedByYou)
    ));
    store
}

/// A stream in pieces of a few thousand bytes.
fn pieces(body: &[u8]) -> ByteStream {
    struct Pieces(Vec<Bytes>);
    impl futures_core::Stream for Pieces {
        type Item = Result<Bytes, StreamError>;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            std::task::Poll::Ready(self.0.pop().map(Ok))
        }
    }
    let mut all: Vec<Bytes> = body.chunks(5000).map(Bytes::copy_from_slice).collect();
    all.reverse();
    ByteStream::new(Pieces(all))
}

async fn put(store: &Store, key: &'static str, body: &[u8]) -> Result<(), Error> {
    let mut received = store.receive(pieces(body), u64::MAX).await.unwrap();
    let sum: [u8; 16] = Md5::digest(body).into();
    assert_eq!((received.md5, received.size), (sum, body.len() as u64));
    let file = received.file.take();
    let mut version = Version::default();
    version.summary.size = received.size;
    version.inline = received.inline;
    version.detail.segments = file.iter().map(DataFile::segment).collect();
    let change =
        move |changes: &mut Changes<'_>| changes.put("b", key, version, file, |_| Ok(())).map(drop);
    store.change(change).await
}

fn pinned(store: &Store, key: &str) -> Result<Pinned, Error> {
    store.pinned(|view| Ok(view.newest("b", key)?.ok_or(Error::NoSuchKey)?))
}

async fn read(pinned: &Pinned) -> Vec<u8> {
    let stream = pinned.stream(0..pinned.version.summary.size).await.unwrap();
    stream.collect(1 << 30).await.unwrap().as_bytes().to_vec()
}

async fn delete(store: &Store, key: &'static str) {
    let change = move |changes: &mut Changes<'_>| changes.delete("b", key, 1, |_| Ok(()));
    store.change(change).await.unwrap();
}

/// The number of data files, once it is the expected one.
fn files(directory: &Path, expected: usize) -> usize {
    let count = |name: &str| {
        let mut count = 0;
        let mut directories = vec![directory.join(name)];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                match entry.file_type().unwrap().is_dir() {
                    true => directories.push(entry.path()),
                    false => count += 1,
                }
            }
        }
        count
    };
    // Another thread removes files.
    for _ in 0..200 {
        if count("data") + count("incoming") == expected {
            return expected;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    count("data") + count("incoming")
}

#[tokio::test]
async fn bodies_of_all_sizes_stay() {
    let directory = tempfile::tempdir().unwrap();
    let sizes = [0, 1, 4096, 4097, 131_072, 131_073, 1_000_003];
    let keys = ["0", "1", "4096", "4097", "131072", "131073", "1000003"];
    let body = |size: usize| (0..size).map(|at| (at % 251) as u8).collect::<Vec<_>>();
    let store = open(directory.path()).await;
    for (key, size) in keys.into_iter().zip(sizes) {
        put(&store, key, &body(size)).await.unwrap();
    }
    drop(store);
    let store = open(directory.path()).await;
    for (key, size) in keys.into_iter().zip(sizes) {
        let found = pinned(&store, key).unwrap();
        assert!(read(&found).await == body(size), "{size}");
        assert_eq!(found.version.detail.segments.is_empty(), size <= 4096);
    }
    let found = pinned(&store, "1000003").unwrap();
    let range = found
        .stream(5000..700_000)
        .await
        .unwrap()
        .collect(1 << 20)
        .await
        .unwrap();
    assert!(range.as_bytes() == &body(700_000)[5000..]);
    assert_eq!(files(directory.path(), 4), 4);
}

#[tokio::test]
async fn readers_keep_what_they_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).await;
    let (old, new) = (vec![1; 500_000], vec![2; 400_000]);
    put(&store, "k", &old).await.unwrap();
    let found = pinned(&store, "k").unwrap();
    let mut stream = found.stream(0..500_000).await.unwrap();
    let first = stream.next().await.unwrap().unwrap();
    put(&store, "k", &new).await.unwrap();
    delete(&store, "k").await;
    assert_eq!(files(directory.path(), 1), 1);
    let rest = stream.collect(1 << 20).await.unwrap();
    assert!([&first[..], rest.as_bytes()].concat() == old);
    // It can be read once more, until nobody has it.
    assert!(read(&found).await == old);
    drop(found);
    assert_eq!(files(directory.path(), 0), 0);
    assert_eq!(pinned(&store, "k").unwrap_err(), Error::NoSuchKey);
}

#[tokio::test]
async fn what_is_not_stored_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).await;
    let error = StreamError::new(StreamErrorKind::Interrupted);
    struct Broken(Option<StreamError>, usize);
    impl futures_core::Stream for Broken {
        type Item = Result<Bytes, StreamError>;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            self.1 += 1;
            std::task::Poll::Ready(match self.1 {
                ..20 => Some(Ok(Bytes::from(vec![0; 50_000]))),
                _ => self.0.take().map(Err),
            })
        }
    }
    let broken = ByteStream::new(Broken(Some(error), 0));
    assert!(store.receive(broken, u64::MAX).await.is_err());
    assert!(store.receive(pieces(&[0; 600_000]), 500_000).await.is_err());
    drop(
        store
            .receive(pieces(&[0; 600_000]), u64::MAX)
            .await
            .unwrap(),
    );
    // A change that is rejected drops its file too.
    let mut received = store.receive(pieces(&[0; 9_000]), u64::MAX).await.unwrap();
    let file = received.file.take();
    let change = move |changes: &mut Changes<'_>| {
        let mut version = Version::default();
        version.detail.segments = file.iter().map(DataFile::segment).collect();
        changes.put("none", "k", version, file, |_| Ok(()))
    };
    assert_eq!(store.change(change).await.unwrap_err(), Error::NoSuchBucket);
    assert_eq!(files(directory.path(), 0), 0);
}

#[tokio::test]
async fn a_start_removes_files_without_objects() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).await;
    put(&store, "k", &[7; 9_000]).await.unwrap();
    let segment = pinned(&store, "k").unwrap().version.detail.segments[0];
    drop(store);
    let data = directory.path().join("data");
    std::fs::write(data.join("ff/00000000000000ff"), b"orphan").unwrap();
    std::fs::write(directory.path().join("incoming/0000000000000aaa"), b"part").unwrap();
    std::fs::write(data.join("00/README"), b"not ours").unwrap();
    let store = open(directory.path()).await;
    assert_eq!(files(directory.path(), 2), 2);
    assert!(read(&pinned(&store, "k").unwrap()).await == [7; 9_000]);
    put(&store, "l", &[8; 9_000]).await.unwrap();
    let other = pinned(&store, "l").unwrap().version.detail.segments[0];
    assert!(other.file > segment.file);
}

#[tokio::test]
async fn copies_share_files() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).await;
    put(&store, "k", &[7; 9_000]).await.unwrap();
    let change = |changes: &mut Changes<'_>| {
        let version = changes.newest("b", "k")?.ok_or(Error::NoSuchKey)?;
        changes.put("b", "copy", version, None, |_| Ok(()))
    };
    store.change(change).await.unwrap();
    delete(&store, "k").await;
    assert_eq!(files(directory.path(), 1), 1);
    let old = pinned(&store, "copy").unwrap();
    assert!(read(&old).await == [7; 9_000]);
    delete(&store, "copy").await;
    // What was removed cannot be referred to again.
    let version = (*old.version).clone();
    let change = move |changes: &mut Changes<'_>| changes.put("b", "k", version, None, |_| Ok(()));
    assert_eq!(
        store.change(change).await.unwrap_err(),
        Error::OperationAborted
    );
    drop(old);
    assert_eq!(files(directory.path(), 0), 0);
}

#[tokio::test]
async fn directories_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).await;
    let error = Store::open(directory.path(), false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("in use"), "{error}");
    drop(store);
    std::fs::write(directory.path().join("mine"), b"").unwrap();
    let error = Store::open(directory.path(), false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("not of an object store"), "{error}");
}
