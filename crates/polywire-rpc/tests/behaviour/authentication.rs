//! Authentication over HTTP, SCGI and Unix sockets. Frames: `tests/frames/authentication.rs`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http_body_util::Full;
use polywire_rpc::auth::{
    AuthError, Authentication, Authenticator, BasicAuth, BearerAuth, CallHead, Identity,
};
use polywire_rpc::server::Peer;
use polywire_rpc::{Context, ServerBuilder, dynamic};
use polywire_schema::Map;
use tokio::sync::mpsc;
use tower::Service;

use crate::support::{Site, WIRES, builder, call_of, request, within};

const CREATE: &str = r#"{"name":"kettle"}"#;

fn basic(text: &str) -> String {
    let mut value = b"Basic ".to_vec();
    polywire_text::base64::push(&mut value, text.as_bytes());
    String::from_utf8(value).unwrap()
}

/// A server whose handler reports the name of its caller.
fn for_users(auth: impl Authenticator) -> (ServerBuilder, mpsc::UnboundedReceiver<Option<String>>) {
    let (send, seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |mut input: Map, context: Context| {
        // Handlers do not see the credentials.
        assert!(!context.headers().contains_key("authorization"));
        send.send(context.user().map(str::to_owned)).unwrap();
        input.insert("id", 7);
        async { Ok(input) }
    });
    (
        builder().operation("Create", handler).authenticate(auth),
        seen,
    )
}

async fn status_for(site: &Site, value: Option<&str>) -> u16 {
    let mut socket = site.open().await;
    let headers: Vec<(&str, &str)> = value
        .iter()
        .map(|value| ("Authorization", *value))
        .collect();
    socket
        .write(request("POST /things", &headers, CREATE))
        .await;
    let reply = socket.reply().await;
    if reply.status == 401 {
        let challenge = r#"Basic realm="the \"kitchen\"", charset="UTF-8""#;
        assert_eq!(reply.header("www-authenticate"), Some(challenge));
    }
    reply.status
}

#[tokio::test]
async fn only_known_user_and_password_pairs_are_accepted() {
    let known = [
        ("ada", "correct horse"),
        ("zoë", "a:b"),
        ("ada", "second"),
        ("empty", ""),
    ];
    let (builder, mut seen) = for_users(BasicAuth::users("the \"kitchen\"", known));
    let site = Site::start(builder).await;
    for (text, user) in [
        ("ada:correct horse", "ada"),
        ("zoë:a:b", "zoë"),
        ("ada:second", "ada"),
        ("empty:", "empty"),
    ] {
        assert_eq!(status_for(&site, Some(&basic(text))).await, 201, "{text}");
        assert_eq!(within(seen.recv()).await.unwrap().as_deref(), Some(user));
    }
    for text in [
        "ada:correct house",
        "ada:correct horse ",
        "ada:correct",
        "ada:",
        "ada",
        "ada:a:b",
        "ADA:correct horse",
        ":",
        "",
        "empty:x",
    ] {
        assert_eq!(status_for(&site, Some(&basic(text))).await, 401, "{text}");
    }
    let good = basic("ada:second");
    let bearer = good.replace("Basic", "Bearer");
    for value in ["", "Basic", "Basic !", "Basic YQ=", "Basicx", &bearer] {
        assert_eq!(status_for(&site, Some(value)).await, 401, "{value}");
    }
    assert_eq!(status_for(&site, None).await, 401);
    let lower = good.replace("Basic ", "basic  ");
    assert_eq!(status_for(&site, Some(&lower)).await, 201);
    // Two headers with credentials are ambiguous, so the request is rejected.
    let mut socket = site.open().await;
    let twice = [("Authorization", &*good), ("Authorization", &*good)];
    socket.write(request("POST /things", &twice, CREATE)).await;
    assert_eq!(socket.reply().await.status, 401);
}

#[tokio::test]
async fn verification_that_takes_time() {
    let auth = BasicAuth::verify_with("the \"kitchen\"", async |user: String, password: String| {
        tokio::task::yield_now().await;
        user == password
    });
    let (builder, mut seen) = for_users(auth);
    let site = Site::start(builder).await;
    assert_eq!(status_for(&site, Some(&basic("x:x"))).await, 201);
    assert_eq!(within(seen.recv()).await.unwrap().as_deref(), Some("x"));
    assert_eq!(status_for(&site, Some(&basic("x:y"))).await, 401);
}

