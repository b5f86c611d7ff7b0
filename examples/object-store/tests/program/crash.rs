//! The program is killed under load, again and again. What it acknowledged is there, and nothing is torn.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use object_store::s3::client::Client;
use object_store::s3::{CompletedMultipartUpload, CompletedPart, GetObjectError};

use super::body::{Numbers, bytes, sum_of};
use super::process::Program;

const CLIENTS: u64 = 5;
/// The keys of each client.
const KEYS: u64 = 12;
/// The time for all rounds.
const TIME: Duration = Duration::from_secs(10);

/// What a key holds: a body that follows from a number, or nothing.
type Content = Option<Body>;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Body {
    seed: u64,
    len: u64,
    /// Uploaded in two parts.
    is_multipart: bool,
}

/// What a key may hold.
#[derive(Clone, Debug, Default)]
struct Expected {
    acknowledged: Content,
    /// The content after a request that was not answered.
    pending: Option<Content>,
}

type Ledger = Arc<Mutex<BTreeMap<String, Expected>>>;

impl Body {
    fn random(numbers: &mut Numbers) -> Self {
        let len = match numbers.below(4) {
            0 => numbers.below(4096),
            1 => 4096 + numbers.below(100),
            2 => numbers.below(100_000),
            _ => numbers.below(1_500_000),
        };
        Self {
            seed: numbers.next(),
            len,
            is_multipart: numbers.below(5) == 0 && len > 1,
        }
    }

    fn bytes(self) -> Vec<u8> {
        bytes(self.seed, self.len)
    }

    async fn put(self, client: &Client, key: &str) -> Result<(), String> {
        if self.is_multipart {
            return self.put_in_parts(client, key).await;
        }
        let call = client
            .put_object()
            .bucket("bkt")
            .key(key)
            .body(self.bytes());
        let call = call.metadata([("seed".into(), self.seed.to_string().into())].into());
        call.send()
            .await
            .map(drop)
            .map_err(|error| error.to_string())
    }

    async fn put_in_parts(self, client: &Client, key: &str) -> Result<(), String> {
        let call = client.create_multipart_upload().bucket("bkt").key(key);
        let call = call.metadata([("seed".into(), self.seed.to_string().into())].into());
        let upload = call.send().await.map_err(|error| error.to_string())?;
        let id = upload.upload_id.unwrap();
        let body = self.bytes();
        let (first, second) = body.split_at(body.len() / 2);
        let mut parts = Vec::new();
        for (number, piece) in [(1, first), (2, second)] {
            let call = client
                .upload_part()
                .bucket("bkt")
                .key(key)
                .upload_id(id.clone());
            let part = call.part_number(number).body(piece).send().await;
            let tag = part.map_err(|error| error.to_string())?.etag.unwrap();
            parts.push(
                CompletedPart::builder()
                    .part_number(number)
                    .etag(tag)
                    .build(),
            );
        }
        let upload = CompletedMultipartUpload::builder().parts(parts).build();
        let call = client.complete_multipart_upload().bucket("bkt").key(key);
        let call = call.upload_id(id).multipart_upload(upload);
        call.send()
            .await
            .map(drop)
            .map_err(|error| error.to_string())
    }
}

/// Changes the keys of one client until a call fails. No other client changes them.
async fn load(client: Client, own: u64, mut numbers: Numbers, ledger: Ledger) {
    loop {
        let key = format!("client {own}/key {}", numbers.below(KEYS));
        let content = (numbers.below(6) > 0).then(|| Body::random(&mut numbers));
        ledger
            .lock()
            .unwrap()
            .entry(key.clone())
            .or_default()
            .pending = Some(content);
        let result = match content {
            Some(body) => body.put(&client, &key).await,
            None => {
                let call = client.delete_object().bucket("bkt").key(key.as_str());
                call.send()
                    .await
                    .map(drop)
                    .map_err(|error| error.to_string())
            }
        };
        if result.is_err() {
            return;
        }
        let mut ledger = ledger.lock().unwrap();
        let expected = ledger.entry(key).or_default();
        expected.acknowledged = content;
        expected.pending = None;
    }
}

