//! Tests of `polywire serve` with all kinds of listeners, and of `polywire call` and `polywire
//! xmlrpc` against them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use tempfile::TempDir;

/// A running server, stopped on drop.
struct Serving {
    child: Child,
    urls: Vec<String>,
    out: BufReader<ChildStdout>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    /// Starts a server, and waits until it prints its URLs.
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_polywire"))
            .args(["serve", "--workers", "2"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let urls = line.trim().split_once(" operations on ").unwrap().1;
        let urls = urls.split(", ").map(str::to_owned).collect();
        Self { child, urls, out }
    }

    /// Returns the example commands.
    fn lines(&mut self) -> Vec<String> {
        let lines = self.out.by_ref().lines().map(Result::unwrap);
        let lines = lines.take_while(|line| !line.contains("Ctrl-C stops"));
        let lines = lines.map(|line| line.trim().to_owned());
        lines
            .filter(|line| line.starts_with("curl ") || line.contains(" call "))
            .collect()
    }

    fn url(&self, scheme: &str) -> &str {
        let start = format!("{scheme}://");
        let url = self.urls.iter().find(|url| url.starts_with(&start));
        url.unwrap()
    }
}

fn polywire(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polywire"));
    command.args(arguments).env_remove("POLYWIRE_PASSWORD");
    command.output().unwrap()
}

/// Returns standard output of a successful command.
#[track_caller]
fn out(arguments: &[&str]) -> String {
    let output = polywire(arguments);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {err}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns standard error of a command that fails with status 2.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = polywire(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A temporary directory, deleted on drop.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Frames and HTTP share a listener. The model is published over HTTP.
#[cfg(unix)]
#[test]
fn frames() {
    let folder = Folder::new();
    let socket = format!("unix://{}", folder.file("frames.sock"));
    let serving = Serving::start(&["--listen", "tcp://127.0.0.1:0", &socket]);
    let tcp = serving.url("tcp");
    for url in [tcp, &socket] {
        let city = out(&["call", url, "GetCity", OSLO]);
        assert!(city.contains(r#""name":"Oslo""#), "{url}: {city}");
        // Timestamps are formatted with the shapes of the model.
        assert!(
            city.contains(r#""founded":"1048-01-01T00:00:00Z""#),
            "{url}"
        );
        let fault = polywire(&["call", url, "GetCity", r#"{"cityId":"atlantis"}"#]);
        assert_eq!(fault.status.code(), Some(1), "{url}");
        let fault = String::from_utf8(fault.stdout).unwrap();
        assert!(
            fault.contains(r#""kind":"NoSuchResource""#),
            "{url}: {fault}"
        );
        assert!(
            fault.contains(r#""resourceId":"atlantis""#),
            "{url}: {fault}"
        );
        let unknown = refused(&["call", url, "GetTown"]);
        assert!(unknown.contains("it has "), "{url}: {unknown}");
    }
    answers(&tcp.replacen("tcp", "http", 1), &[]);
    // With a protocol, unix:// is for HTTP.
    let city = out(&["call", &socket, "GetCity", OSLO, "-p", "rpcv2Cbor"]);
    assert!(city.contains(r#""name":"Oslo""#), "{city}");
    for (arguments, part) in [
        (&["-p", "rpcv2Cbor"][..], "http://"),
        (&["--insecure"], "tcp+tls://"),
        (&["--show-wire"], "--show-wire"),
    ] {
        let said = refused(&[&["call", tcp, "GetCity", OSLO], arguments].concat());
        assert!(said.contains(part), "{said}");
    }
    let by_proxy = ["--proxy", "http://127.0.0.1:1"];
    let failed = polywire(&[&["call", tcp, "GetCity", OSLO], &by_proxy[..]].concat());
    let said = String::from_utf8(failed.stderr).unwrap();
    assert!(said.contains("connecting to 127.0.0.1:1"), "{said}");
    // Headers become metadata. Passwords require encryption.
    let headers = ["-H", "a: b", "--user", "ann:secret"];
    let city = out(&[&["call", tcp, "GetCity", OSLO][..], &headers].concat());
    assert!(city.contains(r#""name":"Oslo""#), "{city}");
    let far = [
        "call",
        "tcp://192.0.2.1:7",
        "GetCity",
        "--user",
        "ann:secret",
    ];
    let said = refused(&far);
    assert!(said.contains("use tcp+tls://"), "{said}");
}

/// A protocol is called at its mount. Protocols that are not offered are rejected.
#[test]
fn protocols_are_called_at_their_mounts() {
    let bundled = Serving::start(&["--listen", "http://127.0.0.1:0"]);
    let url = bundled.url("http");
    for protocol in ["restXml", "ec2Query", "restJson1"] {
        let city = out(&["call", url, "GetCity", OSLO, "-p", protocol]);
        assert!(city.contains(r#""name":"Oslo""#), "{protocol}: {city}");
    }
    // A path in the URL selects the protocol.
    let xml = format!("{url}/restXml");
    let wire = ["--show-wire", "-p", "restXml"];
    for more in [&[][..], &wire] {
        let city = out(&[&["call", &xml, "GetCity", OSLO], more].concat());
        assert!(city.contains(r#""name":"Oslo""#), "{city}");
    }
    let short = ["-b", "5", "-d", "100", "--warm-up", "0", "--json", "-q"];
    let report = out(&[
        &["bench", url, "GetCity", OSLO, "-p", "restXml"][..],
        &short,
    ]
    .concat());
    assert!(
        report.starts_with("{\n  \"success_rate\": 1.0,\n"),
        "{report}"
    );
    // The server does not offer the first protocol of the model.
    let listen = ["--listen", "http://127.0.0.1:0"];
    let one = Serving::start(&[&listen[..], &["--protocol", "awsQuery"]].concat());
    let city = out(&["call", one.url("http"), "GetCity", OSLO]);
    assert!(city.contains(r#""name":"Oslo""#), "{city}");
    let said = refused(&["call", one.url("http"), "GetCity", OSLO, "-p", "rpcv2Cbor"]);
    assert!(
        said.contains("does not offer rpcv2Cbor; it offers awsQuery"),
        "{said}"
    );
}

/// Clients and servers parse paths of sockets in the same way.
#[cfg(unix)]
#[test]
fn sockets_with_a_space_in_their_path() {
    let folder = Folder::new();
    let socket = format!("unix://{}", folder.file("my%20a.sock"));
    let serving = Serving::start(&["--listen", &socket]);
    assert_eq!(serving.urls, [&*socket]);
    assert!(Path::new(&folder.file("my a.sock")).exists());
    for more in [&[][..], &["-p", "rpcv2Cbor"]] {
        let city = out(&[&["call", &socket, "GetCity", OSLO], more].concat());
        assert!(city.contains(r#""name":"Oslo""#), "{city}");
    }
}

/// Returns a port that is free for TCP and UDP. Closed TCP connections keep their ports for a
/// minute, so a port that is free for UDP is often not free for TCP.
fn free_port() -> u16 {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = udp.local_addr().unwrap();
        if TcpListener::bind(address).is_ok() {
            return address.port();
        }
    }
}

/// A UDP server that listens for HTTP on the same port publishes the model there.
#[test]
fn udp_server_publishes_its_model() {
    let port = free_port();
    let (http, udp) = (
        format!("http://127.0.0.1:{port}"),
        format!("udp://127.0.0.1:{port}"),
    );
    let serving = Serving::start(&["--listen", &http, &udp]);
    let city = out(&["call", serving.url("udp"), "GetCity", OSLO]);
    assert!(
        city.contains(r#""founded":"1048-01-01T00:00:00Z""#),
        "{city}"
    );
    // Without an operation, the model selects one.
    let short = ["-b", "5", "-d", "100", "--warm-up", "0", "--json", "-q"];
    let report = out(&[&["bench", serving.url("udp")][..], &short].concat());
    assert!(
        report.starts_with("{\n  \"success_rate\": 1.0,\n"),
        "{report}"
    );
}

/// Calls over UDP with HTTP on another port, with and without a model.
#[test]
fn frames_over_udp() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/weather.smithy");
    let both = ["--listen", "http://127.0.0.1:0", "udp://127.0.0.1:0"];
    let serving = Serving::start(&both);
    let url = serving.url("udp");
    let city = out(&["call", url, "GetCity", OSLO, "-m", model]);
    assert!(
        city.contains(r#""founded":"1048-01-01T00:00:00Z""#),
        "{city}"
    );
    // Without a model, values are formatted without shapes.
    let city = out(&["call", url, "GetCity", OSLO]);
    assert!(city.contains(r#""name":"Oslo""#), "{city}");
    let short = ["-b", "5", "-d", "100", "--warm-up", "0", "--json", "-q"];
    let report = out(&[&["bench", url, "GetCity", OSLO][..], &short].concat());
    assert!(
        report.starts_with("{\n  \"success_rate\": 1.0,\n"),
        "{report}"
    );
}

/// The bundled service offers all protocols, a mock only the requested ones.
#[test]
fn frames_are_offered() {
    let bundled = Serving::start(&["--listen", "http://127.0.0.1:0"]);
    let url = bundled.url("http").replacen("http", "tcp", 1);
    let city = out(&["call", &url, "GetCity", OSLO]);
    assert!(city.contains(r#""name":"Oslo""#), "{city}");
    let one = ["--listen", "http://127.0.0.1:0", "--protocol", "restJson1"];
    let one = Serving::start(&one);
    let url = one.url("http").replacen("http", "tcp", 1);
    let refused = polywire(&["call", &url, "GetCity", OSLO, "--deadline", "5"]);
    assert_eq!(refused.status.code(), Some(3));
    // `frame` can be selected like other protocols.
    let one = ["--listen", "http://127.0.0.1:0", "--protocol", "frame"];
    let one = Serving::start(&one);
    let url = one.url("http").replacen("http", "tcp", 1);
    let city = out(&["call", &url, "GetCity", OSLO, "--protocol", "frame"]);
    assert!(city.contains(r#""name":"Oslo""#), "{city}");
}

/// Calls the easiest operation over frames, without other options.
#[test]
fn bench_measures_the_server() {
    let serving = Serving::start(&["--listen", "tcp://127.0.0.1:0"]);
    let pid = serving.child.id().to_string();
    let short = ["-b", "5", "-d", "100", "--warm-up", "0", "--json", "-q"];
    let measured = ["bench", serving.url("tcp"), "--server-pid", &pid];
    let report = out(&[&measured[..], &short].concat());
    assert!(
        report.starts_with("{\n  \"success_rate\": 1.0,\n"),
        "{report}"
    );
}

const OSLO: &str = r#"{"cityId":"oslo"}"#;

/// Calls over XML-RPC, over another protocol, and without a model.
#[track_caller]
fn answers(url: &str, more: &[&str]) {
    for protocol in ["xmlRpc", "rpcv2Cbor", "restJson1"] {
        let call = ["call", url, "GetCity", OSLO, "-p", protocol];
        let city = out(&[&call, more].concat());
        assert!(
            city.contains(r#""name":"Oslo""#),
            "{url} {protocol}: {city}"
        );
    }
    let call = ["xmlrpc", url, "GetCity", OSLO];
    let city = out(&[&call, more].concat());
    assert!(city.contains(r#""name":"Oslo""#), "{url}: {city}");
}

/// A model with warnings can be served. Without validation, inputs may lack required members.
#[test]
fn a_mock_with_a_bad_example() {
    let folder = Folder::new();
    let model = folder.file("shop.smithy");
    let text = r#"$version: "2"
        namespace example
        use aws.protocols#restJson1
        @restJson1
        service Shop { version: "1", operations: [Order] }
        @http(method: "POST", uri: "/order")
        @examples([
            { title: "no choice", input: { item: "a", choice: {} }, output: {} }
            { title: "tea", input: { item: "tea" }, output: { id: "1" } }
        ])
        operation Order {
            input := { @required item: String, choice: Choice }
            output := { id: String }
        }
        union Choice { a: String, b: String }"#;
    fs::write(&model, text).unwrap();
    out(&["model", "check", &model]);
    let listen = ["--listen", "http://127.0.0.1:0", "--model", &model];
    let serving = Serving::start(&listen);
    let url = serving.url("http");
    let call = |url: &str, input: &str| polywire(&["call", url, "Order", input]);
    let output = call(url, r#"{"item":"tea"}"#);
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.contains(r#""id":"1""#), "{output}");
    assert_eq!(call(url, "{}").status.code(), Some(1));
    let lenient = Serving::start(&[&listen[..], &["--no-validation"]].concat());
    let output = call(lenient.url("http"), "{}");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[cfg(unix)]
#[test]
fn all_listeners_at_once() {
    let folder = Folder::new();
    let (http, scgi) = (folder.file("http.sock"), folder.file("scgi.sock"));
    let (http_url, scgi_url) = (format!("http+unix://{http}"), format!("scgi+unix://{scgi}"));
    let mut serving = Serving::start(&[
        "--listen",
        "http://127.0.0.1:0",
        "scgi://127.0.0.1:0",
        &http_url,
        &scgi_url,
        "--socket-mode",
        "660",
    ]);
    assert_eq!(serving.urls.len(), 4);
    for url in &serving.urls {
        answers(url, &[]);
    }
    let mode = |path: &str| {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(&http), mode(&scgi)), (0o660, 0o660));
    // A second server on the same socket fails and does not affect the first.
    let error = refused(&["serve", "--listen", &http_url]);
    assert!(error.contains("another process listens there"), "{error}");
    answers(&http_url, &[]);
    // The server removes its socket files.
    let id = serving.child.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    assert!(serving.child.wait().unwrap().success());
    assert!(!Path::new(&http).exists() && !Path::new(&scgi).exists());
}

#[cfg(unix)]
#[test]
fn only_a_socket() {
    let folder = Folder::new();
    let url = format!("http+unix://{}", folder.file("a.sock"));
    let serving = Serving::start(&["--listen", &url]);
    answers(serving.url("http+unix"), &[]);
    // A path of XML-RPC may follow the path of the socket.
    let city = out(&[
        "call",
        &format!("{url}/RPC2"),
        "GetCity",
        OSLO,
        "-p",
        "xmlRpc",
    ]);
    assert!(city.contains("Oslo"), "{city}");
}

#[test]
fn https_with_client_certificates() {
    let folder = Folder::new();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.file("server.pem"), folder.file("server.key"));
    fs::write(&cert, own.cert.pem()).unwrap();
    fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    let both = folder.file("both.pem");
    fs::write(&both, own.cert.pem() + &own.signing_key.serialize_pem()).unwrap();

    let listen = ["--listen", "https://127.0.0.1:0", "--cert"];
    for files in [&[&*cert, "--key", &key][..], &[&*both]] {
        let serving = Serving::start(&[&listen, files].concat());
        let url = serving.url("https").replace("127.0.0.1", "localhost");
        answers(&url, &["--cacert", &cert]);
        // Without --cacert, the error suggests options.
        for call in [
            &["xmlrpc", &url, "--list"][..],
            &["call", &url, "GetCity", OSLO],
        ] {
            let failed = polywire(call);
            let text = String::from_utf8(failed.stderr).unwrap();
            assert_eq!(failed.status.code(), Some(3), "{text}");
            let options = ["--cacert FILE", "--pin SHA256"];
            assert!(options.iter().all(|option| text.contains(option)), "{text}");
            // The certificate must be for this host and signed by --cacert.
            let other = url.replace("localhost", "127.0.0.1");
            let wrong_host = call.iter().map(|part| match *part == url {
                true => &*other,
                false => part,
            });
            let wrong_host: Vec<&str> = wrong_host.chain(["--cacert", &cert]).collect();
            let failed = polywire(&wrong_host);
            let text = String::from_utf8(failed.stderr).unwrap();
            assert_eq!(failed.status.code(), Some(3), "{text}");
            assert!(!text.contains("--cacert"), "{text}");
            let pinned = polywire(&[call, &["--pin", &"ab".repeat(32)]].concat());
            let text = String::from_utf8(pinned.stderr).unwrap();
            assert_eq!(pinned.status.code(), Some(3), "{text}");
            assert!(!text.contains("--cacert"), "{text}");
        }
    }
    let asks = [&cert, "--key", &key, "--client-ca", &cert];
    let serving = Serving::start(&[&listen, &asks[..]].concat());
    let url = serving.url("https").replace("127.0.0.1", "localhost");
    answers(&url, &["--cacert", &cert, "--cert", &both]);
    let stranger = polywire(&["xmlrpc", &url, "--list", "--cacert", &cert]);
    assert_eq!(stranger.status.code(), Some(3));

    // Frames over TLS have their own URL scheme.
    let listen = ["--listen", "tcp+tls://127.0.0.1:0", "--cert", &both];
    let serving = Serving::start(&listen);
    let url = serving.url("tcp+tls").replace("127.0.0.1", "localhost");
    let city = out(&["call", &url, "GetCity", OSLO, "--cacert", &cert]);
    assert!(city.contains(r#""name":"Oslo""#), "{city}");
    let short = ["-b", "5", "-d", "100", "--warm-up", "0", "--json", "-q"];
    let secured = ["bench", &url, "GetCity", OSLO, "--cacert", &cert];
    let report = out(&[&secured[..], &short].concat());
    assert!(report.contains("\"success_rate\": 1.0,"), "{report}");
    let stranger = polywire(&["call", &url, "GetCity", OSLO]);
    assert_eq!(stranger.status.code(), Some(3));

    for (arguments, part) in [
        (
            &["--listen", "https://127.0.0.1:0"][..],
            "--cert FILE --key FILE",
        ),
        (
            &["--listen", "http://127.0.0.1:0", "--cert", &cert],
            "--cert requires a --listen URL",
        ),
        (
            &["--listen", "https://127.0.0.1:0", "--cert", &cert],
            "server.pem",
        ),
        (
            &["--listen", "https://127.0.0.1:0", "--cert", "/no/such"],
            "/no/such",
        ),
        (
            &["--listen", "ftp://127.0.0.1:0"],
            "expected http://HOST:PORT",
        ),
        (
            &["--listen", "http+unix://a.sock"],
            "expected http+unix:///PATH",
        ),
        (
            &["--listen", "http+unix:///no/such/folder/a.sock"],
            "/no/such/folder",
        ),
        (&["--socket-mode", "9"], "octal"),
    ] {
        let error = refused(&[&["serve"], arguments].concat());
        assert!(error.contains(part), "{arguments:?}: {error}");
    }
}

#[test]
fn xmlrpc_introspection() {
    let serving = Serving::start(&["--listen", "http://127.0.0.1:0"]);
    let url = serving.url("http");
    let names = out(&["xmlrpc", url, "--list"]);
    for name in ["GetCity", "weather.forecast", "system.multicall"] {
        assert!(names.lines().any(|line| line == name), "{names}");
    }
    // The signature comes from the shapes, the help from the documentation.
    let about = out(&["xmlrpc", url, "--describe", "GetCity"]);
    assert!(
        about.starts_with("GetCity(struct) -> struct\n    "),
        "{about}"
    );
    let about = out(&["xmlrpc", url, "--describe", "weather.forecast"]);
    assert!(
        about.contains("weather.forecast(string, int, string) -> struct\n"),
        "{about}"
    );
    let capabilities = out(&["xmlrpc", url, "system.getCapabilities"]);
    assert!(capabilities.contains("faults_interop"), "{capabilities}");
    // Other protocols at the same path do not support introspection.
    for protocol in ["awsQuery", "awsJson1_0"] {
        let city = out(&["call", url, "GetCity", OSLO, "-p", protocol]);
        assert!(city.contains("Oslo"), "{city}");
    }

    let silent = Serving::start(&["--listen", "http://127.0.0.1:0", "--no-introspection"]);
    let list = polywire(&["xmlrpc", silent.url("http"), "--list"]);
    assert_eq!(list.status.code(), Some(1));

    // With a mount, introspection is available only there.
    let mount = ["--listen", "http://127.0.0.1:0", "--mount", "xmlRpc=/old"];
    let mounted = Serving::start(&mount);
    let url = mounted.url("http");
    let names = out(&["xmlrpc", &format!("{url}/old/RPC2"), "--list"]);
    assert!(names.contains("system.multicall"), "{names}");
    let elsewhere = polywire(&["xmlrpc", url, "--list"]);
    assert!(!elsewhere.status.success());
}

/// Sends bytes and returns everything that the server sends.
fn exchange(url: &str, bytes: &str) -> String {
    let address = url.split_once("://").unwrap().1;
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    String::from_utf8_lossy(&said).into_owned()
}

/// Returns the status of a call without body from a browser, for a page of another origin.
fn status_for_page(url: &str) -> String {
    let request = "POST /service/Weather/operation/ListCities HTTP/1.1\r\nHost: here\r\n\
        Smithy-Protocol: rpc-v2-cbor\r\nAccept: application/cbor\r\nConnection: close\r\n\
        Sec-Fetch-Site: cross-site\r\nOrigin: https://app.example\r\n\r\n";
    exchange(url, request).split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn pages_of_other_origins_are_rejected() {
    let listen = ["--listen", "http://127.0.0.1:0"];
    for (arguments, status) in [
        (&[][..], "403"),
        (&["--allow-origin", "https://other.example"], "403"),
        (
            &[
                "--allow-origin",
                "https://other.example",
                "https://app.example",
            ],
            "200",
        ),
        (&["--allow-origin", "any"], "200"),
    ] {
        let serving = Serving::start(&[&listen, arguments].concat());
        let url = serving.url("http");
        assert_eq!(status_for_page(url), status, "{arguments:?}");
        // Other clients are not affected.
        answers(url, &[]);
    }
    let error = refused(&["serve", "--allow-origin", "app.example"]);
    assert!(error.contains("SCHEME://HOST"), "{error}");
}

#[test]
fn multicall_can_be_disabled() {
    let listen = ["--listen", "http://127.0.0.1:0"];
    for (arguments, there) in [(&[][..], true), (&["--no-multicall"], false)] {
        let serving = Serving::start(&[&listen, arguments].concat());
        let names = out(&["xmlrpc", serving.url("http"), "--list"]);
        let found = names.lines().any(|line| line == "system.multicall");
        assert_eq!(found, there, "{names}");
        assert!(names.contains("system.listMethods"), "{names}");
    }
}

/// Remote callers cannot be tested on one machine. Checks only that the flag is accepted.
#[test]
fn trust_remote_scgi_is_a_flag() {
    let serving = Serving::start(&["--listen", "scgi://127.0.0.1:0", "--trust-remote-scgi"]);
    answers(serving.url("scgi"), &[]);
}

/// The JSON of a fault contains its kind and members with every protocol.
#[test]
fn faults_are_printed_as_json() {
    let serving = Serving::start(&["--listen", "http://127.0.0.1:0"]);
    let url = serving.url("http");
    for protocol in ["restJson1", "rpcv2Cbor", "awsJson1_0", "xmlRpc"] {
        let called = polywire(&["call", url, "GetCity", r#"{"cityId":"x"}"#, "-p", protocol]);
        assert_eq!(called.status.code(), Some(1));
        let said = String::from_utf8(called.stdout).unwrap();
        let details = r#""details":{"message":"there is no city \"x\"","resourceKind":"city","resourceId":"x"}}}"#;
        assert!(said.starts_with("{\"fault\":{"), "{protocol}: {said}");
        assert!(
            said.contains(r#""kind":"NoSuchResource","details":"#),
            "{protocol}: {said}"
        );
        assert!(
            said.ends_with(&format!("{details}\n")),
            "{protocol}: {said}"
        );
        let words = String::from_utf8(called.stderr).unwrap();
        assert!(
            words.starts_with("NoSuchResource: there is no city"),
            "{words}"
        );
    }
    let nowhere = polywire(&["call", "http://127.0.0.1:1", "GetCity", "{}"]);
    assert_eq!(nowhere.status.code(), Some(3));
    let said = String::from_utf8(nowhere.stdout).unwrap();
    assert!(
        said.starts_with("{\"error\":{\"message\":\"no model at"),
        "{said}"
    );
}

/// Calls and requests for the model send the user. Errors do not contain the password.
#[test]
fn calls_and_model_requests_send_users() {
    let serving = Serving::start(&["--listen", "http://127.0.0.1:0"]);
    let url = serving.url("http");
    let call = ["call", url, "GetCity", OSLO, "--show-wire", "--user"];
    let called = polywire(&[&call[..], &["me:hunter2"]].concat());
    assert!(called.status.success());
    let wire = String::from_utf8(called.stderr).unwrap();
    assert!(wire.contains("> authorization: ***\n"), "{wire}");
    assert!(!wire.contains("hunter2"), "{wire}");
    let error = refused(&[&call[..], &["me"]].concat());
    assert!(error.contains("--password-file"), "{error}");
    let error = refused(&["call", "http://me:hunter2@localhost:1", "GetCity"]);
    assert!(
        error.contains("use --user instead") && !error.contains("hunter2"),
        "{error}"
    );
}

/// Passwords and tokens are checked over HTTP and over frames.
#[test]
fn callers_are_authenticated() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let users = file("users", "# people\n\nada:correct: horse\n");
    let tokens = file("tokens", "job:tok123\n");
    let password = file("password", "correct: horse\n");
    let serving = Serving::start(&[
        "--listen",
        "tcp://127.0.0.1:0",
        "--users",
        &users,
        "--tokens",
        &tokens,
    ]);
    let frames = serving.url("tcp");
    let http = frames.replacen("tcp", "http", 1);
    let call = ["GetCity", r#"{"cityId":"oslo"}"#];
    for url in [frames, &http] {
        let refused = polywire(&["call", url, call[0], call[1]]);
        assert!(!refused.status.success(), "{url}");
        let as_user = ["--user", "ada", "--password-file", &password];
        let as_job = ["--header", "authorization: Bearer tok123"];
        for credentials in [&as_user[..], &as_job] {
            let arguments = [&["call"], credentials, &[url, call[0], call[1]]].concat();
            assert!(out(&arguments).contains("Oslo"), "{url} {credentials:?}");
        }
    }
    for (name, text) in [("none", ""), ("no secret", "ada\n"), ("no name", ":x\n")] {
        let path = file(name, text);
        let output = polywire(&["serve", "--users", &path]);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("NAME:SECRET"), "{err}");
    }
}

/// The printed example commands work with authentication after their placeholders are replaced.
#[cfg(unix)]
#[test]
fn example_commands_send_credentials() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pairs");
    fs::write(&file, "ada:horse\n").unwrap();
    let file = file.to_str().unwrap();
    for (option, curl, program, secret) in [
        (
            ["--users", file],
            "-u NAME:PASSWORD",
            "--user NAME:PASSWORD",
            ("NAME:PASSWORD", "ada:horse"),
        ),
        (
            ["--tokens", file],
            "-H 'authorization: Bearer TOKEN'",
            "--header 'authorization: Bearer TOKEN'",
            ("TOKEN", "horse"),
        ),
    ] {
        let arguments = [&["--listen", "tcp://127.0.0.1:0"], &option[..]].concat();
        let mut serving = Serving::start(&arguments);
        let lines = serving.lines();
        let (of_curl, own): (Vec<_>, Vec<_>) =
            lines.iter().partition(|line| line.starts_with("curl "));
        assert!(!of_curl.is_empty() && own.len() > 1, "{lines:?}");
        assert!(of_curl.iter().all(|line| line.contains(curl)), "{lines:?}");
        for line in own {
            assert!(line.contains(program), "{line}");
            let line = line.replace(secret.0, secret.1);
            let output = Command::new("sh").args(["-c", &line]).output().unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
        }
    }
    // No example command can send these credentials.
    let mut serving = Serving::start(&["--listen", "tcp://127.0.0.1:0", "--allow-uid", "0"]);
    assert_eq!(serving.lines(), Vec::<String>::new());
}
