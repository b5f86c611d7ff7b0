//! Clients that are slow or die do not affect other clients.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use polywire::prelude::*;
use polywire_interop::{Case, Serving, Weather};

/// Makes 200 calls over the protocols in turn, all of which must succeed.
fn serves_everybody(serving: &Serving, weather: &Weather) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let own = [
            ProtocolKind::RestJson1,
            ProtocolKind::RpcV2Cbor,
            ProtocolKind::XmlRpc,
        ];
        let clients = own.map(|kind| {
            let builder = Client::builder(weather.service(), kind);
            let builder = builder.deadline(Duration::from_secs(30));
            builder.connect(serving.url()).unwrap()
        });
        for number in 0..200 {
            let client = &clients[number % clients.len()];
            let input = Map::from_iter([("cityId", "oslo")]);
            let city = client.call("GetCity", input).await.unwrap();
            assert_eq!(city["name"].as_str(), Some("Oslo"));
        }
    });
}

fn address(serving: &Serving) -> &str {
    serving.url().trim_start_matches("http://")
}

/// A request with only the beginning of its announced body.
fn half_a_request() -> Vec<u8> {
    let body = r#"{"name":"Ylva","severity":2,"track":[{"at":17935"#;
    let head = "POST /storms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    format!("{head}Content-Length: 5000\r\n\r\n{body}").into_bytes()
}

#[test]
fn clients_that_die_in_the_middle_of_a_body() {
    let _case = Case::begin("clients_that_die_in_the_middle_of_a_body");
    let weather = Weather::load();
    let serving = Serving::start(&["--workers", "1"]);
    for _ in 0..50 {
        let mut stream = TcpStream::connect(address(&serving)).unwrap();
        stream.write_all(&half_a_request()).unwrap();
    }
    serves_everybody(&serving, &weather);
}

