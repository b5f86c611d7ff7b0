//! Python's `websockets`.

use std::process::Command;

use polywire::rpc::websocket::{CloseCode, CloseFrame, Message, WebSocket, WebSocketEndpoint};
use polywire::rpc::{Methods, Server};
use polywire_interop::{Background, Case};

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().build().unwrap()
}

/// Echoes messages. The message `close` closes the connection.
async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if message.as_text() == Some("close") {
            socket.close(CloseFrame::new(CloseCode(4000), "as you like"));
        } else if socket.send(message).await.is_err() {
            break;
        }
    }
}

#[test]
fn websocket_of_a_python_client() {
    let case = Case::begin("websocket_of_a_python_client");
    let Some(python) = case.python(&["websockets.sync.client"]) else {
        return;
    };
    let runtime = runtime();
    let running = runtime.block_on(async {
        let endpoint = WebSocketEndpoint::new(echo).protocols(["echo.1"]);
        let server = Server::methods(Methods::new())
            .websocket("/echo", endpoint)
            .build();
        let address = "127.0.0.1:0".parse().unwrap();
        server.unwrap().listen(address).await.unwrap()
    });
    let url = format!("ws://{}/echo", running.address());
    let script = r#"
from websockets.sync.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

with connect(url, subprotocols=["other", "echo.1"]) as socket:
    assert socket.subprotocol == "echo.1", socket.subprotocol
    # It offers permessage-deflate, which is not agreed on.
    assert not socket.protocol.extensions, socket.protocol.extensions
    for message in ["", "häßlich 🌧", b"", bytes(range(256)), "x" * 70_000, b"y" * 1_000_000]:
        socket.send(message)
        assert socket.recv() == message
    # In fragments, with a ping between them.
    def parts():
        for part in ["one ", "two ", "three"]:
            yield part
            assert socket.ping().wait(10)
    socket.send(parts())
    assert socket.recv() == "one two three"
    for number in range(1000):
        socket.send(str(number))
    assert [socket.recv() for _ in range(1000)] == [str(number) for number in range(1000)]
    socket.send("close")
    try:
        socket.recv()
        raise AssertionError("not closed")
    except ConnectionClosed as closed:
        assert (closed.rcvd.code, closed.rcvd.reason) == (4000, "as you like"), closed

# What is too large is told so.
with connect(url) as socket:
    try:
        socket.send(b"z" * 2_000_000)
        socket.recv()
        raise AssertionError("not closed")
    except ConnectionClosed as closed:
        assert closed.rcvd and closed.rcvd.code == 1009, closed

try:
    connect(url + "/nowhere")
    raise AssertionError("connected")
except InvalidStatus as refused:
    assert refused.response.status_code == 404, refused
print("done")
"#;
    assert_eq!(python.print(&url, script), "done\n");
    runtime.block_on(running.shutdown());
}

#[test]
fn websocket_of_a_python_server() {
    let case = Case::begin("websocket_of_a_python_server");
    let Some(python) = case.python(&["websockets.sync.server"]) else {
        return;
    };
    let script = r#"
import sys
from websockets.sync.server import serve

def echo(socket):
    assert socket.ping().wait(10)
    for message in socket:
        if message == "close":
            return socket.close(4000, "as you like")
        elif message == "parts":
            socket.send(part for part in ["one ", "two"])
        else:
            socket.send(message)

with serve(echo, "127.0.0.1", 0, subprotocols=["echo.1"]) as server:
    print(server.socket.getsockname()[1], flush=True)
    server.serve_forever()
"#;
    let server = Background::start(Command::new(python.program()).args(["-c", script]));
    let url = format!("ws://127.0.0.1:{}/", server.first_line);
    runtime().block_on(async {
        let connecting = WebSocket::builder(&url).protocol("echo.1").connect();
        let mut socket = connecting.await.unwrap();
        assert_eq!(socket.protocol(), Some("echo.1"));
        for message in [
            Message::text(""),
            Message::text("häßlich 🌧"),
            Message::binary(vec![0, 1, 255]),
            Message::binary(vec![7; 900_000]),
        ] {
            socket.send(message.clone()).await.unwrap();
            assert_eq!(socket.recv().await, Some(Ok(message)));
        }
        socket.send("parts").await.unwrap();
        assert_eq!(socket.recv().await, Some(Ok(Message::from("one two"))));
        for number in 0..1_000 {
            socket.send(number.to_string()).await.unwrap();
        }
        for number in 0..1_000 {
            let message = socket.recv().await.unwrap().unwrap();
            assert_eq!(message.as_text(), Some(&*number.to_string()));
        }
        socket.send("close").await.unwrap();
        assert_eq!(socket.recv().await, None);
        let frame = CloseFrame::new(CloseCode(4000), "as you like");
        assert_eq!(socket.close_frame(), Some(frame));

        // The client closes the connection.
        let connecting = WebSocket::builder(&url).protocol("echo.1").connect();
        let socket = connecting.await.unwrap();
        let sender = socket.sender();
        socket.close(CloseFrame::new(CloseCode::NORMAL_CLOSURE, "bye"));
        assert_eq!(
            sender.closed().await,
            CloseFrame::new(CloseCode::NORMAL_CLOSURE, "bye")
        );
    });
}
