//! Large payloads, which are not copied between buffers.

use polywire_protocol::Fault;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::{Client, ClientBuilder};
use polywire_rpc::server::FrameLimits;
use polywire_rpc::{Methods, RunningServer, Server, ServerBuilder};
use polywire_schema::{Blob, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const MIB: usize = 1 << 20;

fn server() -> ServerBuilder {
    let methods = Methods::new()
        .method("Echo", |(blob,): (Blob,)| async move { blob })
        .method(
            "IsShared",
            |(blob,): (Blob,)| async move { blob.is_shared() },
        )
        .method("Add", |(a, b): (i32, i32)| async move { a + b })
        .bytes("Sum", |input, output, _| {
            output.extend_from_slice(&sum(input).to_le_bytes());
            Ok::<_, Fault>(())
        })
        .bytes("EchoBytes", |input, output, _| {
            output.extend_from_slice(input);
            Ok::<_, Fault>(())
        });
    Server::methods(methods).frames(true)
}

/// A checksum that depends on the order of the bytes.
fn sum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| sum.wrapping_mul(31).wrapping_add(1 + u64::from(*byte));
    bytes.iter().fold(0, add)
}

async fn listen(server: ServerBuilder) -> RunningServer {
    let server = server.build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

async fn connect(running: &RunningServer, builder: ClientBuilder) -> Client {
    let url = format!("tcp://{}", running.address());
    builder.endpoint(&url).connect().await.unwrap()
}

/// Bytes without repeated sections, which compress a little.
fn bytes(len: usize, seed: u32) -> Vec<u8> {
    let words = (0..len as u32).map(|at| at.wrapping_mul(2_654_435_761).rotate_left(seed));
    words.flat_map(u32::to_le_bytes).take(len).collect()
}

/// A call whose input cannot be decoded fails and is marked as unstarted. This includes large inputs, which are decoded
/// outside the task of the connection.
#[tokio::test]
async fn large_inputs_that_cannot_be_decoded_are_not_started() {
    let running = listen(server()).await;
    let client = connect(&running, Client::builder()).await;
    for len in [100, MIB] {
        let blob = Blob::from(bytes(len, 0));
        let error = client.call::<i32>("Add", (&blob, 1)).await.unwrap_err();
        assert_eq!(error.kind(), CallErrorKind::Fault, "{error}");
        assert!(error.is_unstarted(), "{len}: {error}");
    }
}

#[tokio::test]
async fn blobs_share_the_received_buffer() {
    let running = listen(server()).await;
    let blob = Blob::from(bytes(MIB, 0));
    let client = connect(&running, Client::builder()).await;
    assert!(client.call::<bool>("IsShared", (&blob,)).await.unwrap());
    let answer: Blob = client.call("Echo", (&blob,)).await.unwrap();
    assert!(answer.is_shared());
    assert_eq!(answer, blob);
    let small = Blob::from(bytes(1_000, 0));
    assert!(!client.call::<bool>("IsShared", (&small,)).await.unwrap());
}

/// Payloads of sizes around each threshold for large payloads arrive unchanged: concurrently, compressed, and one call
/// at a time.
#[tokio::test]
async fn large_payloads_arrive_unchanged() {
    let limits = FrameLimits::new().compress(1_000);
    let running = listen(server().frame_limits(limits)).await;
    let plain = || Client::builder().in_flight(100..=100);
    for builder in [
        plain(),
        plain().compress(1_000),
        // One call at a time.
        plain().in_flight(1..=1),
    ] {
        let client = connect(&running, builder).await;
        let mut calls = JoinSet::new();
        let lens = [
            32_700,
            32_760,
            32_768,
            40_000,
            65_500,
            65_536,
            70_000,
            300_000,
            3 * MIB,
        ];
        for (seed, len) in (0..).zip(lens) {
            let client = client.clone();
            calls.spawn(async move {
                let sent = bytes(len, seed);
                assert_eq!(
                    client.call::<i32>("Add", (seed, len as i32)).await.unwrap(),
                    seed as i32 + len as i32
                );
                assert!(
                    client.call_bytes("EchoBytes", &sent).await.unwrap() == sent,
                    "{len}"
                );
                let blob = Blob::from(sent);
                let answer: Blob = client.call("Echo", (&blob,)).await.unwrap();
                assert!(answer == blob, "{len} in a blob");
            });
        }
        calls.join_all().await;
    }
}

#[tokio::test]
async fn a_payload_above_the_limit_fails_one_call() {
    let running = listen(server().limits(Limits::DEFAULT.with_bytes(MIB))).await;
    let client = connect(&running, Client::builder().in_flight(2..=2)).await;
    let large = bytes(2 * MIB, 1);
    let mut calls = JoinSet::new();
    for _ in 0..10 {
        let (client, large) = (client.clone(), large.clone());
        calls.spawn(async move {
            let error = client.call_bytes("EchoBytes", &large).await.unwrap_err();
            assert!(error.kind() == CallErrorKind::Encode, "{error}");
            let half = &large[..MIB / 2];
            assert!(client.call_bytes("EchoBytes", half).await.unwrap() == half);
        });
    }
    calls.join_all().await;
}

/// Frames after a large frame are read correctly, however TCP splits the stream.
#[tokio::test]
async fn frames_after_large_frames_are_read_correctly() {
    let running = listen(server()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    let mut output = b"\xf7PW\x01\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    let lens = [10, 200_000, 20, 0, 40_000, 40_000, 66_000, 5, 1_000_000, 3];
    for (slot, len) in (0_u32..).zip(lens) {
        let name = b"\x06\0\x01\x03\0Sum";
        output.extend(((name.len() + len) as u32).to_le_bytes());
        output.extend([2, 1, 0, 0]);
        output.extend(slot.to_le_bytes());
        output.extend(0_u32.to_le_bytes());
        output.extend(name);
        output.extend(bytes(len, slot));
    }
    let (mut reader, mut writer) = stream.split();
    let writing = async {
        // No piece but the last ends at the end of a frame.
        for piece in output.chunks(33_333) {
            writer.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let reading = async {
        let mut preface = [0; 4];
        reader.read_exact(&mut preface).await.unwrap();
        let mut seen = 0;
        while seen < lens.len() {
            let mut head = [0; 16];
            reader.read_exact(&mut head).await.unwrap();
            let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
            let mut body = vec![0; len];
            reader.read_exact(&mut body).await.unwrap();
            let (kind, slot) = (head[4], u32::from(head[8]));
            // Only replies are checked. HELLO and CREDIT frames are ignored.
            if kind == 4 {
                let expected = sum(&bytes(lens[slot as usize], slot)).to_le_bytes();
                assert_eq!(body, expected, "slot {slot}");
                seen += 1;
            }
            assert_ne!(kind, 5, "slot {slot}: {}", String::from_utf8_lossy(&body));
        }
    };
    tokio::join!(writing, reading);
}

/// Large parameters are decoded on another thread, but the handler function is called on the task of the connection.
#[tokio::test]
async fn handlers_with_large_parameters_are_called_on_the_connection_thread() {
    use polywire_rpc::StreamCall;

    let own = std::thread::current().id();
    let here = move || std::thread::current().id() == own;
    let methods = Methods::new()
        .method("Typed", move |_: (String,)| std::future::ready(here()))
        .values("Value", move |_, _| std::future::ready(Ok(here().into())))
        .stream("Stream", move |_: (String,), _: StreamCall| {
            std::future::ready(Ok::<_, Fault>(here()))
        });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let running = server.listen(address).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    let text = "x".repeat(100_000);
    assert!(client.call::<bool>("Typed", (&*text,)).await.unwrap());
    assert!(client.call::<bool>("Value", (&*text,)).await.unwrap());
    let stream = client.stream("Stream", (&*text,)).await.unwrap();
    assert!(stream.result::<bool>().await.unwrap());
}
