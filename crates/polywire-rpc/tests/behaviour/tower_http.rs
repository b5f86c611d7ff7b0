//! Unmodified layers of tower-http and tower, over HTTP/1.1 and HTTP/2.

use std::convert::Infallible;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, Version, header};
use http_body::Frame;
use http_body_util::{BodyExt, Full, channel::Channel};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use polywire_protocol::scgi;
use polywire_rpc::Timeouts;
use polywire_rpc::layers::CrossOrigin;
use polywire_rpc::server::{HttpRequest, HttpResponse, HttpService, ResponseBody};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::layer::layer_fn;
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::{BoxError, ServiceExt, service_fn};
use tower_http::compression::{CompressionLayer, predicate::SizeAbove};
use tower_http::cors::CorsLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use crate::support::{Site, WIRES, builder, call_of, request, within};

const VERSIONS: [Version; 2] = [Version::HTTP_11, Version::HTTP_2];

/// Sends a request on a new connection and returns the response with an unread body.
async fn open(
    site: &Site,
    version: Version,
    request: Request<Bytes>,
) -> Response<hyper::body::Incoming> {
    let (mut head, body) = request.into_parts();
    let io = TokioIo::new(TcpStream::connect(site.address()).await.unwrap());
    if version == Version::HTTP_2 {
        let target = format!("{}{}", site.url(), head.uri);
        head.uri = target.parse().unwrap();
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        let request = Request::from_parts(head, Full::new(body));
        return within(sender.send_request(request)).await.unwrap();
    }
    head.headers
        .insert(header::HOST, HeaderValue::from_static("localhost"));
    let (mut sender, connection) = http1::handshake(io).await.unwrap();
    tokio::spawn(connection);
    let request = Request::from_parts(head, Full::new(body));
    within(sender.send_request(request)).await.unwrap()
}

async fn send(site: &Site, version: Version, request: Request<Bytes>) -> Response<Bytes> {
    let (head, body) = open(site, version, request).await.into_parts();
    let body = within(body.collect()).await.unwrap();
    Response::from_parts(head, body.to_bytes())
}

