//! Optional compression of inputs, replies and items.

use polywire_protocol::Fault;
use polywire_rpc::frames::Client;
use polywire_rpc::server::{FrameLimits, FrameStats};
use polywire_rpc::{Server, StreamCall};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::methods;

const WORDS: &str = "never twice the same, always the same. ";
const TIMES: usize = 3_000;

/// Sends a long text as an input and as an item, and receives it as a reply and as an item. Returns the statistics of
/// the server. `server` and `client` are their compression thresholds in bytes.
async fn exchange(server: Option<usize>, client: Option<usize>) -> FrameStats {
    let methods = methods().stream("Items", |(): (), mut call: StreamCall| async move {
        while let Some(item) = call.next::<String>().await? {
            call.send(item).await?;
        }
        Ok::<_, Fault>(())
    });
    let mut limits = FrameLimits::new();
    if let Some(least) = server {
        limits = limits.compress(least);
    }
    let server = Server::methods(methods)
        .frames(true)
        .frame_limits(limits)
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut builder = Client::builder().endpoint(&format!("tcp://{}", running.address()));
    if let Some(least) = client {
        builder = builder.compress(least);
    }
    let client = builder.connect().await.unwrap();
    let text = WORDS.repeat(TIMES);
    let length: usize = client.call("Length", (&text,)).await.unwrap();
    assert_eq!(length, text.len());
    let answer: String = client.call("Repeat", (WORDS, TIMES)).await.unwrap();
    assert_eq!(answer, text);
    let mut items = client.two_way("Items", ()).await.unwrap();
    items.send(&text).await.unwrap();
    items.finish();
    let item: Option<String> = items.next().await.unwrap();
    assert_eq!(item.as_ref(), Some(&text));
    drop((items, client));
    running.shutdown().await;
    server.frame_stats()
}

#[tokio::test]
async fn compression_enabled_on_both_sides_applies_in_both_directions() {
    let stats = exchange(Some(1_000), Some(1_000)).await;
    assert!(stats.bytes_in < 5_000, "{} bytes came", stats.bytes_in);
    assert!(stats.bytes_out < 5_000, "{} bytes went", stats.bytes_out);
}

#[tokio::test]
async fn compression_enabled_on_one_side_is_not_used() {
    let whole = 2 * (WORDS.len() * TIMES) as u64;
    for (server, client) in [(None, None), (Some(1_000), None), (None, Some(1_000))] {
        let stats = exchange(server, client).await;
        assert!(stats.bytes_in > whole, "{} bytes came", stats.bytes_in);
        assert!(stats.bytes_out > whole, "{} bytes went", stats.bytes_out);
    }
}

/// A call of `Length` with the compressed payload `packed`, which declares `length` as its decompressed size.
fn call(length: u32, packed: &[u8]) -> Vec<u8> {
    let body = [b"\x09\0\x01\x06\0Length", &length.to_le_bytes()[..], packed].concat();
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    // CALL in slot 0, with flags for an extension (the method name) and for compression.
    frame.extend([2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    frame.extend(body);
    frame
}

#[tokio::test]
async fn invalid_compressed_payloads_close_one_connection() {
    let server = Server::methods(methods())
        .frames(true)
        .frame_limits(FrameLimits::new().compress(1_000))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = Client::connect(&format!("tcp://{}", running.address()))
        .await
        .unwrap();
    // Decompresses to 20 bytes `a`. The limit for a call, including the name, is 16 MiB.
    let packed = [0x4b, 0x4c, 0xc4, 0x04, 0x00];
    for (length, reason) in [(19, 0x10), (21, 0x10), (16 << 20, 0x12), (u32::MAX, 0x12)] {
        let mut stream = TcpStream::connect(running.address()).await.unwrap();
        let hello = b"\xf7PW\x01\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0";
        stream.write_all(hello).await.unwrap();
        stream.write_all(&call(length, &packed)).await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        let goaway = [0x10, 0, reason, 0, 0, 0, 0, 0];
        assert!(received.windows(8).any(|eight| eight == goaway), "{length}");
        assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    }
    running.shutdown().await;
}
