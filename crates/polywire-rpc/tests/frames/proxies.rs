//! Frames through proxies.

use polywire_rpc::connect::Proxy;
use polywire_rpc::frames::Client;
use polywire_rpc::{Methods, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// Accepts one `CONNECT`, forwards the connection to `server`, and returns the request line.
async fn accept_tunnel(listener: TcpListener, server: std::net::SocketAddr) -> String {
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let mut server = TcpStream::connect(server).await.unwrap();
    tokio::spawn(async move { copy_bidirectional(&mut stream, &mut server).await });
    head.swap_remove(0)
}

#[tokio::test]
async fn a_client_calls_through_a_tunnel() {
    let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let tunnel = tokio::spawn(accept_tunnel(listener, running.address()));
    // Only the proxy can resolve the host.
    let client = Client::builder()
        .endpoint("tcp://server.invalid:7321")
        .proxy(Proxy::new(&proxy).unwrap());
    let client = client.connect().await.unwrap();
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    let line = tunnel.await.unwrap();
    assert_eq!(line, "CONNECT server.invalid:7321 HTTP/1.1");
}

#[tokio::test]
async fn a_udp_endpoint_with_a_proxy_is_a_build_error() {
    let proxy = Proxy::new("http://127.0.0.1:1").unwrap();
    let builder = || Client::builder().endpoint("udp://127.0.0.1:9");
    let error = builder().proxy(proxy.clone()).build().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("does not forward UDP"), "{text}");
    let client = builder().proxy(proxy.except("127.0.0.0/8")).build();
    client.unwrap();
}
