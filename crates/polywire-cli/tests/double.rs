//! Tests of `polywire serve` as a test double, through the real program.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

const MODEL: &str = r#"
    $version: "2"
    namespace example
    use aws.api#service
    use aws.protocols#restJson1

    @restJson1
    @service(sdkId: "Carts")
    service Carts { version: "1", operations: [CreateCart, GetCart, ListCarts] }
    @http(method: "POST", uri: "/carts")
    operation CreateCart {
        input := { @required CartName: String, Colour: String }
        output := { CartArn: String }
    }
    @readonly
    @http(method: "GET", uri: "/carts/{CartName}")
    operation GetCart {
        input := { @required @httpLabel CartName: String }
        output := { CartName: String, Colour: String }
        errors: [NoSuchCart]
    }
    @readonly
    @http(method: "GET", uri: "/carts")
    operation ListCarts { output := { Carts: CartList } }
    list CartList { member: Cart }
    structure Cart { CartName: String }
    @error("client") @httpError(404) structure NoSuchCart { Message: String }
"#;

const OTHER: &str = r#"
    $version: "2"
    namespace example.other
    use aws.api#service
    use aws.protocols#restJson1

    @restJson1
    @service(sdkId: "Other")
    service Other { version: "1", operations: [GetOther] }
    @readonly
    @http(method: "GET", uri: "/other")
    operation GetOther { output := { Other: String } }
"#;

