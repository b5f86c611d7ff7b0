//! `polywire serve`: how it starts and stops.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use polywire_interop::{Case, Serving, polywire, run, signal, workspace};

fn get(url: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn polywire_serve_ends_well() {
    let _case = Case::begin("polywire_serve_ends_well");
    let serving = Serving::start(&[]);
    assert!(get(serving.url(), "/time").starts_with("HTTP/1.1 200"));
    assert!(
        serving
            .first_line
            .starts_with("example.weather#Weather 2026-11-01: 11 operations on http://127.0.0.1:"),
        "{}",
        serving.first_line
    );
    let moved = get(serving.url(), "/_polywire");
    assert!(moved.starts_with("HTTP/1.1 308"), "{moved}");
    assert!(moved.contains("location: /_polywire/\r\n"), "{moved}");
    assert!(get(serving.url(), "/_polywire/").starts_with("HTTP/1.1 200"));
    assert!(get(serving.url(), "/_polywires").starts_with("HTTP/1.1 404"));
    // An idle connection and an incomplete request do not delay the shutdown.
    let address = serving.url().trim_start_matches("http://").to_owned();
    let _idle = TcpStream::connect(&address).unwrap();
    let mut half = TcpStream::connect(&address).unwrap();
    half.write_all(b"GET /ti").unwrap();
    let asked = Instant::now();
    let (status, rest) = serving.terminate();
    assert_eq!(status.code(), Some(0));
    // Running calls would have 10 s.
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
    for protocol in ["restJson1", "rpcv2Cbor", "xmlRpc"] {
        assert!(rest.contains(protocol), "{rest}");
    }
    assert!(TcpStream::connect(&address).is_err());
}

/// All workers share a port that the system chose.
#[test]
fn polywire_serve_workers() {
    let _case = Case::begin("polywire_serve_workers");
    let serving = Serving::start(&["--workers", "4"]);
    assert_eq!(serving.urls.len(), 1);
    // The kernel distributes connections over the workers by their ports, so each worker gets some
    // of these.
    for _ in 0..64 {
        assert!(get(serving.url(), "/time").starts_with("HTTP/1.1 200"));
    }
    #[cfg(target_os = "linux")]
    {
        let port = serving.url().rsplit(':').next().unwrap();
        let port: u16 = port.parse().unwrap();
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let own = format!("0100007F:{port:04X} 00000000:0000 0A");
        let listeners = table.lines().filter(|line| line.contains(&own)).count();
        assert_eq!(listeners, 4, "listeners on port {port}");
    }
    assert_eq!(serving.terminate().0.code(), Some(0));
}

#[test]
fn polywire_serve_several_addresses() {
    let _case = Case::begin("polywire_serve_several_addresses");
    let any = "http://127.0.0.1:0";
    let serving = Serving::start_as_told(&["serve", "--listen", any, "--listen", any]);
    assert_eq!(serving.urls.len(), 2, "{}", serving.first_line);
    assert_ne!(serving.urls[0], serving.urls[1]);
    for url in &serving.urls {
        assert!(get(url, "/time").starts_with("HTTP/1.1 200"), "{url}");
    }
}

/// A second server cannot listen on the same port, where it would get half of the traffic.
#[test]
fn polywire_serve_has_its_address_alone() {
    let _case = Case::begin("polywire_serve_has_its_address_alone");
    for first in ["1", "2"] {
        let serving = Serving::start(&["--workers", first]);
        for second in ["1", "2"] {
            let ended = run(&["serve", "--workers", second, "--listen", serving.url()]);
            assert_eq!(ended.code, Some(2), "{first}, {second}: {}", ended.stderr);
            let expected = format!("cannot listen on {}: Address", serving.url());
            assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
        }
        assert!(get(serving.url(), "/time").starts_with("HTTP/1.1 200"));
    }
    // One server cannot listen on the same address twice either.
    let free = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for workers in ["1", "2"] {
        let ended = run(&[
            "serve",
            "--workers",
            workers,
            "--listen",
            &free,
            "--listen",
            &free,
        ]);
        assert_eq!(ended.code, Some(2), "{workers}: {}", ended.stderr);
        assert!(ended.stderr.contains("cannot listen"), "{}", ended.stderr);
    }
}

/// Connections that a server has closed, at its shutdown or before, do not prevent a new server on
/// its port.
#[test]
fn polywire_serve_restarts_at_once() {
    let _case = Case::begin("polywire_serve_restarts_at_once");
    let serving = Serving::start(&["--workers", "2"]);
    let url = serving.url().to_owned();
    let address = url.trim_start_matches("http://");
    let open: Vec<TcpStream> = (0..10)
        .map(|_| {
            assert!(get(&url, "/time").starts_with("HTTP/1.1 200"));
            TcpStream::connect(address).unwrap()
        })
        .collect();
    assert_eq!(serving.terminate().0.code(), Some(0));
    let serving = Serving::start_as_told(&["serve", "--workers", "2", "--listen", &url]);
    assert!(get(serving.url(), "/time").starts_with("HTTP/1.1 200"));
    drop(open);
}

/// All addresses stop at the same time, so that the time for running calls passes only once.
#[test]
fn polywire_serve_stops_all_addresses_at_once() {
    let _case = Case::begin("polywire_serve_stops_all_addresses_at_once");
    let any = "http://127.0.0.1:0";
    let mut serving = Serving::start_as_told(&["serve", "--workers", "1", "-l", any, any, any]);
    let _ = serving.lines_until("Ctrl-C");
    let stuck: Vec<TcpStream> = serving
        .urls
        .iter()
        .map(|url| {
            let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
            let head = "POST /storms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
            write!(stream, "{head}Content-Length: 100\r\n\r\n{{").unwrap();
            // The same thread answers this request, so the other request has begun.
            assert!(get(url, "/time").starts_with("HTTP/1.1 200"));
            stream
        })
        .collect();
    assert_eq!(stuck.len(), 3);
    let asked = Instant::now();
    assert_eq!(serving.terminate().0.code(), Some(0));
    let took = asked.elapsed();
    // 10 s in total. If the addresses stopped one after another, it would be 30 s.
    assert!(took > Duration::from_secs(5), "{took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// A second signal stops the server without waiting for running calls.
#[cfg(unix)]
#[test]
fn polywire_serve_stops_at_the_second_signal() {
    let _case = Case::begin("polywire_serve_stops_at_the_second_signal");
    for again in ["TERM", "INT"] {
        let mut child = Command::new(polywire())
            .args(["serve", "--listen", "http://127.0.0.1:0", "--workers", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.split(' ').next_back().unwrap().trim();
        let mut stuck = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
        let head = "POST /storms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
        write!(stuck, "{head}Content-Length: 100\r\n\r\n{{").unwrap();
        assert!(get(url, "/time").starts_with("HTTP/1.1 200"));
        let asked = Instant::now();
        signal(child.id(), "TERM");
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains("up to 10 s"), "{line}");
        assert!(line.contains("again to abort"), "{line}");
        signal(child.id(), again);
        let status = child.wait().unwrap();
        let took = asked.elapsed();
        assert_eq!(status.code(), Some(3), "{again}");
        assert!(took < Duration::from_secs(5), "{again}: {took:?}");
    }
}

/// `polywire serve 2>&1 | head -1` continues to serve.
#[cfg(unix)]
#[test]
fn polywire_serve_nobody_reads() {
    let _case = Case::begin("polywire_serve_nobody_reads");
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let url = format!("http://{address}");
    let mut child = Command::new(polywire())
        .args(["serve", "--listen", &url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let begun = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..3 {
        assert!(get(&url, "/time").starts_with("HTTP/1.1 200"));
        std::thread::sleep(Duration::from_millis(100));
    }
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// With little memory for bodies, small calls are served while a large body holds that memory, and
/// a further large call is rejected with status 503.
#[test]
fn polywire_serve_memory_for_bodies() {
    let _case = Case::begin("polywire_serve_memory_for_bodies");
    let most = ["--max-memory", "200000", "--max-body", "200000"];
    let serving = Serving::start(&most);
    let address = serving.url().trim_start_matches("http://");
    let head = "POST /storms HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                Content-Type: application/json\r\nContent-Length: 190000\r\n\r\n";
    let spaces = " ".repeat(189_999);
    let mut stuck: Vec<TcpStream> = Vec::new();
    // Each stream sends most of a body. The loop ends when one is rejected.
    let refused = loop {
        assert!(stuck.len() < 10, "all of 10 large bodies were taken");
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "{head}{spaces}").unwrap();
        assert!(get(serving.url(), "/time").starts_with("HTTP/1.1 200"));
        stream
            .set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        let mut answer = [0; 12];
        if stream.read_exact(&mut answer).is_ok() {
            break String::from_utf8_lossy(&answer).into_owned();
        }
        stuck.push(stream);
    };
    assert_eq!(refused, "HTTP/1.1 503");
    assert!(!stuck.is_empty());
}

#[test]
fn polywire_serve_usage_errors() {
    let _case = Case::begin("polywire_serve_usage_errors");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("http://{}", taken.local_addr().unwrap());
    let readme = workspace().join("Cargo.toml");
    let readme = readme.to_str().unwrap();
    for (arguments, word) in [
        (vec!["--listen", &taken], "cannot listen"),
        (vec!["--listen", "127.0.0.1:0"], "http://HOST:PORT"),
        (vec!["--listen", "http://127.0.0.1"], "http://HOST:PORT"),
        (vec!["--listen", "https://127.0.0.1:0"], "--cert FILE"),
        (vec!["--model", "/nowhere.smithy"], "/nowhere.smithy"),
        (vec!["--model", readme], "Cargo.toml"),
        (vec!["--protocol", "soap"], "restJson1"),
        (vec!["--service", "Nobody"], "Nobody"),
        (vec!["--workers", "0"], "--workers"),
        // Each of these options would make a server that listens and answers no request.
        (vec!["--max-connections", "0"], "1..=10000000"),
        (vec!["--max-connections", "10000001"], "1..=10000000"),
        (
            vec!["--max-connections", "4611686018427387904"],
            "1..=10000000",
        ),
        (vec!["--timeout", "0"], "1..=86400"),
        (
            vec!["--max-memory", "1000", "--max-body", "1001"],
            "is less than --max-body",
        ),
        (vec!["--timeout", "86401"], "1..=86400"),
        (vec!["--timeout", "18446744073709551615"], "1..=86400"),
    ] {
        let ended = run(&[&["serve"], arguments.as_slice()].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(word),
            "{arguments:?}: {}",
            ended.stderr
        );
    }
}

/// With a given model, every operation answers from its examples.
#[test]
fn polywire_serve_mocks_a_model() {
    let _case = Case::begin("polywire_serve_mocks_a_model");
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let serving = Serving::start(&["--model", model.to_str().unwrap()]);
    let oslo = get(serving.url(), "/cities/oslo");
    assert!(oslo.contains("Oslo"), "{oslo}");
    // Examples of errors are used too. An input that is in no example gets the first output.
    assert!(get(serving.url(), "/cities/atlantis").starts_with("HTTP/1.1 404"));
    assert!(get(serving.url(), "/cities/elsewhere").contains("Oslo"));
    // A mock has no state, so deleted items still exist.
    for protocol in ["restJson1", "rpcv2Cbor", "xmlRpc"] {
        let input = r#"{"cityId":"quito"}"#;
        let ended = run(&[
            "call",
            serving.url(),
            "DeleteCity",
            input,
            "--protocol",
            protocol,
        ]);
        assert_eq!(
            (ended.code, ended.stdout.trim()),
            (Some(0), "{}"),
            "{}",
            ended.stderr
        );
    }
}