fn create(name: &str, headers: &[(&str, &str)]) -> Request<Bytes> {
    let mut request = Request::post("/things").header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request
        .body(format!(r#"{{"name":"{name}"}}"#).into())
        .unwrap()
}

fn get(method: Method, path: &str) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(path);
    request.body(Bytes::new()).unwrap()
}

/// A call that does not complete.
fn slow() -> Request<Bytes> {
    let mut request = create("", &[]);
    *request.uri_mut() = "/fail".parse().unwrap();
    *request.body_mut() = r#"{"how":"slow"}"#.into();
    request
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(bytes);
    decoder.read_to_end(&mut decoded).unwrap();
    decoded
}

#[tokio::test]
async fn compression() {
    let layer = CompressionLayer::new().compress_when(SizeAbove::new(1_024));
    let site = Site::start(builder().http_layer(layer)).await;
    for version in VERSIONS {
        for len in [2_000, 2_000_000] {
            let name = "x".repeat(len);
            let plain = send(&site, version, create(&name, &[])).await;
            let length = plain.body().len().to_string();
            assert_eq!(plain.headers()["content-length"], length);
            assert_eq!(plain.headers()["vary"], "accept-encoding");
            assert!(!plain.headers().contains_key("content-encoding"));
            let accept = [("accept-encoding", "br, gzip;q=0.5")];
            let short = send(&site, version, create(&name, &accept)).await;
            assert_eq!(short.status(), StatusCode::CREATED);
            assert_eq!(short.headers()["content-encoding"], "gzip");
            assert!(!short.headers().contains_key("content-length"));
            assert!(short.body().len() < plain.body().len() / 10);
            assert_eq!(gunzip(short.body()), plain.body()[..]);
        }
        // A short response is not compressed and keeps its length.
        let accept = [("accept-encoding", "gzip")];
        let short = send(&site, version, create("kettle", &accept)).await;
        let length = short.body().len().to_string();
        assert_eq!(short.headers()["content-length"], length);
        assert!(!short.headers().contains_key("content-encoding"));
    }
    for kind in WIRES {
        let body = format!(r#"{{"name":"{}"}}"#, "x".repeat(2_000));
        let plain = call_of(kind, "/things", "Create", &body);
        let split = plain.windows(2).position(|two| two == b"\r\n").unwrap() + 2;
        let accept = b"Accept-Encoding: gzip\r\n";
        let mut socket = site.open().await;
        socket
            .write([&plain[..split], accept, &plain[split..]].concat())
            .await;
        let head = socket.head_reply().await;
        assert_eq!(head.header("content-encoding"), Some("gzip"), "{kind}");
        assert_eq!(head.header("transfer-encoding"), Some("chunked"), "{kind}");
    }
}

#[tokio::test]
async fn heads_have_no_body() {
    let layer = CompressionLayer::new().compress_when(SizeAbove::new(0));
    for site in [
        Site::start(builder().http_layer(layer)).await,
        Site::start(builder().http_layer(TraceLayer::new_for_http())).await,
    ] {
        for version in VERSIONS {
            let mut request = get(Method::HEAD, "/files/b/p/end?download");
            let accept = HeaderValue::from_static("gzip");
            request
                .headers_mut()
                .insert(header::ACCEPT_ENCODING, accept);
            let response = send(&site, version, request).await;
            assert_eq!(response.status(), StatusCode::OK);
            assert!(response.body().is_empty());
        }
        // The connection stays usable.
        let mut socket = site.open().await;
        let accept = [("Accept-Encoding", "gzip")];
        socket
            .write(request("HEAD /files/b/p/end?download", &accept, ""))
            .await;
        socket.head_reply().await;
        socket.write(request("GET /status/201", &[], "")).await;
        assert_eq!(socket.reply().await.status, 201);
    }
}

#[tokio::test]
async fn cors() {
    let pages = CrossOrigin::new().allow("https://app.example").unwrap();
    let origin = HeaderValue::from_static("https://app.example");
    let layer = CorsLayer::new()
        .allow_origin(origin.clone())
        .allow_methods([Method::POST])
        .allow_headers([header::CONTENT_TYPE]);
    let site = Site::start(builder().cross_origin(pages).http_layer(layer)).await;
    for version in VERSIONS {
        let mut preflight = get(Method::OPTIONS, "/things");
        for (name, value) in [
            ("origin", "https://app.example"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
        ] {
            preflight.headers_mut().insert(name, value.parse().unwrap());
        }
        let response = send(&site, version, preflight).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["access-control-allow-origin"], origin);
        assert_eq!(response.headers()["access-control-allow-methods"], "POST");
        assert!(response.body().is_empty());

        let allowed = create("kettle", &[("origin", "https://app.example")]);
        let response = send(&site, version, allowed).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(response.headers()["access-control-allow-origin"], origin);
        // The guard against cross-site calls still applies.
        let foreign = create("kettle", &[("origin", "https://other.example")]);
        let response = send(&site, version, foreign).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
    }
}

#[tokio::test]
async fn timeouts() {
    let (late, time) = (StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(50));
    let layer = TimeoutLayer::with_status_code(late, time);
    let site = Site::start(builder().http_layer(layer)).await;
    for version in VERSIONS {
        let response = send(&site, version, slow()).await;
        assert_eq!(response.status(), late);
        assert!(response.body().is_empty());
        let response = send(&site, version, create("kettle", &[])).await;
        assert_eq!(response.status(), StatusCode::CREATED);
    }
}

#[tokio::test]
async fn traces() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let note = move |what: String| log.lock().unwrap().push(what);
    let (on_request, on_response, on_chunk) = (note.clone(), note.clone(), note);
    let layer = TraceLayer::new_for_http()
        .on_request(move |request: &Request<_>, _: &tracing::Span| {
            on_request(format!("{} {}", request.method(), request.uri().path()));
        })
        .on_response(
            move |response: &Response<_>, _: Duration, _: &tracing::Span| {
                on_response(response.status().to_string());
            },
        )
        .on_body_chunk(move |chunk: &Bytes, _: Duration, _: &tracing::Span| {
            on_chunk(format!("{} bytes", chunk.len()));
        });
    let site = Site::start(builder().http_layer(layer)).await;
    for version in VERSIONS {
        let response = send(&site, version, create("kettle", &[])).await;
        let length = response.body().len();
        assert_eq!(response.headers()["content-length"], length.to_string());
        let expected = ["POST /things", "201 Created", &format!("{length} bytes")];
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);
    }
}

#[tokio::test]
async fn headers() {
    let set =
        |name, value| SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value));
    let builder = builder()
        .http_layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .http_layer(set(header::CONTENT_SECURITY_POLICY, "default-src 'none'"))
        .http_layer(set(header::SERVER, "kettle"));
    let site = Site::start(builder).await;
    for version in VERSIONS {
        for (method, path) in [("GET", "/status/200"), ("GET", "/nowhere"), ("PUT", "/add")] {
            let method = method.parse().unwrap();
            let response = send(&site, version, get(method, path)).await;
            let header = |name| response.headers()[name].to_str().unwrap();
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("content-security-policy"), "default-src 'none'");
            assert_eq!(header("server"), "kettle");
        }
    }
}