/// A folder with the models.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let own = Self(TempDir::new().unwrap());
        fs::write(own.file("carts.smithy"), MODEL).unwrap();
        fs::write(own.file("other.smithy"), OTHER).unwrap();
        own
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// A running double, killed on drop.
struct Serving {
    child: Child,
    address: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_polywire"))
            .args(["serve", "--workers", "2", "--listen", "http://127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line.trim().rsplit_once("http://").unwrap().1.to_owned();
        // The rest of the banner, so that the program can write it.
        std::thread::spawn(move || out.read_to_string(&mut String::new()));
        Self { child, address }
    }

    /// The status and body of a response.
    #[track_caller]
    fn request(&self, line: &str, headers: &str, body: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!(
            "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        socket.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap();
        (status.parse().unwrap(), body.to_owned())
    }

    #[track_caller]
    fn get(&self, path: &str) -> (u16, String) {
        self.request(&format!("GET {path}"), "", "")
    }

    #[track_caller]
    fn create(&self, name: &str) {
        let body = format!(r#"{{"CartName":"{name}","Colour":"red"}}"#);
        let json = "content-type: application/json\r\n";
        let (status, text) = self.request("POST /carts", json, &body);
        assert_eq!(status, 200, "{text}");
    }
}

fn polywire(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polywire"));
    command.args(arguments).output().unwrap()
}

/// The standard error of a command that fails with status 2.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = polywire(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// All workers share the state, and it survives the death of the program.
#[test]
fn the_state_survives_in_a_file() {
    let folder = Folder::new();
    let (model, state) = (folder.file("carts.smithy"), folder.file("state"));
    let serving = Serving::start(&["--model", &model, "--state", &state]);
    assert_eq!(serving.get("/carts/a").0, 404);
    for name in ["a", "b"] {
        serving.create(name);
    }
    for _ in 0..10 {
        let expected = r#"{"CartName":"a","Colour":"red"}"#.to_owned();
        assert_eq!(serving.get("/carts/a"), (200, expected));
    }
    let error = refused(&[
        "serve",
        "--model",
        &model,
        "--state",
        &state,
        "--listen",
        "http://127.0.0.1:0",
    ]);
    assert!(error.contains("another program uses this file"), "{error}");
    // Killed, not stopped.
    drop(serving);

    let serving = Serving::start(&["--model", &model, "--state", &state]);
    let expected = r#"{"Carts":[{"CartName":"a"},{"CartName":"b"}]}"#.to_owned();
    assert_eq!(serving.get("/carts"), (200, expected));
    assert_eq!(serving.request("DELETE /_polywire/state", "", "").0, 200);
    assert_eq!(serving.get("/carts"), (200, r#"{"Carts":[]}"#.to_owned()));
    // Web pages of other origins may not change it.
    let foreign = "origin: https://other.example\r\n";
    assert_eq!(
        serving.request("DELETE /_polywire/state", foreign, "").0,
        403
    );
}

#[test]
fn calls_are_stubbed_recorded_and_replayed() {
    let folder = Folder::new();
    let (model, stubs) = (folder.file("carts.smithy"), folder.file("stubs.json"));
    let calls = folder.file("calls.jsonl");
    let stub = r#"[{"operation":"GetCart","match":{"CartName":"s"},
        "response":{"output":{"Colour":"blue"}}}]"#;
    fs::write(&stubs, stub).unwrap();
    let serving = Serving::start(&["--model", &model, "--stubs", &stubs, "--record", &calls]);
    let blue = (200, r#"{"Colour":"blue"}"#.to_owned());
    assert_eq!(serving.get("/carts/s"), blue);
    assert_eq!(serving.get("/carts/a").0, 404);
    let check = r#"{"operation":"GetCart","times":2}"#;
    assert_eq!(serving.request("POST /_polywire/verify", "", check).0, 200);
    let check = r#"{"operation":"CreateCart"}"#;
    assert_eq!(serving.request("POST /_polywire/verify", "", check).0, 409);
    drop(serving);

    let lines = fs::read_to_string(&calls).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    let serving = Serving::start(&["--model", &model, "--replay", &calls]);
    assert_eq!(serving.get("/carts/s"), blue);

    fs::write(
        &stubs,
        r#"[{"operation":"GetCart","response":{"output":{"Color":"blue"}}}]"#,
    )
    .unwrap();
    let error = refused(&["serve", "--model", &model, "--stubs", &stubs]);
    assert!(
        error.contains("stubs.json: [0].response.output: "),
        "{error}"
    );
    assert!(error.contains("Color"), "{error}");
}

#[test]
fn several_services_share_a_port() {
    let folder = Folder::new();
    let (carts, other) = (folder.file("carts.smithy"), folder.file("other.smithy"));
    let stubs = folder.file("stubs.json");
    let stub = r#"[{"operation":"GetOther","response":{"output":{"Other":"stub"}}},
        {"service":"Carts","operation":"GetCart","response":{"error":"NoSuchCart"}}]"#;
    fs::write(&stubs, stub).unwrap();
    let serving = Serving::start(&["--model", &carts, &other, "--stubs", &stubs]);
    assert_eq!(
        serving.get("/other"),
        (200, r#"{"Other":"stub"}"#.to_owned())
    );
    assert_eq!(serving.get("/carts/a").0, 404);
    let (_, state) = serving.get("/_polywire/state");
    assert_eq!(
        state.trim(),
        r#"{"example#Carts":{},"example.other#Other":{}}"#
    );
    let (_, index) = serving.get("/_polywire/");
    assert!(
        index.contains("GetOther") && index.contains("GetCart"),
        "{index}"
    );

    let one = Serving::start(&["--model", &carts, &other, "--service", "Other"]);
    assert_eq!(one.get("/carts/a").0, 404);
    assert_eq!(one.get("/other").0, 200);
}

#[test]
fn the_options_of_doubles() {
    let folder = Folder::new();
    let model = folder.file("carts.smithy");
    let output = polywire(&["serve", "--model", &model, "--explain-state"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(text.starts_with("Cart, by name\n  CreateCart "), "{text}");
    for option in [
        &["--state", "x"][..],
        &["--stateless"],
        &["--explain-state"],
        &["--stubs", "x"],
    ] {
        let error = refused(&[&["serve"], option].concat());
        assert!(
            error.contains(&format!("{} requires --model", option[0])),
            "{error}"
        );
    }
    let serving = Serving::start(&["--model", &model, "--stateless"]);
    assert_eq!(serving.get("/carts/a").0, 200);
}