#[tokio::test]
async fn bearer_tokens() {
    let (builder, mut seen) = for_users(BearerAuth::tokens([("job", "dG9rZW4"), ("two", "x")]));
    let site = Site::start(builder).await;
    let mut socket = site.open().await;
    for (value, status) in [
        ("Bearer dG9rZW4", 201),
        ("bearer dG9rZW4", 201),
        ("Bearer dG9rZW", 401),
        ("Bearer", 401),
        ("Basic dG9rZW4", 401),
    ] {
        let headers = [("Authorization", value)];
        socket
            .write(request("POST /things", &headers, CREATE))
            .await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, status, "{value}");
        match status {
            201 => assert_eq!(within(seen.recv()).await.unwrap().as_deref(), Some("job")),
            _ => assert_eq!(reply.header("www-authenticate"), Some("Bearer")),
        }
    }
}

/// A rejected call gets an error in its own protocol, with the HTTP status 401 and a challenge.
#[tokio::test]
async fn errors_are_in_the_protocol_of_the_caller() {
    let site = Site::start(for_users(BasicAuth::users("kitchen", [("ada", "x")])).0).await;
    for kind in WIRES {
        let reply = site.send(call_of(kind, "/things", "Create", CREATE)).await;
        assert_eq!(reply.status, 401, "{kind}");
        assert!(reply.header("www-authenticate").is_some(), "{kind}");
        let client = site.client(kind);
        let error = client.call("Create", CREATE).await;
        let error = error.unwrap_err();
        let fault = error.fault().unwrap_or_else(|| panic!("{kind} {error:?}"));
        assert_eq!(fault.status().as_u16(), 401, "{kind}");
    }
    // A request that matches no operation is rejected too.
    let reply = site.send(request("PUT /nowhere", &[], "")).await;
    assert_eq!(reply.status, 401);
    assert!(reply.text().contains("authentication is required"));
}

/// The first authenticator that accepts the call decides. A rejection has the challenges of all
/// authenticators.
#[tokio::test]
async fn the_first_accepting_authenticator_decides() {
    let forbid = |head: &CallHead<'_>| -> Result<Identity, AuthError> {
        match head.headers().contains_key("x-blocked") {
            true => Err(AuthError::Forbidden("blocked".into())),
            false => Err(AuthError::MissingCredentials),
        }
    };
    let pending = |head: &CallHead<'_>| {
        let is_open = head.target() == "/status/200";
        Authentication::pending(async move {
            tokio::task::yield_now().await;
            match is_open {
                true => Ok(Identity::new("anybody")),
                false => Err(AuthError::MissingCredentials),
            }
        })
    };
    let (builder, mut seen) = for_users(forbid);
    let builder = builder
        .authenticate(pending)
        .authenticate(BasicAuth::users("kitchen", [("ada", "x")]))
        .authenticate(BearerAuth::tokens([("job", "token")]));
    let site = Site::start(builder).await;
    let mut socket = site.open().await;
    for (value, name) in [(basic("ada:x"), "ada"), ("Bearer token".to_owned(), "job")] {
        let headers = [("Authorization", &*value), ("X-Blocked", "1")];
        socket
            .write(request("POST /things", &headers, CREATE))
            .await;
        assert_eq!(socket.reply().await.status, 201);
        assert_eq!(within(seen.recv()).await.unwrap().as_deref(), Some(name));
    }
    socket.write(request("GET /status/200", &[], "")).await;
    assert_eq!(socket.reply().await.status, 200);
    for (headers, status) in [(&[][..], 401), (&[("X-Blocked", "1")], 403)] {
        socket.write(request("POST /things", headers, CREATE)).await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, status);
        let challenges = reply.headers("www-authenticate");
        let expected: &[&str] = match status {
            401 => &[r#"Basic realm="kitchen", charset="UTF-8""#, "Bearer"],
            _ => &[],
        };
        assert_eq!(challenges, expected);
    }
}