#[tokio::test]
async fn limits_of_request_bodies() {
    let layer = RequestBodyLimitLayer::new(1_000);
    let site = Site::start(builder().http_layer(layer)).await;
    for version in VERSIONS {
        let response = send(&site, version, create("kettle", &[])).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        let large = create(&"x".repeat(3_000_000), &[]);
        let response = send(&site, version, large).await;
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    // A body without a length is rejected when it exceeds the limit.
    let mut socket = site.open().await;
    let chunked = [
        ("Transfer-Encoding", "chunked"),
        ("Content-Type", "application/json"),
    ];
    socket.write(request("POST /things", &chunked, "")).await;
    socket
        .write(format!("7d0\r\n{}\r\n0\r\n\r\n", "x".repeat(2_000)))
        .await;
    assert_eq!(socket.reply().await.status, 413);
}

/// A body of three pieces, which ends with an error if `breaks`.
fn streamed(breaks: bool) -> Response<Channel<Bytes, BoxError>> {
    let (mut sender, body) = Channel::new(1);
    tokio::spawn(async move {
        for piece in ["one ", "two ", "three"] {
            tokio::time::sleep(Duration::from_millis(150)).await;
            let _ = sender.send(Frame::data(Bytes::from(piece))).await;
        }
        if breaks {
            sender.abort("the source is gone".into());
        }
    });
    Response::new(body)
}

/// Responds to `/streamed` and `/broken` itself, and passes other requests on.
fn streams(
    inner: HttpService,
) -> impl tower::Service<HttpRequest, Response = HttpResponse, Error = Infallible, Future: Send> + Clone
{
    service_fn(move |request: HttpRequest| {
        let inner = inner.clone();
        async move {
            let body = match request.uri().path() {
                "/streamed" => streamed(false),
                "/broken" => streamed(true),
                _ => return inner.oneshot(request).await,
            };
            Ok(body.map(ResponseBody::new))
        }
    })
}

#[tokio::test]
async fn bodies_that_are_streamed() {
    // The head timeout is shorter than the duration of the body: a connection with a response in
    // progress is not idle.
    let timeouts = Timeouts::DEFAULT.with_head(Duration::from_millis(100));
    let builder = builder().calls(1).timeouts(timeouts);
    let site = Site::start(builder.http_layer(layer_fn(streams))).await;
    for version in VERSIONS {
        let response = open(&site, version, get(Method::GET, "/streamed")).await;
        assert!(!response.headers().contains_key("content-length"));
        // The call lasts until its body has been sent.
        let busy = send(&site, version, get(Method::GET, "/status/200")).await;
        assert_eq!(busy.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = within(response.into_body().collect()).await.unwrap();
        assert_eq!(body.to_bytes(), "one two three");
        tokio::time::sleep(Duration::from_millis(20)).await;
        let free = send(&site, version, get(Method::GET, "/status/200")).await;
        assert_eq!(free.status(), StatusCode::OK);

        let response = open(&site, version, get(Method::GET, "/broken")).await;
        assert!(within(response.into_body().collect()).await.is_err());
    }
}

/// Over SCGI the end of the connection is the end of a streamed body.
#[tokio::test]
async fn bodies_that_are_streamed_over_scgi() {
    let server = builder().http_layer(layer_fn(streams)).build().unwrap();
    let running = server.listen_scgi("127.0.0.1:0".parse().unwrap());
    let running = running.await.unwrap();
    for method in [Method::GET, Method::HEAD] {
        let (head, _) = get(method.clone(), "/streamed").into_parts();
        let mut bytes = Vec::new();
        scgi::write_request(&head, 0, &mut bytes).unwrap();
        let mut stream = TcpStream::connect(running.address()).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        let mut reply = Vec::new();
        within(stream.read_to_end(&mut reply)).await.unwrap();
        let body = match method {
            Method::HEAD => "",
            _ => "one two three",
        };
        let expected = format!("Status: 200 OK\r\n\r\n{body}");
        assert_eq!(String::from_utf8(reply).unwrap(), expected);
    }
}

/// A response body that is streamed when shutdown starts is sent to its end.
#[tokio::test]
async fn streamed_bodies_end_before_the_server() {
    for version in VERSIONS {
        let mut site = Site::start(builder().http_layer(layer_fn(streams))).await;
        let response = open(&site, version, get(Method::GET, "/streamed")).await;
        let body = tokio::spawn(response.into_body().collect());
        site.stop().await;
        assert_eq!(body.await.unwrap().unwrap().to_bytes(), "one two three");
    }
}

#[tokio::test]
async fn errors_become_responses() {
    let builder = builder()
        .http_layer(ConcurrencyLimitLayer::new(1))
        .http_layer(LoadShedLayer::new())
        .http_layer(tower::timeout::TimeoutLayer::new(Duration::from_millis(
            300,
        )))
        .http_layer(layer_fn(|inner: HttpService| {
            service_fn(move |request: HttpRequest| {
                let inner = inner.clone();
                async move {
                    match request.uri().path() {
                        "/bug" => Err(BoxError::from("a secret of the layer")),
                        _ => Ok(inner.oneshot(request).await?),
                    }
                }
            })
        }));
    let site = Site::start(builder).await;
    for version in VERSIONS {
        let response = send(&site, version, get(Method::GET, "/bug")).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.body(), "An internal error occurred.\n");

        let late = send(&site, version, slow());
        let shed = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            send(&site, version, get(Method::GET, "/status/200")).await
        };
        let (late, shed) = tokio::join!(late, shed);
        assert_eq!(late.status(), StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(shed.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
