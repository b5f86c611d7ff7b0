//! `polywire xmlrpc` as it is used: the program itself, against servers that answer from
//! a script and against Python's.
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it skips"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// The output of the program.
struct Said {
    code: i32,
    out: String,
    err: String,
}

fn polywire(arguments: &[&str]) -> Said {
    polywire_with(arguments, "", &[])
}

fn polywire_with(arguments: &[&str], input: &str, variables: &[(&str, &str)]) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_polywire"))
        .arg("xmlrpc")
        .args(arguments)
        .env_remove("POLYWIRE_PASSWORD")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The program may exit without reading its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Serves these response bodies, one per request, and returns the requests.
fn scripted(answers: Vec<String>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut answers = answers.into_iter();
        // The program may send two requests over one connection.
        while let Ok((mut stream, _)) = listener.accept() {
            while let Some(request) = read(&stream) {
                let Some(body) = answers.next() else { return };
                let _ = sender.send(request);
                let length = body.len();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
                stream.write_all((head + &body).as_bytes()).unwrap();
            }
        }
    });
    (url, receiver)
}

fn read(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.to_ascii_lowercase();
    let length = length.split_once("content-length: ")?.1;
    let length = length.split_once("\r\n")?.0.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).ok()?)
}

fn result(value: &str) -> String {
    format!(
        "<methodResponse><params><param><value>{value}</value></param></params></methodResponse>"
    )
}

fn unused_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

#[test]
fn results_are_json() {
    let value = "<struct><member><name>n</name><value><i8>5</i8></value></member>\
        <member><name>b</name><value><base64>aGk=</base64></value></member>\
        <member><name>t</name><value><dateTime.iso8601>20261122T10:00:00</dateTime.iso8601>\
        </value></member></struct>";
    let (url, requests) = scripted(vec![result(value)]);
    let said = polywire(&[&url, "m", "web", "3", "3.5", "[true, null]", "\"3\""]);
    assert_eq!(said.err, "");
    let json = r#"{"n":5,"b":"aGk=","t":"2026-11-22T10:00:00Z"}"#;
    assert_eq!((said.code, said.out), (0, format!("{json}\n")));
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /RPC2 HTTP/1.1\r\n"), "{request}");
    let parameters: String = [
        "<string>web</string>",
        "<int>3</int>",
        "<double>3.5</double>",
        "<array><data><value><boolean>1</boolean></value><value><nil/></value></data></array>",
        "<string>3</string>",
    ]
    .map(|value| format!("<param><value>{value}</value></param>"))
    .concat();
    assert!(
        request.contains(&format!("<params>{parameters}</params>")),
        "{request}"
    );
}

/// Torrent clients send hashes, some of which look like numbers.
#[test]
fn strings_that_look_like_numbers() {
    for arguments in [
        &["--strings", "m", "1234567", "38F7"][..],
        &["m", "s/1234567", "s/38F7"],
    ] {
        let (url, requests) = scripted(vec![result("<int>1</int>")]);
        let said = polywire(&[&[&*url], arguments].concat());
        assert_eq!((said.code, &*said.err), (0, ""));
        let request = requests.recv().unwrap();
        let parameters: String = ["1234567", "38F7"]
            .map(|text| format!("<param><value><string>{text}</string></value></param>"))
            .concat();
        assert!(request.contains(&parameters), "{request}");
    }
}

/// Errors are printed as text on standard error, and as JSON on standard output.
#[test]
fn faults_are_printed_with_their_code() {
    let more = fault(-32601, "no such \"m\"").replace(
        "</struct>",
        "<member><name>at</name><value><int>3</int></value></member></struct>",
    );
    for (answer, out, err) in [
        (
            fault(10, "BAD_NAME: web"),
            r#"{"fault":{"code":10,"message":"BAD_NAME: web","kind":"fault"}}"#,
            "fault 10: BAD_NAME: web\n",
        ),
        (
            more,
            r#"{"fault":{"code":-32601,"message":"no such \"m\"","kind":"unknown_method","value":{"faultCode":-32601,"faultString":"no such \"m\"","at":3}}}"#,
            "fault -32601: no such \"m\"\n{\"faultCode\"",
        ),
    ] {
        let (url, _) = scripted(vec![answer]);
        let said = polywire(&[&url, "m"]);
        assert_eq!((said.code, &*said.out), (1, &*format!("{out}\n")));
        assert!(said.err.starts_with(err), "{}", said.err);
    }
}

