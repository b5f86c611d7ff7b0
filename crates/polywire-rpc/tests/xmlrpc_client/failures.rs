//! Failed calls: they end, and their errors name the cause.

use std::time::Duration;

use polywire_rpc::CallError;
use polywire_rpc::connect::Step;
use polywire_rpc::xmlrpc::Client;
use polywire_schema::Limits;
use tokio::net::TcpListener;

use crate::support::{Action, ScriptedServer, http, ok, result};

fn transport(error: &CallError) -> &polywire_rpc::connect::TransportError {
    error.transport().unwrap()
}

#[tokio::test]
async fn connection_refused_is_a_connect_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = Client::new(&format!("http://me:hunter2@{address}/RPC2?key=hunter2")).unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    assert_eq!(transport(&error).step(), Step::Connect);
    assert!(transport(&error).is_refused() && error.is_unstarted());
    let text = error.to_string();
    let start = format!("http://***@{address}/RPC2?...: connecting to {address}: ");
    assert!(text.starts_with(&start), "{text}");
    assert!(text.contains("refused"), "{text}");
    assert!(!format!("{error:?} {client:?} {text}").contains("hunter2"));
}

#[tokio::test]
async fn an_unknown_host_is_a_connect_error() {
    let client = Client::new("http://no-such-host.invalid/").unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    assert_eq!(transport(&error).step(), Step::Resolve);
    let text = error.to_string();
    let start = "http://no-such-host.invalid/: resolving no-such-host.invalid: ";
    assert!(text.starts_with(start), "{text}");
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let server = ScriptedServer::start(|_, _| Action::Silence).await;
    let client = Client::builder(&server.url()).unwrap();
    let client = client.deadline(Duration::from_millis(50)).build().unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    assert!(error.is_timeout() && !error.is_unstarted());
    assert_eq!(transport(&error).step(), Step::Read);
    let text = error.to_string();
    let expected = format!("reading from {}: not done within 0.05 s", server.address);
    assert!(text.ends_with(&expected), "{text}");
    // A call may have a shorter deadline than the client.
    let client = Client::new(&server.url()).unwrap();
    let call = client.method("m").deadline(Duration::from_millis(20));
    assert!(call.call_values(&[]).await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn a_truncated_reply_is_an_error() {
    for (answer, part) in [
        (&b""[..], "before its answer had come"),
        (b"HTTP/1.1 200 OK\r\nContent-", "before its answer had come"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
            "reading from",
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no HTTP"),
    ] {
        let server = ScriptedServer::start(|_, _| Action::AnswerAndClose(answer.to_vec())).await;
        let client = Client::new(&server.url()).unwrap();
        let error = client.call_values("m", &[]).await.unwrap_err();
        assert_eq!(transport(&error).step(), Step::Read);
        assert_eq!(transport(&error).address(), server.address.to_string());
        let text = error.to_string();
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn replies_have_a_limit() {
    let server = ScriptedServer::start(|_, _| {
        Action::Answer(http("200 OK", "", result(&"x".repeat(100_000))))
    })
    .await;
    let client = Client::builder(&server.url()).unwrap();
    let limits = Limits::DEFAULT.with_bytes(10_000);
    let client = client.limits(limits).build().unwrap();
    let text = client.call_values("m", &[]).await.unwrap_err().to_string();
    assert!(text.contains("more than 10000 bytes"), "{text}");
    assert!(text.contains("Limits::bytes"), "{text}");
}

#[tokio::test]
async fn errors_show_replies_that_are_not_xml_rpc() {
    let page = "\n<!DOCTYPE html>\n<title>Log in</title>";
    let server = ScriptedServer::start(move |nth, _| {
        Action::Answer(match nth {
            0 => http("200 OK", "", page),
            1 => http("502 Bad Gateway", "", "\x1b[31mno upstream"),
            2 => http(
                "401 Unauthorized",
                "WWW-Authenticate: Basic realm=x\r\n",
                "",
            ),
            3 => http("404 Not Found", "", ""),
            _ => http("200 OK", "", result("<int>x</int>")),
        })
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    for parts in [
        [
            "cannot decode the response: ",
            "begins with `<!DOCTYPE html>`",
        ],
        ["answered 502 Bad Gateway", "begins with `[31mno upstream`"],
        ["401 Unauthorized", "wants to know who calls (Basic)"],
        ["404 Not Found", "nothing is at the path /RPC2"],
        ["cannot decode the response: ", "an integer"],
    ] {
        let text = client.call_values("m", &[]).await.unwrap_err().to_string();
        assert!(text.starts_with(&server.url()), "{text}");
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[tokio::test]
async fn the_call_after_a_failure_works() {
    let server = ScriptedServer::start(|nth, _| match nth {
        0 => Action::AnswerAndClose(b"HTTP/1.1 200 OK\r\n".to_vec()),
        _ => ok("<int>1</int>"),
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    client.call_values("m", &[]).await.unwrap_err();
    client.call_values("m", &[]).await.unwrap();
}