#[cfg(unix)]
#[test]
fn curl_killed_in_the_middle_of_a_body() {
    use std::process::{Command, Stdio};
    let case = Case::begin("curl_killed_in_the_middle_of_a_body");
    if case.curl().is_none() {
        return;
    }
    let weather = Weather::load();
    let serving = Serving::start(&["--workers", "1"]);
    let url = format!("{}/storms", serving.url());
    for _ in 0..5 {
        // curl sends its input, and waits for more.
        let mut curl = Command::new("curl")
            .args([
                "--silent",
                "--verbose",
                "--noproxy",
                "*",
                "--header",
                "Content-Type: application/json",
            ])
            .args([
                "--header",
                "Expect:",
                "--upload-file",
                "-",
                "-X",
                "POST",
                &url,
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = curl.stdin.take().unwrap();
        stdin.write_all(br#"{"name":"Ylva","tr"#).unwrap();
        stdin.flush().unwrap();
        // curl prints the head that it has sent, up to the empty line.
        let mut shown = BufReader::new(curl.stderr.take().unwrap()).lines();
        assert!(shown.any(|line| line.unwrap().trim_end() == ">"));
        curl.kill().unwrap();
        curl.wait().unwrap();
    }
    serves_everybody(&serving, &weather);
}

#[test]
fn one_byte_a_second() {
    let _case = Case::begin("one_byte_a_second");
    let weather = Weather::load();
    let serving = Serving::start(&["--workers", "1", "--timeout", "3"]);
    let done = Arc::new(AtomicBool::new(false));
    // The client is slow in the head, in the body, and in a possible HTTP/2 preface.
    let beginnings = [
        b"GET /time HTTP/1.1\r\nX-Slow: ".to_vec(),
        half_a_request(),
        b"PRI ".to_vec(),
    ];
    let slow: Vec<_> = beginnings
        .into_iter()
        .map(|beginning| {
            let mut stream = TcpStream::connect(address(&serving)).unwrap();
            let done = Arc::clone(&done);
            std::thread::spawn(move || {
                stream.write_all(&beginning).unwrap();
                // Bounded, although the server closes the connection or the test ends first.
                for _ in 0..30 {
                    if done.load(Ordering::Relaxed) || stream.write_all(b"x").is_err() {
                        return;
                    }
                    std::thread::sleep(Duration::from_secs(1));
                }
            })
        })
        .collect();
    for _ in 0..4 {
        serves_everybody(&serving, &weather);
        std::thread::sleep(Duration::from_secs(1));
    }
    done.store(true, Ordering::Relaxed);
    for thread in slow {
        thread.join().unwrap();
    }
    serves_everybody(&serving, &weather);
    // A slow client does not delay the shutdown either, by the 10 s that calls have.
    let mut head = TcpStream::connect(address(&serving)).unwrap();
    head.write_all(b"GET /time HTTP/1.1\r\nX-Slow: ").unwrap();
    let asked = Instant::now();
    assert_eq!(serving.terminate().0.code(), Some(0));
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// The first byte of these peers could begin HTTP/1 or HTTP/2. Waiting for the second byte takes no
/// CPU time, and the connections are closed when the peers disconnect.
#[cfg(target_os = "linux")]
#[test]
fn peers_that_say_one_byte() {
    let _case = Case::begin("peers_that_say_one_byte");
    let weather = Weather::load();
    let serving = Serving::start(&["--workers", "1"]);
    let process = format!("/proc/{}", serving.process());
    let open = || std::fs::read_dir(format!("{process}/fd")).unwrap().count();
    // How often the threads of the server have gone to sleep, which is how often they were woken.
    let sleeps = || -> u64 {
        let threads = std::fs::read_dir(format!("{process}/task")).unwrap();
        let count = |status: String| {
            let line = status
                .lines()
                .find(|line| line.starts_with("voluntary_ctxt_switches"));
            let count = line.unwrap().split_ascii_whitespace().last().unwrap();
            count.parse::<u64>().unwrap()
        };
        threads
            .map(|thread| {
                count(std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap())
            })
            .sum()
    };
    let before = open();
    // The program opens some more descriptors after it prints that it listens.
    let few = before + 50;
    let peers: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(address(&serving)).unwrap();
            stream.write_all(b"P").unwrap();
            stream
        })
        .collect();
    serves_everybody(&serving, &weather);
    let asleep = sleeps();
    std::thread::sleep(Duration::from_secs(2));
    // Repeated polling would cause hundreds of wakeups.
    let woken = sleeps() - asleep;
    assert!(woken < 100, "woken {woken} times with nothing to do");
    drop(peers);
    // This is well before the timeout of heads, which is 30 s.
    let deadline = Instant::now() + Duration::from_secs(10);
    while open() > few {
        let now = Instant::now();
        assert!(now < deadline, "{} descriptors", open());
        std::thread::sleep(Duration::from_millis(20));
    }
    serves_everybody(&serving, &weather);
}

/// Silent clients hold all connections. The server closes them after the timeout, and accepts other
/// clients.
#[test]
fn all_connections_held_by_silent_clients() {
    let _case = Case::begin("all_connections_held_by_silent_clients");
    let weather = Weather::load();
    let serving = Serving::start(&[
        "--workers",
        "1",
        "--timeout",
        "1",
        "--max-connections",
        "10",
    ]);
    let silent: Vec<TcpStream> = (0..20)
        .map(|_| TcpStream::connect(address(&serving)).unwrap())
        .collect();
    serves_everybody(&serving, &weather);
    drop(silent);
}

#[test]
fn noise() {
    let _case = Case::begin("noise");
    let weather = Weather::load();
    let serving = Serving::start(&["--workers", "1"]);
    let mut random = 1_u32;
    for size in [1, 10, 1_000, 100_000] {
        for _ in 0..10 {
            let noise: Vec<u8> = std::iter::repeat_with(|| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 24) as u8
            })
            .take(size)
            .collect();
            let mut stream = TcpStream::connect(address(&serving)).unwrap();
            // The server may have closed the connection before all bytes are written.
            let _ = stream.write_all(&noise);
        }
    }
    serves_everybody(&serving, &weather);
}