#[test]
fn invalid_responses_are_printed_as_json() {
    let (url, _) = scripted(vec!["<html>".to_owned()]);
    for (url, kind) in [
        (&*url, "answer"),
        (&format!("http://{}", unused_address()), "transport"),
    ] {
        let said = polywire(&[url, "m"]);
        assert_eq!(said.code, 3);
        let start = format!("{{\"error\":{{\"message\":\"{url}");
        let end = format!(",\"kind\":\"{kind}\"}}}}\n");
        assert!(said.out.starts_with(&start), "{}", said.out);
        assert!(said.out.ends_with(&end), "{}", said.out);
        assert!(
            said.err.starts_with(&format!("error: {url}")),
            "{}",
            said.err
        );
    }
    // Commands that print lines do not print errors as JSON.
    let (url, _) = scripted(vec![fault(1, "no")]);
    let said = polywire(&[&url, "--list"]);
    assert_eq!((said.code, &*said.out), (1, ""));
}

#[test]
fn invalid_arguments_are_not_sent() {
    let url = format!("http://{}", unused_address());
    for (arguments, part) in [
        (&["m", "{x: 1}"][..], "argument 1, `{x: 1}`, is not JSON"),
        (&["m", "web", "2026-11-22"], "use 's/2026-11-22'"),
        (
            &["m", "i/38F7"],
            "argument 1, `i/38F7`: expected a 32-bit integer",
        ),
        (&["--strings", "--multicall", "-"], "cannot be used with"),
        (&["m", "\u{1}"], "XML-RPC"),
        (&[], "required"),
        (&["--list", "m"], "cannot be used with"),
        (&["--lenient=odd", "m"], "odd_dates"),
        (&["--timeout", "0", "m"], "--timeout"),
        (&["--user", "me", "m"], "POLYWIRE_PASSWORD"),
        (
            &["--password-file", "/no/such/file", "--user", "me", "m"],
            "/no/such/file",
        ),
        (&["--password-file", "x", "m"], "--user USER"),
        (&["-H", "@/no/such/file", "m"], "/no/such/file"),
        (&["--cacert", "/no/such/file", "m"], "/no/such/file"),
        (&["--pin", "12", "m"], "--pin"),
        (&["--pin", "12", "--insecure", "m"], "cannot be used with"),
        (&["--proxy", "ftp://x", "m"], "proxy"),
        (&["--multicall", "/no/such/file"], "/no/such/file"),
    ] {
        let said = polywire(&[&[&*url], arguments].concat());
        assert_eq!(
            (said.code, &*said.out),
            (2, ""),
            "{arguments:?}: {}",
            said.err
        );
        assert!(said.err.contains(part), "{arguments:?}: {}", said.err);
    }
    let said = polywire(&["localhost:9001", "m"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("no scheme"), "{}", said.err);
}

#[test]
fn unreachable_server() {
    let address = unused_address();
    let said = polywire(&[&format!("http://me:hunter2@{address}"), "m"]);
    assert_eq!(said.code, 3);
    assert!(!said.out.contains("hunter2"), "{}", said.out);
    let start = format!("error: http://***@{address}: connecting to {address}: ");
    assert!(said.err.starts_with(&start), "{}", said.err);
}

#[test]
fn raw_shows_both_ways_without_secrets() {
    let (url, requests) = scripted(vec![result("<int>1</int>")]);
    let variables = [("POLYWIRE_PASSWORD", "hunter2")];
    let arguments = [&*url, "--raw", "--user", "me", "-H", "x-own: 1", "m"];
    let said = polywire_with(&arguments, "", &variables);
    assert_eq!((said.code, &*said.out), (0, "1\n"));
    for part in [
        "> x-own: 1\n",
        "> authorization: ***\n",
        "> <?xml version=\"1.0\"?><methodCall><methodName>m</methodName>",
        "< 200 OK\n",
        "< <methodResponse>",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let secret = "bWU6aHVudGVyMg==";
    assert!(
        requests
            .recv()
            .unwrap()
            .contains(&format!("authorization: Basic {secret}\r\n"))
    );
    assert!(!said.err.contains(secret) && !said.err.contains("hunter2"));
}

#[test]
fn raw_hides_secrets_of_headers() {
    let (url, requests) = scripted(vec![result("<int>1</int>")]);
    let secret = "Authorization: Bearer hunter2";
    let said = polywire(&[&url, "--raw", "-H", secret, "-H", "Cookie: s=hunter2", "m"]);
    assert_eq!((said.code, &*said.out), (0, "1\n"));
    assert!(said.err.contains("> cookie: ***\n"), "{}", said.err);
    assert!(!said.err.contains("hunter2"), "{}", said.err);
    assert!(requests.recv().unwrap().contains("Bearer hunter2"));
}

#[test]
fn control_characters_are_escaped() {
    let (url, _) = scripted(vec![result("<string>\u{9b}31mred\u{7f}\u{a0}</string>")]);
    let said = polywire(&[&url, "m"]);
    let expected = "\"\\u009b31mred\\u007f\u{a0}\"\n";
    assert_eq!((said.code, &*said.out), (0, expected), "{}", said.err);
}

fn fault(code: i32, text: &str) -> String {
    format!(
        "<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>{code}\
         </int></value></member><member><name>faultString</name><value><string>{text}</string>\
         </value></member></struct></value></fault></methodResponse>"
    )
}

#[test]
fn results_before_a_lost_connection_are_printed() {
    // 250 calls are three requests. The server closes the connection at the second.
    let one = "<value><array><data><value><int>1</int></value></data></array></value>";
    let first = result(&format!("<array><data>{}</data></array>", one.repeat(100)));
    let (url, _) = scripted(vec![first]);
    let calls = "[\"m\"]\n".repeat(250);
    let said = polywire_with(&[&url, "--multicall", "-"], &calls, &[]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert_eq!(said.out.matches("{\"result\":1}").count(), 100);
    assert_eq!(said.out.matches("{\"error\":\"http://").count(), 100);
    assert_eq!(said.out.matches("{\"notSent\":true}").count(), 50);
    assert!(said.err.starts_with("error: http://"), "{}", said.err);
}

#[test]
fn unknown_methods_differ_from_missing_introspection() {
    for (text, hint) in [
        ("method nothing not found", false),
        ("method system.methodSignature not found", true),
    ] {
        let (url, _) = scripted(vec![fault(-32601, text), fault(-32601, text)]);
        let said = polywire(&[&url, "--describe", "nothing"]);
        assert_eq!(said.code, 1);
        assert!(said.err.contains(text), "{}", said.err);
        assert_eq!(
            said.err.contains("does not support introspection"),
            hint,
            "{}",
            said.err
        );
    }
}

#[test]
fn logs_in_files_have_no_colours() {
    let (url, _) = scripted(vec![result("<int>1</int>")]);
    let said = polywire_with(&[&url, "m"], "", &[("POLYWIRE_LOG", "trace")]);
    assert_eq!(said.code, 0);
    assert!(
        said.err.contains("TRACE") || said.err.contains("DEBUG"),
        "{}",
        said.err
    );
    assert!(!said.err.contains('\u{1b}'), "{}", said.err);
}

#[test]
fn leniencies_accept_invalid_responses() {
    let red = result("<string>\x1b[31mred</string>");
    let (url, _) = scripted(vec![red.clone(), red.clone(), red]);
    let said = polywire(&[&url, "m"]);
    assert_eq!(said.code, 3);
    let hint = "\n--lenient=control_characters accepts this response\n";
    assert!(said.err.ends_with(hint), "{}", said.err);
    for option in ["--lenient", "--lenient=control_characters"] {
        let said = polywire(&[&url, option, "m"]);
        assert_eq!((said.code, &*said.out), (0, "\"\\u001b[31mred\"\n"));
    }
}

/// Hints are printed only if the option would help.
#[test]
fn hints_only_options_that_help() {
    let date = |text: &str| result(&format!("<dateTime.iso8601>{text}</dateTime.iso8601>"));
    for (answer, option, hint) in [
        (result("<int>x</int>"), "--compact", None),
        (date("20260102"), "--compact", Some("odd_dates")),
        (
            date("20260102"),
            "--lenient=wide_ints",
            Some("odd_dates,wide_ints"),
        ),
        (
            date("00000000T00:00:00Z"),
            "--lenient=wide_ints",
            Some("wide_ints,zero_dates"),
        ),
        (date("yesterday"), "--lenient", None),
    ] {
        let (url, _) = scripted(vec![answer]);
        let said = polywire(&[&url, option, "m"]);
        assert_eq!(said.code, 3, "{}", said.err);
        let line = hint.map(|names| format!("--lenient={names} accepts this response"));
        let told = said.err.lines().find(|line| line.starts_with("--"));
        assert_eq!(told, line.as_deref(), "{}", said.err);
    }
    // A response to multicall in supervisord's form.
    let bare = "<array><data><value><int>1</int></value><value><int>2</int></value></data></array>";
    let (url, _) = scripted(vec![result(bare)]);
    let said = polywire_with(&[&url, "--multicall", "-"], "[\"m\"]\n[\"m\"]\n", &[]);
    let hint = "--lenient=bare_multicall accepts this response\n";
    assert!(said.err.ends_with(hint), "{}", said.err);
}

#[test]
fn signatures_are_shown() {
    let array = |items: &[&str]| {
        let items = items.iter().map(|item| format!("<value>{item}</value>"));
        format!("<array><data>{}</data></array>", items.collect::<String>())
    };
    let types = array(&["int", "string", "array"]);
    let several = array(&[&types, &array(&["int"])]);
    let both = "m(string, array) -> int\nm() -> int\n";
    for (signatures, lines) in [
        (&*several, both),
        // supervisord has a single signature, without a list around it.
        (&types, "m(string, array) -> int\n"),
        ("undef", "m: the server does not publish a signature\n"),
    ] {
        let (url, _) = scripted(vec![result(signatures), result("Helps.\n\n  Much.\n")]);
        let said = polywire(&[&url, "--describe", "m"]);
        let expected = format!("{lines}    Helps.\n\n      Much.\n");
        assert_eq!((said.code, said.out), (0, expected), "{}", said.err);
    }
}

/// Returns the user and password of a request.
fn user_of(request: &str) -> String {
    let value = request.split_once("authorization: Basic ").unwrap().1;
    let value = value.split_once("\r\n").unwrap().0;
    let pair = polywire::text::base64::decode(value.as_bytes()).unwrap();
    String::from_utf8(pair.as_ref().to_vec()).unwrap()
}

#[test]
fn passwords_come_from_files_and_variables() {
    let folder = std::env::temp_dir().join(format!("polywire-secrets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, headers) = (folder.join("password"), folder.join("headers"));
    std::fs::write(&file, "f:1 \u{f6}\n").unwrap();
    std::fs::write(&headers, "Authorization: Basic bWU6aA==\n\nX-Own: 1\n").unwrap();
    let at_headers = format!("@{}", headers.display());
    let file = file.to_str().unwrap();
    let (url, requests) = scripted(vec![result("<int>1</int>"); 5]);
    let me = url.replace("http://", "http://me@");
    let variable = [("POLYWIRE_PASSWORD", "v")];
    for (arguments, variables, user) in [
        (
            &[&*url, "--user", "me", "--password-file", file, "m"][..],
            &variable[..],
            "me:f:1 \u{f6}",
        ),
        (&[&*me, "--password-file", file, "m"], &[], "me:f:1 \u{f6}"),
        (&[&*me, "m"], &variable, "me:v"),
        // A token as user, without a terminal for a prompt.
        (&[&*me, "m"], &[], "me:"),
        (&[&*url, "-H", &at_headers, "m"], &[], "me:h"),
    ] {
        let said = polywire_with(arguments, "", variables);
        assert_eq!((said.code, &*said.out), (0, "1\n"), "{}", said.err);
        assert_eq!(user_of(&requests.recv().unwrap()), user, "{arguments:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// On a terminal, the program prompts for the password without echo.
#[test]
fn prompts_on_a_terminal() {
    const TERMINAL: &str = r#"
import os, pty, sys, termios, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
typed = False
while True:
    try:
        some = os.read(terminal, 1000)
    except OSError:
        break
    if not some:
        break
    seen += some
    if not typed and seen.endswith(b": "):
        typed = True
        # What is typed before the echo is off is thrown away.
        while termios.tcgetattr(terminal)[3] & termios.ECHO:
            time.sleep(0.001)
        os.write(terminal, b"hunter2\n")
os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
"#;
    let (url, requests) = scripted(vec![result("<int>41</int>"); 2]);
    let me = url.replace("http://", "http://me@");
    for arguments in [&[&*url, "--user", "me", "m"][..], &[&*me, "m"]] {
        let python = Command::new("python3")
            .args(["-c", TERMINAL, env!("CARGO_BIN_EXE_polywire"), "xmlrpc"])
            .args(arguments)
            .env_remove("POLYWIRE_PASSWORD")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output();
        let Ok(python) = python else {
            eprintln!("skipped: python3 is missing");
            return;
        };
        let seen = String::from_utf8(python.stdout).unwrap();
        assert_eq!(seen, "Password of me: \r\n41\r\n");
        assert_eq!(user_of(&requests.recv().unwrap()), "me:hunter2");
    }
}

/// A running server of Python's standard library, stopped on drop.
struct Python {
    child: Child,
    url: String,
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn python() -> Option<Python> {
    const PROGRAM: &str = r#"
from xmlrpc.server import SimpleXMLRPCServer
from xmlrpc.client import Fault
server = SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False, allow_none=True)
server.register_introspection_functions()
server.register_multicall_functions()
def add(a, b):
    """Adds two numbers."""
    return a + b
def fail():
    raise Fault(10, "no")
server.register_function(add)
server.register_function(fail)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;
    let child = Command::new("python3")
        .args(["-c", PROGRAM])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: python3 is missing");
        return None;
    };
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let Ok(port) = line.trim().parse::<u16>() else {
        let _ = child.kill();
        let _ = child.wait();
        eprintln!("skipped: python3 starts no server");
        return None;
    };
    let url = format!("http://127.0.0.1:{port}");
    Some(Python { child, url })
}

#[test]
fn python_server() {
    let Some(server) = python() else { return };
    let url = &*server.url;
    let said = polywire(&[url, "add", "1", "-3"]);
    assert_eq!((said.code, &*said.out), (0, "-2\n"), "{}", said.err);
    let said = polywire(&[url, "--list"]);
    assert!(
        said.out.starts_with("add\nfail\nsystem.listMethods\n"),
        "{}",
        said.out
    );
    let said = polywire(&[url, "--describe", "add"]);
    let expected = "add: the server does not publish a signature\n    Adds two numbers.\n";
    assert_eq!((said.code, &*said.out), (0, expected));
    let said = polywire(&[url, "nothing"]);
    assert_eq!(said.code, 1);
    assert!(said.err.starts_with("fault 1: "), "{}", said.err);
    let calls = "[\"add\", 1, 2]\n[\"fail\"]\n";
    let said = polywire_with(&[url, "--multicall", "-"], calls, &[]);
    let expected =
        "[{\"result\":3},{\"fault\":{\"code\":10,\"message\":\"no\",\"kind\":\"fault\"}}]\n";
    assert_eq!((said.code, &*said.out), (1, expected), "{}", said.err);
    assert_eq!(said.err, "one call of the batch returned a fault\n");
    let calls = r#"[{"method": "add", "params": ["a", "b"]}]"#;
    let said = polywire_with(&[url, "--multicall", "-"], calls, &[]);
    assert_eq!((said.code, &*said.out), (0, "[{\"result\":\"ab\"}]\n"));
}
