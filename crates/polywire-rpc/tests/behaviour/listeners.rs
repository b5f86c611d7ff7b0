//! Custom types of listeners and streams.

use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use polywire_protocol::scgi;
use polywire_rpc::server::{Credentials, Listener, Peer};
use polywire_rpc::{Methods, Server, dynamic};
use polywire_schema::Map;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::sync::mpsc;

use crate::support::{Socket, builder, request, within};

/// A stream that is not `Sync` and transfers at most 3 bytes at once.
struct ThreeByteStream(DuplexStream, PhantomData<Cell<()>>);

impl AsyncRead for ThreeByteStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut three = buffer.take(3);
        let poll = Pin::new(&mut self.0).poll_read(context, &mut three);
        let count = three.filled().len();
        // `three` borrows the unfilled part of `buffer`. `put_slice` marks the bytes as filled in
        // `buffer`.
        let bytes = three.filled().to_vec();
        buffer.put_slice(&bytes[..count]);
        poll
    }
}

impl AsyncWrite for ThreeByteStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = bytes.len().min(3);
        Pin::new(&mut self.0).poll_write(context, &bytes[..count])
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// A listener that returns the connections and errors that are sent to it.
struct Queue(mpsc::UnboundedReceiver<io::Result<(DuplexStream, Peer)>>);

fn queue() -> (
    Queue,
    mpsc::UnboundedSender<io::Result<(DuplexStream, Peer)>>,
) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Queue(receiver), sender)
}

impl Listener for Queue {
    type Io = ThreeByteStream;
    type Addr = u32;

    async fn accept(&mut self) -> io::Result<(ThreeByteStream, Peer)> {
        match self.0.recv().await {
            Some(accepted) => {
                accepted.map(|(stream, peer)| (ThreeByteStream(stream, PhantomData), peer))
            }
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<u32> {
        Ok(7)
    }

    fn try_accept(&mut self) -> Option<(ThreeByteStream, Peer)> {
        let (stream, peer) = self.0.try_recv().ok()?.ok()?;
        Some((ThreeByteStream(stream, PhantomData), peer))
    }
}

#[tokio::test]
async fn peers_of_other_streams() {
    let (send, mut seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |_: Map, context: polywire_rpc::Context| {
        let caller = context.caller();
        let encrypted = caller.is_encrypted();
        let facts = (
            caller.address(),
            caller.credentials(),
            caller.is_local(),
            encrypted,
        );
        send.send(facts).unwrap();
        async { Ok(Map::new()) }
    });
    let server = builder().operation("Deep", handler).build().unwrap();
    let (listener, connect) = queue();
    let running = server.serve(listener).unwrap();
    assert_eq!(*running.bound_address(), 7);

    let address = SocketAddr::from(([192, 0, 2, 1], 5_000));
    let credentials = Credentials {
        uid: 1,
        gid: 2,
        pid: Some(3),
    };
    for (peer, facts) in [
        (Peer::default(), (None, None, false, false)),
        (Peer::from(address), (Some(address), None, false, false)),
        (
            Peer::unix(Some(credentials)),
            (None, Some(credentials), true, false),
        ),
        (
            Peer::unix(None).with_address(address).with_encryption(true),
            (Some(address), None, true, true),
        ),
    ] {
        // An error of `accept` does not stop the server.
        connect
            .send(Err(io::Error::other("no connection")))
            .unwrap();
        let (client, stream) = tokio::io::duplex(1_000);
        connect.send(Ok((stream, peer))).unwrap();
        let mut socket = Socket::over(client);
        for _ in 0..2 {
            socket.write(request("POST /deep", &[], "{}")).await;
            assert_eq!(socket.reply().await.status, 200);
            assert_eq!(within(seen.recv()).await, Some(facts));
        }
    }
    // A connection that is in the queue when the server stops is served.
    let (client, stream) = tokio::io::duplex(1_000);
    let mut socket = Socket::over(client);
    socket.write(request("GET /status/201", &[], "")).await;
    connect.send(Ok((stream, Peer::default()))).unwrap();
    let (reply, ()) = tokio::join!(socket.reply(), running.shutdown());
    assert_eq!(reply.status, 201);
}

#[tokio::test]
async fn scgi_over_other_streams() {
    let server = builder().build().unwrap();
    let (listener, connect) = queue();
    let _running = server.serve_scgi(listener).unwrap();
    let (mut client, stream) = tokio::io::duplex(1_000);
    connect.send(Ok((stream, Peer::default()))).unwrap();
    let (head, ()) = http::Request::get("/status/201")
        .body(())
        .unwrap()
        .into_parts();
    let mut bytes = Vec::new();
    scgi::write_request(&head, 0, &mut bytes).unwrap();
    client.write_all(&bytes).await.unwrap();
    let mut reply = String::new();
    within(client.read_to_string(&mut reply)).await.unwrap();
    assert!(reply.starts_with("Status: 201 Created\r\n"), "{reply}");
}

/// Frames work on any stream: the server replies to the preface with its own preface.
#[tokio::test]
async fn frames_over_other_streams() {
    let server = Server::methods(Methods::new())
        .frames(true)
        .build()
        .unwrap();
    let (listener, connect) = queue();
    let _running = server.serve(listener).unwrap();
    let (mut client, stream) = tokio::io::duplex(1_000);
    connect.send(Ok((stream, Peer::default()))).unwrap();
    client.write_all(&polywire_frame::PREFACE).await.unwrap();
    let mut first = [0; 4];
    within(client.read_exact(&mut first)).await.unwrap();
    assert_eq!(first[..], polywire_frame::PREFACE[..4]);
}
