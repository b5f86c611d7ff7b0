//! Calls through HTTP and SOCKS proxies.

use polywire_rpc::connect::{Proxy, Step};
use polywire_rpc::xmlrpc::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Action, ScriptedServer, http, ok};

#[tokio::test]
async fn a_proxy_gets_the_whole_url() {
    let proxy = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let url = format!("http://me:pw@{}", proxy.address);
    let client = Client::builder("http://server.invalid:81/RPC2").unwrap();
    let client = client.proxy(Proxy::new(&url).unwrap()).build().unwrap();
    client.call_values("m", &[]).await.unwrap();
    client.call_values("m", &[]).await.unwrap();
    for seen in proxy.seen() {
        assert_eq!(seen.line(), "POST http://server.invalid:81/RPC2 HTTP/1.1");
        assert_eq!(seen.header("host"), Some("server.invalid:81"));
        assert_eq!(seen.header("proxy-authorization"), Some("Basic bWU6cHc="));
        assert_eq!(seen.connection, 0);
    }
}

#[tokio::test]
async fn a_proxy_is_bypassed_for_excepted_hosts() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let proxy = Proxy::new("http://127.0.0.1:1").unwrap();
    let builder = || Client::builder(&server.url()).unwrap();
    let client = builder().proxy(proxy.clone()).build().unwrap();
    let text = client.call_values("m", &[]).await.unwrap_err().to_string();
    assert!(text.contains("connecting to 127.0.0.1:1"), "{text}");
    let proxy = proxy.except("example.com, 127.0.0.0/8");
    let client = builder().proxy(proxy).build().unwrap();
    client.call_values("m", &[]).await.unwrap();
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn status_407_of_a_proxy_is_a_proxy_error() {
    let proxy = ScriptedServer::start(|_, _| {
        Action::AnswerAndClose(http("407 Proxy Authentication Required", "", ""))
    })
    .await;
    let client = Client::builder("https://server.invalid/RPC2").unwrap();
    let way = Proxy::new(&format!("http://{}", proxy.address)).unwrap();
    let client = client.proxy(way).build().unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    let error = error.transport().unwrap();
    assert_eq!(error.step(), Step::Proxy);
    assert!(
        error.to_string().contains("authorization required"),
        "{error}"
    );
    assert_eq!(
        proxy.seen()[0].line(),
        "CONNECT server.invalid:443 HTTP/1.1"
    );
}

/// A SOCKS 5 proxy with user and password, for one connection. Returns the requested host.
async fn socks(listener: TcpListener, server: std::net::SocketAddr) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut greeting = [0; 3];
    stream.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, [5, 1, 2]);
    stream.write_all(&[5, 2]).await.unwrap();
    let mut login = [0; 7];
    stream.read_exact(&mut login).await.unwrap();
    assert_eq!(&login, b"\x01\x02me\x02pw");
    stream.write_all(&[1, 0]).await.unwrap();
    let mut head = [0; 5];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[..4], [5, 1, 0, 3]);
    let mut rest = vec![0; usize::from(head[4]) + 2];
    stream.read_exact(&mut rest).await.unwrap();
    rest.truncate(rest.len() - 2);
    stream
        .write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
        .unwrap();
    let mut server = TcpStream::connect(server).await.unwrap();
    tokio::spawn(async move { copy_bidirectional(&mut stream, &mut server).await });
    String::from_utf8(rest).unwrap()
}

#[tokio::test]
async fn a_socks5h_proxy_resolves_the_host() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("socks5h://me:pw@{}", listener.local_addr().unwrap());
    let proxy = tokio::spawn(socks(listener, server.address));
    let client = Client::builder("http://server.invalid/RPC2").unwrap();
    let client = client.proxy(Proxy::new(&url).unwrap()).build().unwrap();
    client.call_values("m", &[]).await.unwrap();
    assert_eq!(proxy.await.unwrap(), "server.invalid");
    let seen = &server.seen()[0];
    assert_eq!(seen.line(), "POST /RPC2 HTTP/1.1");
    assert_eq!(seen.header("proxy-authorization"), None);
}

#[tokio::test]
async fn a_silent_proxy_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("socks5h://{}", listener.local_addr().unwrap());
    let client = Client::builder("http://server.invalid/RPC2").unwrap();
    let client = client.proxy(Proxy::new(&url).unwrap());
    let client = client.connect_timeout(std::time::Duration::from_millis(50));
    let error = client
        .build()
        .unwrap()
        .call_values("m", &[])
        .await
        .unwrap_err();
    assert!(error.is_timeout() && error.is_unstarted());
    let error = error.transport().unwrap();
    assert_eq!(error.step(), Step::Proxy);
    assert!(!error.is_deadline());
}