/// A response with status 401 has a challenge (RFC 9110, section 15.5.2). Without one the status is 403.
#[tokio::test]
async fn without_a_challenge_the_status_is_403() {
    struct ApiKey(Option<&'static str>);

    impl Authenticator for ApiKey {
        fn authenticate(&self, _: &CallHead<'_>) -> Authentication {
            Err(AuthError::InvalidCredentials).into()
        }

        fn challenge(&self) -> Option<http::HeaderValue> {
            self.0.map(http::HeaderValue::from_static)
        }
    }

    for (challenge, status) in [(None, 403), (Some("ApiKey"), 401)] {
        let site = Site::start(builder().authenticate(ApiKey(challenge))).await;
        for kind in WIRES {
            let reply = site.send(call_of(kind, "/things", "Create", CREATE)).await;
            assert_eq!(reply.status, status, "{kind}");
            assert_eq!(reply.header("www-authenticate"), challenge, "{kind}");
            let error = site.client(kind).call("Create", CREATE).await.unwrap_err();
            let fault = error.fault().unwrap_or_else(|| panic!("{kind} {error:?}"));
            assert_eq!(fault.status().as_u16(), status, "{kind}");
        }
        for path in ["GET /nowhere", "GET /_polywire/health"] {
            let reply = site.send(request(path, &[], "")).await;
            assert_eq!(reply.status, status, "{path}");
        }
    }
}

/// A panic in an authenticator fails one call. The reply does not contain the message of the panic.
#[tokio::test]
async fn authenticators_that_panic() {
    let auth = BasicAuth::verify_with("kitchen", async |user: String, _: String| {
        tokio::task::yield_now().await;
        assert_eq!(user, "ada", "a bug");
        true
    });
    let at_once = |head: &CallHead<'_>| -> Result<Identity, AuthError> {
        assert!(!head.headers().contains_key("x-bug"), "a bug");
        Err(AuthError::MissingCredentials)
    };
    let site = Site::start(builder().authenticate(at_once).authenticate(auth)).await;
    let mut socket = site.open().await;
    let (ada, bob) = (basic("ada:x"), basic("bob:x"));
    for (headers, status) in [
        (&[("Authorization", &*ada)][..], 201),
        (&[("Authorization", &*bob)], 500),
        (&[("Authorization", &*ada), ("X-Bug", "1")], 500),
        (&[("Authorization", &*ada)], 201),
    ] {
        socket.write(request("GET /status/201", headers, "")).await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, status);
        assert!(!reply.text().contains("a bug"), "{}", reply.text());
    }
}

