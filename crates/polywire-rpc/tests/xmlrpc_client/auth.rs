//! Credentials, custom headers and redirects.

use polywire_rpc::xmlrpc::{BuildError, Client};

use crate::support::{Action, ScriptedServer, http, ok};

#[tokio::test]
async fn credentials_and_headers() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let url = server.url();
    let in_url = url.replace("http://", "http://me:p%40ss@");
    let basic = "Basic bWU6cEBzcw==";
    for (builder, expected) in [
        (Client::builder(&in_url).unwrap(), basic),
        (Client::builder(&url).unwrap().basic("me", "p@ss"), basic),
        (
            Client::builder(&in_url).unwrap().bearer("t0ken"),
            "Bearer t0ken",
        ),
    ] {
        assert!(!format!("{builder:?}").contains("p@ss"), "{builder:?}");
        let client = builder.header("x-own", "1").build().unwrap();
        let call = client.method("m");
        let call = call.header("x-once".parse().unwrap(), "2".parse().unwrap());
        call.call_values(&[]).await.unwrap();
        let seen = server.seen();
        let seen = seen.last().unwrap();
        assert_eq!(seen.header("authorization"), Some(expected));
        assert_eq!(seen.header("x-own"), Some("1"));
        assert_eq!(seen.header("x-once"), Some("2"));
        assert!(!seen.line().contains('@'));
    }
}

#[test]
fn errors_about_invalid_headers_do_not_contain_the_value() {
    let builder = || Client::builder("http://h").unwrap();
    for builder in [
        builder().bearer("hunter2\n"),
        builder().basic("a:b", "hunter2"),
        builder().header("x y", "hunter2"),
        builder().header("x", "hunter2\r\ny: z"),
    ] {
        let error = builder.build().unwrap_err();
        assert!(matches!(error, BuildError::Header(_)));
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn headers_with_secrets_are_marked_for_observers() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let list = seen.clone();
    let client = Client::builder(&server.url())
        .unwrap()
        .header("Authorization", "hunter2")
        .header("cookie", "s=hunter2")
        .header("x-own", "1")
        .observer(move |exchange| {
            list.lock()
                .unwrap()
                .push(exchange.request.headers().clone());
        })
        .build()
        .unwrap();
    let call = client.method("m");
    let name = http::header::PROXY_AUTHORIZATION;
    let call = call.header(name, "hunter2".parse().unwrap());
    call.call_values(&[]).await.unwrap();
    let seen = seen.lock().unwrap();
    for name in ["authorization", "proxy-authorization", "cookie"] {
        assert!(seen[0][name].is_sensitive(), "{name}");
    }
    assert!(!seen[0]["x-own"].is_sensitive());
    assert!(!format!("{seen:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_redirect_loop_fails_with_the_redirect_status() {
    for status in ["307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = ScriptedServer::start(move |_, _| {
            Action::Answer(http(status, "Location: /RPC2\r\n", ""))
        })
        .await;
        let client = Client::new(&server.url()).unwrap();
        let text = client.call_values("m", &[]).await.unwrap_err().to_string();
        assert!(text.contains(status), "{text}");
        assert!(text.contains("5 redirects were followed"), "{text}");
        assert_eq!(server.seen().len(), 6);
    }
}

#[tokio::test]
async fn redirects_within_the_server_are_followed() {
    let server = ScriptedServer::start(|_, seen| match seen.line() {
        "POST /RPC2 HTTP/1.1" => {
            Action::Answer(http("308 Permanent Redirect", "Location: /new?a=1\r\n", ""))
        }
        _ => ok("<int>1</int>"),
    })
    .await;
    let builder = || {
        Client::builder(&server.url())
            .unwrap()
            .basic("me", "secret")
    };
    let client = builder().build().unwrap();
    client.call_values("m", &[]).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen[1].line(), "POST /new?a=1 HTTP/1.1");
    assert_eq!(seen[0].body, seen[1].body);
    assert!(seen[1].header("authorization").is_some());
    let client = builder().redirects(0).build().unwrap();
    let text = client.call_values("m", &[]).await.unwrap_err().to_string();
    assert!(text.contains("redirects to `/new?...`"), "{text}");
}

#[tokio::test]
async fn redirects_to_other_servers_are_not_followed() {
    let other = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let elsewhere = format!("http://{}/x", other.address);
    for (status, location) in [
        ("307 Temporary Redirect", &*elsewhere),
        ("302 Found", "/new"),
        ("301 Moved Permanently", "/new"),
    ] {
        let headers = format!("Location: {location}\r\n");
        let answer = http(status, &headers, "");
        let server = ScriptedServer::start(move |_, _| Action::Answer(answer.clone())).await;
        let client = Client::builder(&server.url())
            .unwrap()
            .basic("me", "secret");
        let client = client.build().unwrap();
        let text = client.call_values("m", &[]).await.unwrap_err().to_string();
        assert!(text.contains(status) && text.contains(location), "{text}");
        assert_eq!(server.seen().len(), 1);
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn the_number_of_redirects_is_limited() {
    let server = ScriptedServer::start(|_, _| {
        Action::Answer(http("307 Temporary Redirect", "Location: /RPC2\r\n", ""))
    })
    .await;
    let client = Client::builder(&server.url()).unwrap().redirects(3);
    let client = client.build().unwrap();
    let text = client.call_values("m", &[]).await.unwrap_err().to_string();
    assert!(text.contains("3 redirects were followed"), "{text}");
    assert_eq!(server.seen().len(), 4);
}
