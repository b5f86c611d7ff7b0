//! Large objects are uploaded and downloaded with little memory.
//!
//! `OBJECT_STORE_TEST_MIB` is the size of the object, by default 512. Then ten objects of a tenth of that size are
//! transferred at the same time.

use std::fs;

use super::body::{Blocks, sum_of};
use super::process::Program;

const MIB: u64 = 1 << 20;

/// The largest resident size of the program so far, in bytes.
fn peak(program: &Program) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kibibytes = line.split_whitespace().nth(1).unwrap();
    kibibytes.parse::<u64>().unwrap() * 1024
}

/// Uploads an object and downloads it.
async fn transfer(program: &Program, key: &str, size: u64) {
    let client = program.client();
    let body = Blocks::stream(7, size);
    let put = client
        .put_object()
        .bucket("bkt")
        .key(key)
        .body(body)
        .send()
        .await
        .unwrap();
    let etag = put.etag.unwrap();
    let got = client
        .get_object()
        .bucket("bkt")
        .key(key)
        .send()
        .await
        .unwrap();
    let (len, sum) = sum_of(got).await;
    assert_eq!((len, format!("\"{sum}\"")), (size, etag.to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_objects_take_little_memory() {
    let size = std::env::var("OBJECT_STORE_TEST_MIB").map(|size| size.parse().unwrap());
    let size = size.unwrap_or(512) * MIB;
    let data = tempfile::tempdir().unwrap();
    let program = Program::start(data.path(), &[]);
    program
        .client()
        .create_bucket()
        .bucket("bkt")
        .send()
        .await
        .unwrap();
    transfer(&program, "small", 10_000).await;
    let before = peak(&program);
    transfer(&program, "large", size).await;
    let one = peak(&program) - before;
    let delete = program.client().delete_object().bucket("bkt").key("large");
    delete.send().await.unwrap();
    let all = (0..10).map(|number| {
        let program = &program;
        async move { transfer(program, &format!("large {number}"), size / 10).await }
    });
    join_all(all).await;
    let ten = peak(&program) - before;
    eprintln!(
        "{} KiB at first; {} KiB more for one object of {} MiB; {} KiB more for ten of {} MiB",
        before / 1024,
        one / 1024,
        size / MIB,
        ten / 1024,
        size / MIB / 10
    );
    assert!(one <= 16 * MIB, "{one} bytes for one object");
    assert!(ten <= 64 * MIB, "{ten} bytes for ten objects");
}

/// Polls all futures until all are ready.
async fn join_all<F: Future<Output = ()>>(futures: impl Iterator<Item = F>) {
    let mut futures: Vec<_> = futures.map(|future| Some(Box::pin(future))).collect();
    std::future::poll_fn(|context| {
        for slot in &mut futures {
            if let Some(future) = slot
                && future.as_mut().poll(context).is_ready()
            {
                *slot = None;
            }
        }
        match futures.iter().all(Option::is_none) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
}