/// Checks all keys, and forgets which requests were not answered.
async fn check(client: &Client, ledger: &Ledger) -> usize {
    let mut expected = ledger.lock().unwrap().clone();
    let mut found = 0;
    for (key, expected) in &mut expected {
        let got = client
            .get_object()
            .bucket("bkt")
            .key(key.as_str())
            .send()
            .await;
        let content = match got {
            Err(GetObjectError::NoSuchKey(_)) => None,
            Err(error) => panic!("{key}: {error}"),
            Ok(output) => {
                found += 1;
                let seed: u64 = output.metadata.as_ref().unwrap()["seed"].parse().unwrap();
                let etag = output.etag.clone().unwrap().trim_matches('"').to_owned();
                let (len, sum) = sum_of(output).await;
                let is_multipart = etag.ends_with("-2");
                assert!(is_multipart || etag == sum, "{key}: the object is torn");
                let body = Body {
                    seed,
                    len,
                    is_multipart,
                };
                let whole = body.bytes();
                let again = <md5::Md5 as md5::Digest>::digest(&whole);
                let again: String = again.iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(sum, again, "{key}: the object is torn");
                Some(body)
            }
        };
        let is_pending = expected.pending == Some(content);
        assert!(
            content == expected.acknowledged || is_pending,
            "{key}: found {content:?}, expected {expected:?}"
        );
        expected.acknowledged = content;
        expected.pending = None;
    }
    *ledger.lock().unwrap() = expected;
    found
}

/// Checks that the list has the same objects, and that there are no other data files.
async fn check_list(client: &Client, data: &Path, found: usize) {
    let uploads = client
        .list_multipart_uploads()
        .bucket("bkt")
        .send()
        .await
        .unwrap();
    for upload in uploads.uploads.unwrap_or_default() {
        let call = client.abort_multipart_upload().bucket("bkt");
        let call = call
            .key(upload.key.unwrap())
            .upload_id(upload.upload_id.unwrap());
        call.send().await.unwrap();
    }
    let listed = client.list_objects_v2().bucket("bkt").send().await.unwrap();
    let listed = listed.contents.unwrap_or_default();
    assert_eq!(listed.len(), found);
    let files_of = |object: &object_store::s3::Object| {
        let is_multipart = object.etag.as_ref().unwrap().ends_with("-2\"");
        match (is_multipart, object.size.unwrap()) {
            (true, _) => 2,
            (false, ..=4096) => 0,
            (false, _) => 1,
        }
    };
    let expected: usize = listed.iter().map(files_of).sum();
    let start = Instant::now();
    while count(data) != expected {
        // Another thread removes files.
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{} files, expected {expected}",
            count(data)
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn count(data: &Path) -> usize {
    let shards = std::fs::read_dir(data.join("data")).unwrap();
    let complete = shards.map(|shard| std::fs::read_dir(shard.unwrap().path()).unwrap().count());
    let incoming = std::fs::read_dir(data.join("incoming")).unwrap().count();
    complete.sum::<usize>() + incoming
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_store_loses_nothing() {
    let seed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64;
    eprintln!("seed: {seed}");
    let mut numbers = Numbers::new(seed);
    let data = tempfile::tempdir().unwrap();
    let ledger = Ledger::default();
    let (start, mut rounds, mut most) = (Instant::now(), 0, 0);
    while start.elapsed() < TIME {
        let arguments: &[&str] = match rounds % 4 {
            3 => &["--part", "0", "--fsync"],
            _ => &["--part", "0"],
        };
        let mut program = Program::start(data.path(), arguments);
        let client = program.client();
        if rounds == 0 {
            client.create_bucket().bucket("bkt").send().await.unwrap();
        }
        let found = check(&client, &ledger).await;
        check_list(&client, data.path(), found).await;
        most = most.max(found);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|own| {
                let numbers = Numbers::new(numbers.next());
                tokio::spawn(load(program.client(), own, numbers, Arc::clone(&ledger)))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(50 + numbers.below(900))).await;
        program.kill();
        for client in clients {
            client.await.unwrap();
        }
        rounds += 1;
    }
    let program = Program::start(data.path(), &[]);
    let found = check(&program.client(), &ledger).await;
    check_list(&program.client(), data.path(), found).await;
    eprintln!("{rounds} kills, up to {most} objects");
    assert!(rounds > 3 && most > 5, "{rounds} kills, {most} objects");
}
