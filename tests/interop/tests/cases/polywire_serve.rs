//! `polywire serve`: how it begins and how it ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use polywire_interop::{Case, Serving, run, workspace};

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
    // An idle connection and a half-written request do not hold it up.
    let address = serving.url().trim_start_matches("http://").to_owned();
    let _idle = TcpStream::connect(&address).unwrap();
    let mut half = TcpStream::connect(&address).unwrap();
    half.write_all(b"GET /ti").unwrap();
    let (status, rest) = serving.terminate();
    assert_eq!(status.code(), Some(0));
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
    // The kernel spreads connections over the workers by their ports, so
    // each has some of these.
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

/// A second server on the same port would take half of the traffic.
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
    // Nor does one server listen there twice.
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

/// The connections that a server closed when it stopped, and those that it had
/// closed before, keep nobody from its port.
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
        (vec!["--model", "/nowhere.smithy"], "/nowhere.smithy"),
        (vec!["--model", readme], "Cargo.toml"),
        (vec!["--protocol", "soap"], "restJson1"),
        (vec!["--service", "Nobody"], "Nobody"),
        (vec!["--workers", "0"], "--workers"),
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

/// With a model of one's own every operation answers from its examples.
#[test]
fn polywire_serve_mocks_a_model() {
    let _case = Case::begin("polywire_serve_mocks_a_model");
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let serving = Serving::start(&["--model", model.to_str().unwrap()]);
    let oslo = get(serving.url(), "/cities/oslo");
    assert!(oslo.contains("Oslo"), "{oslo}");
    // The example of an error counts too; an input that is no example's gets
    // the first output.
    assert!(get(serving.url(), "/cities/atlantis").starts_with("HTTP/1.1 404"));
    assert!(get(serving.url(), "/cities/elsewhere").contains("Oslo"));
    // It changes nothing, so nothing is ever gone.
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