/// A call without credentials is rejected with status 401, even if its body has 1 MiB.
#[tokio::test]
async fn large_bodies_of_rejected_callers() {
    let site = Site::start(for_users(BearerAuth::tokens([("job", "token")])).0).await;
    let body = format!(r#"{{"name":"{}"}}"#, "x".repeat(1 << 20));
    for kind in WIRES {
        let reply = site.send(call_of(kind, "/things", "Create", &body)).await;
        assert_eq!(reply.status, 401, "{kind}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn processes_at_unix_sockets() {
    use std::os::unix::fs::MetadataExt;

    use polywire_rpc::auth::UnixUserAuth;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let folder = tempfile::tempdir().unwrap();
    let uid = std::fs::metadata(folder.path()).unwrap().uid();
    for (allowed, status) in [(uid, "200"), (uid + 1, "403")] {
        let auth = UnixUserAuth::uids([allowed]);
        let server = builder().authenticate(auth).build().unwrap();
        let path = folder.path().join(format!("{allowed}.sock"));
        let _running = server.listen_unix(&path).await.unwrap();
        let mut stream = tokio::net::UnixStream::connect(&path).await.unwrap();
        let get = request("GET /status/200", &[("Connection", "close")], "");
        stream.write_all(get.as_ref()).await.unwrap();
        let mut reply = String::new();
        within(stream.read_to_string(&mut reply)).await.unwrap();
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{reply}");
    }
}

/// An HTTP layer can authenticate requests by inserting an `Identity`.
#[tokio::test]
async fn identities_of_layers() {
    let layer = tower::util::MapRequestLayer::new(|mut request: http::Request<_>| {
        request
            .extensions_mut()
            .insert(Identity::new("from a layer"));
        request
    });
    let (send, mut seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |input: Map, context: Context| {
        send.send(context.user().map(str::to_owned)).unwrap();
        async { Ok(input) }
    });
    let site = Site::start(builder().operation("Add", handler).http_layer(layer)).await;
    let client = site.client(polywire_protocol::ProtocolKind::RpcV2Cbor);
    let _ = client.call("Add", r#"{"left":1,"right":2}"#).await;
    let user = within(seen.recv()).await.unwrap();
    assert_eq!(user.as_deref(), Some("from a layer"));
}

/// Basic authentication over an unencrypted connection from a remote address is rejected, whether
/// the password is right or wrong.
#[tokio::test]
async fn basic_auth_over_unencrypted_remote_connections_is_rejected() {
    let known = || BasicAuth::users("the \"kitchen\"", [("ada", "secret")]);
    let far = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 1);
    for (auth, peer, good, bad) in [
        (known(), Some(far), 403, 403),
        (known(), None, 403, 403),
        (
            known(),
            Some(SocketAddr::from(([127, 0, 0, 1], 1))),
            201,
            401,
        ),
        (known().danger_without_tls(), Some(far), 201, 401),
    ] {
        let (builder, _seen) = for_users(auth);
        let mut server = builder.build().unwrap();
        for (text, status) in [("ada:secret", good), ("ada:wrong", bad)] {
            let request = http::Request::post("/things")
                .header("content-type", "application/json")
                .header("authorization", basic(text))
                .extension(peer.map(Peer::from).unwrap_or_default())
                .body(Full::new(Bytes::from(CREATE)))
                .unwrap();
            let response = Service::call(&mut server, request).await.unwrap();
            assert_eq!(response.status(), status, "{peer:?} {text}");
        }
    }
}

/// A pending authenticator is awaited before the next authenticator is asked.
#[tokio::test]
async fn the_order_of_authenticators_counts() {
    let slow = |_: &CallHead<'_>| {
        Authentication::pending(async {
            tokio::task::yield_now().await;
            Ok(Identity::new("first"))
        })
    };
    let (builder, mut seen) = for_users(slow);
    let guest = |_: &CallHead<'_>| -> Result<Identity, AuthError> { Ok(Identity::new("guest")) };
    let site = Site::start(builder.authenticate(guest)).await;
    assert_eq!(status_for(&site, None).await, 201);
    assert_eq!(within(seen.recv()).await.unwrap().as_deref(), Some("first"));
}

/// A rate limit by the `authorization` header also applies to the calls inside a multicall,
/// although handlers do not see this header.
#[tokio::test]
async fn rates_by_credentials_hold_in_a_multicall() {
    use std::num::NonZeroU32;

    use polywire_rpc::{Methods, Server};

    let one = NonZeroU32::MIN;
    let three = one.saturating_add(2);
    let methods = Methods::new()
        .method("Add", |(a, b): (i32, i32)| async move { a + b })
        .introspection(true)
        .multicall(true);
    let server = Server::methods(methods)
        .authenticate(BasicAuth::users("kitchen", [("ada", "x")]))
        .rate_per_caller(one, three, |head| {
            head.headers().get("authorization").cloned()
        })
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let site = Site::of(running);
    let call = "<value><struct><member><name>methodName</name><value>Add</value></member>\
         <member><name>params</name><value><array><data><value><int>1</int></value>\
         <value><int>2</int></value></data></array></value></member></struct></value>";
    let body = format!(
        "<?xml version=\"1.0\"?><methodCall><methodName>system.multicall</methodName><params><param>\
         <value><array><data>{}</data></array></value></param></params></methodCall>",
        call.repeat(6)
    );
    let ada = basic("ada:x");
    let headers = [("Authorization", &*ada), ("Content-Type", "text/xml")];
    let reply = site.send(request("POST /RPC2", &headers, body)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let (faults, sums) = (
        reply.text().matches("faultCode").count(),
        reply.text().matches(">3<").count(),
    );
    // The rate limit counts the request as the first call of the multicall. The burst is 3.
    assert_eq!((sums + faults, sums <= 3), (6, true), "{}", reply.text());
}
