//! `polywire bench` as it is used: the program itself, against servers in this process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod schema;

use std::io::Read;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use polywire::prelude::*;
use polywire::rpc::Methods;
use schema::conforms;
use serde_json::Value as Json;

/// A server with methods over frames and XML-RPC, on its own thread.
struct Serving {
    address: SocketAddr,
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl Serving {
    fn start() -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let counter = Arc::new(AtomicI32::new(0));
                let methods = Methods::new()
                    .method("Add", |(a, b): (i32, i32)| async move { a + b })
                    .method("Count", move |(): ()| {
                        let number = counter.fetch_add(1, Ordering::Relaxed);
                        async move { number }
                    })
                    .method("Never", |(): ()| async {
                        std::future::pending::<()>().await;
                        0
                    });
                let server = Server::methods(methods).frames(true).build().unwrap();
                let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
                // Use the same port for both, so that one address is enough.
                let _udp = server.listen_udp(running.address()).await.unwrap();
                tell.send(running.address()).unwrap();
                let _ = stopped.await;
            });
        });
        Self {
            address: told.recv().unwrap(),
            _stop: stop,
        }
    }

    fn frames(&self) -> String {
        format!("tcp://{}", self.address)
    }

    fn http(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polywire"));
    command.arg("bench").args(arguments);
    command.output().unwrap()
}

/// Returns the report of a run that exits with this status.
#[track_caller]
fn report_with(status: i32, arguments: &[&str]) -> Json {
    let mut all = [arguments, &["--json", "-q", "-d", "200"]].concat();
    if !arguments.contains(&"--warm-up") {
        all.extend(["--warm-up", "50"]);
    }
    let output = bench(&all);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {err}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn report(arguments: &[&str]) -> Json {
    report_with(0, arguments)
}

/// Returns the error message of a run that exits with this status.
#[track_caller]
fn refused(status: i32, arguments: &[&str]) -> String {
    let output = bench(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn count(report: &Json, member: &str) -> u64 {
    report[member].as_u64().unwrap()
}

/// A temporary file, deleted on drop.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let name = format!("polywire-bench-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn closed_loop_over_frames() {
    let serving = Serving::start();
    let url = serving.frames();
    let load = ["-t", "2", "-c", "2", "-b", "10"];
    let report = report(&[&[&url[..], "Add", "[1, 2]", "--expect", "3"][..], &load].concat());
    assert_eq!(report["success_rate"], 1.0);
    assert_eq!(report["target"]["wire"], "frames");
    assert_eq!(report["load"]["loop"], "closed");
    assert!(report["calls_per_second"].as_f64().unwrap() > 0.0);
    assert!(count(&report, "replies") > 0);
    assert_eq!(count(&report, "replies"), count(&report, "calls"));
    assert_eq!(
        count(&report, "failed") + count(&report, "skipped_sends"),
        0
    );
    assert!(report["warm_up"]["calls"].as_u64().unwrap() > 0);
    let latency = |name: &str| report["latency_us"][name].as_f64().unwrap();
    let sorted = ["min", "p50", "p90", "p99", "p99_9", "max"].map(latency);
    assert!(sorted.is_sorted() && sorted[0] > 0.0, "{sorted:?}");
}

#[test]
fn batches_at_an_interval() {
    let serving = Serving::start();
    let url = serving.frames();
    let report = report(&[&url, "Add", "[1, 2]", "-b", "10", "-i", "20", "-c", "2"]);
    // 200 ms contain ten batches of two clients. Each call is either sent or skipped.
    let asked = count(&report, "calls") + count(&report, "skipped_sends");
    assert!((180..=220).contains(&asked), "{report}");
    assert_eq!(report["asked_per_second"], 1_000.0);
    assert_eq!(report["success_rate"], 1.0);
}

#[test]
fn open_loops_follow_the_schedule() {
    let serving = Serving::start();
    let url = serving.frames();
    let add = [&url[..], "Add", "[1, 2]", "-t", "2", "--rate", "500"];
    for (schedule, sent) in [
        (&["--schedule", "const"][..], 100),
        (&["--schedule", "ramp", "--rate-to", "1500"], 200),
        (
            &["--schedule", "step", "--rate-to", "1500", "--steps", "2"],
            200,
        ),
        // Bursts of the whole run: at 0, 40, 80, ...
        (&["--schedule", "burst", "--burst", "20"], 100),
    ] {
        let report = report(&[&add, schedule].concat());
        let calls = count(&report, "calls");
        assert!(calls.abs_diff(sent) <= 20, "{schedule:?}: {calls} calls");
        assert_eq!(report["load"]["loop"], "open");
        assert!(report["lateness_us"]["p50"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn replies_are_compared() {
    let serving = Serving::start();
    let url = serving.frames();
    let first = report(&[&url, "Count", "-b", "1", "--warm-up", "0"]);
    assert_eq!(count(&first, "replies"), 1);
    let different = &first["errors"][0];
    assert_eq!(different["kind"], "different");
    assert_eq!(different["count"], count(&first, "calls") - 1);
    let sample = different["samples"][0].as_str().unwrap();
    assert!(sample.starts_with("expected "), "{sample}");
    let any = report(&[&url, "Count", "-b", "1", "--any-reply"]);
    assert_eq!(any["success_rate"], 1.0);
    let none = report_with(3, &[&url, "Add", "[1, 2]", "--expect", "4"]);
    assert_eq!(none["success_rate"], 0.0);
}

#[test]
fn failures_are_counted_by_kind() {
    let serving = Serving::start();
    let url = serving.frames();
    let unknown = report_with(3, &[&url, "Subtract", "[1, 2]", "-b", "2"]);
    assert_eq!(unknown["errors"][0]["kind"], "fault");
    let sample = unknown["errors"][0]["samples"][0].as_str().unwrap();
    assert!(sample.contains("UnknownOperation"), "{sample}");
    let late = report_with(3, &[&url, "Never", "-b", "2", "--deadline", "0.1"]);
    assert_eq!(late["errors"][0]["kind"], "deadline");
}

/// The server has no model, so every call of an operation fails, over TCP and UDP.
#[test]
fn runs_with_permanent_failures_end_early() {
    let serving = Serving::start();
    let urls = [serving.frames(), serving.frames().replace("tcp", "udp")];
    for url in urls {
        let begin = std::time::Instant::now();
        let output = bench(&[&url, "Add", "{}", "-b", "2", "-d", "600000", "--json", "-q"]);
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(begin.elapsed().as_secs() < 60, "{url}");
        assert_eq!(output.status.code(), Some(3), "{url}: {err}");
        assert!(
            err.contains("no call had an expected reply: fault: "),
            "{url}: {err}"
        );
        let report: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["ended_early"], true);
        assert_eq!(report["success_rate"], 0.0);
    }
}

#[test]
fn methods_over_xmlrpc() {
    let serving = Serving::start();
    let url = serving.http();
    let report = report(&[
        &url, "Add", "[1, 2]", "--xmlrpc", "-b", "4", "--expect", "3",
    ]);
    assert_eq!(report["success_rate"], 1.0);
    assert_eq!(report["target"]["wire"], "xmlRpc");
}

#[test]
fn thresholds_decide_the_status() {
    let serving = Serving::start();
    let url = serving.frames();
    let kept = ["--threshold", "success_rate>=100%", "--threshold", "rate>0"];
    let add = [&url[..], "Add", "[1, 2]", "-b", "2"];
    let report = report(&[&add[..], &kept].concat());
    assert_eq!(report["thresholds"][0]["passed"], true);
    let report = report_with(4, &[&add[..], &kept, &["--threshold", "p50<0us"]].concat());
    assert_eq!(report["thresholds"][1]["passed"], true);
    assert_eq!(report["thresholds"][2]["passed"], false);
}

#[test]
fn reports_are_compared() {
    let serving = Serving::start();
    let url = serving.frames();
    let old = File::new("old.json");
    let add = [
        &url[..],
        "Add",
        "[1, 2]",
        "-b",
        "2",
        "-q",
        "-d",
        "100",
        "--warm-up",
        "0",
    ];
    let output = bench(&[&add[..], &["-o", old.path()]].concat());
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("calls/s") && text.contains("p99.9"), "{text}");
    let relative = ["--compare", old.path(), "--threshold", "rate>=0x"];
    let output = bench(&[&add[..], &relative, &["--threshold", "p50<0x"]].concat());
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "compared",
        "old",
        "change",
        "rate>=0x passed",
        "p50<0x MISSED",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let other = bench(&[&add[..], &["-c", "2", "--compare", old.path()]].concat());
    let text = String::from_utf8(other.stdout).unwrap();
    assert!(text.contains("note: the load differs"), "{text}");
}

#[test]
fn finds_the_knee() {
    let serving = Serving::start();
    let url = serving.frames();
    let add = [&url[..], "Add", "[1, 2]", "--rate", "100", "--find-knee"];
    // The search starts above the knee.
    let none = report(
        &[
            &add[..],
            &["--threshold", "rate<=30", "--threshold", "failed<1"],
        ]
        .concat(),
    );
    let sustained = none["knee"]["sustained"].as_f64().unwrap();
    // In such a short time, the number of calls may differ by one.
    assert!(sustained <= 40.0, "{sustained}");
    let steps = none["knee"]["steps"].as_array().unwrap();
    assert!(steps.len() >= 3, "{steps:?}");
    assert_eq!(steps[0]["sustained"], false);
    assert_eq!(steps[0]["why"], "missed rate<=30");
}

#[test]
fn histograms_are_logged() {
    let serving = Serving::start();
    let url = serving.frames();
    let log = File::new("add.hlog");
    report(&[&url, "Add", "[1, 2]", "--hdr-log", log.path()]);
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert!(
        text.starts_with("#[Histogram log format version 1.3]\n"),
        "{text}"
    );
    let intervals = text.lines().filter(|line| line.contains("HISTF"));
    assert_eq!(intervals.count(), 1, "{text}");
}

#[test]
fn prints_lines_without_a_terminal() {
    let serving = Serving::start();
    let url = serving.frames();
    let output = bench(&[
        &url,
        "Add",
        "[1, 2]",
        "-b",
        "2",
        "-d",
        "1500",
        "--warm-up",
        "0",
    ]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.lines().count() >= 1, "{err}");
    assert!(
        err.contains("/s  p50 ") && err.contains("success 100%"),
        "{err}"
    );
    assert!(!err.contains('\u{1b}'), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_of_client_and_server() {
    let serving = Serving::start();
    let url = serving.frames();
    let add = [&url[..], "Add", "[1, 2]", "-b", "2"];
    let unknown = report(&add);
    assert_eq!(unknown["memory"]["server"], Json::Null);
    let pid = std::process::id().to_string();
    let known = report(&[&add[..], &["--server-pid", &pid]].concat());
    for side in ["client", "server"] {
        let memory = &known["memory"][side];
        assert!(
            memory["end"].as_u64().unwrap() > 1 << 20,
            "{side}: {memory}"
        );
        assert!(
            memory["per_call"].as_f64().unwrap() > 0.0,
            "{side}: {memory}"
        );
    }
    let gone = refused(2, &[&url, "Add", "[1, 2]", "--server-pid", "4294967295"]);
    assert!(gone.contains("no such process"), "{gone}");
}

/// Clients reconnect when a server is available again.
#[test]
fn lost_connections_are_counted_and_reopened() {
    // Forwards connections, and cuts the first frame connection while replies are pending.
    let serving = Serving::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    let address = serving.address;
    std::thread::spawn(move || {
        let mut cut = false;
        while let Ok((mut stream, _)) = listener.accept() {
            let mut first = [0; 1];
            // The request for the model uses HTTP.
            let frames = stream.peek(&mut first).is_ok() && first[0] == 0xf7;
            let most = if frames && !cut { 1_000 } else { u64::MAX };
            cut |= frames;
            let server = TcpStream::connect(address).unwrap();
            let (mut from, mut to) = (stream.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut (&server).take(most), &mut stream);
                let _ = stream.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    let report = report(&[&url, "Add", "[1, 2]", "-b", "5", "--warm-up", "0"]);
    assert_eq!(report["errors"][0]["kind"], "disconnected");
    assert!(count(&report, "replies") > 0, "{report}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_a_report() {
    let serving = Serving::start();
    let url = serving.frames();
    let mut child = Command::new(env!("CARGO_BIN_EXE_polywire"))
        .args(["bench", &url, "Add", "[1, 2]", "-b", "2", "--warm-up", "0"])
        .args(["-d", "600000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first line is printed when the run starts.
    let mut err = child.stderr.take().unwrap();
    err.read_exact(&mut [0; 1]).unwrap();
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupted.unwrap().success());
    std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ended_early"], true);
    assert!(report["measured_ms"].as_f64().unwrap() < 60_000.0);
    assert!(count(&report, "replies") > 0);
}

#[test]
fn invalid_arguments_are_rejected() {
    let url = "tcp://127.0.0.1:1";
    for (arguments, part) in [
        (
            &["ftp://127.0.0.1:1", "Add"][..],
            "expected tcp://HOST:PORT, tcp+tls://HOST:PORT, unix:///PATH or udp",
        ),
        (&["127.0.0.1:1", "Add"], "expected tcp://HOST:PORT"),
        (&[url, "Add", "-t", "65"], "1..=64"),
        (&[url, "Add", "-c", "101"], "1..=100"),
        (&[url, "Add", "-b", "1001"], "1..=1000"),
        (&[url, "Add", "-i", "101"], "0..=100"),
        (&[url, "Add", "--rate", "0"], "calls per second"),
        (
            &[url, "Add", "--rate", "5", "-b", "5"],
            "cannot be used with",
        ),
        (
            &[url, "Add", "--rate", "5", "--schedule", "ramp"],
            "--rate-to",
        ),
        (&[url, "Add", "--threshold", "p98<1ms"], "p99.9"),
        (&[url, "Add", "--threshold", "p99<1"], "such as 500us"),
        (&[url, "Add", "--threshold", "p99<1.1x"], "--compare"),
        (&[url, "Add", "--compare", "/no/such.json"], "/no/such.json"),
        (&[url, "Add", "-p", "restJson1"], "--protocol"),
        (&[url, "Add", "--insecure"], "tcp+tls://"),
        (&[url, "--xmlrpc"], "OPERATION"),
    ] {
        let said = refused(2, arguments);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    let unreachable = refused(3, &[url, "Add", "[1, 2]"]);
    assert!(unreachable.contains("refused"), "{unreachable}");
}

/// Calls a mock of a model over frames and other protocols, with the model that the server
/// publishes.
#[test]
fn operations_of_a_model() {
    let service = polywire::load_text("adder.smithy", ADDER).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let server = Server::builder(service)
                .operation(
                    "Add",
                    dynamic(|input: Map, _| async move {
                        let part = |name| input.get(name).and_then(Value::as_i64).unwrap_or(0);
                        Ok(Map::from_iter([("sum", part("a") + part("b"))]))
                    }),
                )
                .frames(true)
                .build()
                .unwrap();
            let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
            tell.send(running.address()).unwrap();
            tokio::time::sleep(Duration::from_secs(60)).await;
        });
    });
    let address: SocketAddr = told.recv().unwrap();
    let model = File::new("adder.smithy");
    std::fs::write(model.path(), ADDER).unwrap();
    for (url, wire) in [
        (format!("tcp://{address}"), "frames"),
        (format!("http://{address}"), "rpcv2Cbor"),
    ] {
        let input = r#"{"a": 1, "b": 2}"#;
        let known = ["-m", model.path(), "--expect", r#"{"sum": 3}"#];
        let report = report(&[&[&url[..], "Add", input, "-b", "4"][..], &known].concat());
        assert_eq!(report["success_rate"], 1.0, "{report}");
        assert_eq!(report["target"]["wire"], wire);
    }
}

const ADDER: &str = r#"
$version: "2"
namespace example
use smithy.protocols#rpcv2Cbor

@rpcv2Cbor
service Adder { version: "1", operations: [Add] }

operation Add {
    input := { @required a: Integer, @required b: Integer }
    output := { @required sum: Integer }
}
"#;

#[test]
fn reports_conform_to_the_schema() {
    let output = bench(&["--json-schema"]);
    assert!(output.status.success());
    let schema: Json = serde_json::from_slice(&output.stdout).unwrap();
    let serving = Serving::start();
    let url = serving.frames();
    let add = [&url[..], "Add", "[1, 2]"];
    let pid = std::process::id().to_string();
    for report in [
        report(&[&add[..], &["-i", "10", "--server-pid", &pid]].concat()),
        report(&[&add[..], &["--rate", "500", "--threshold", "p99<10s"]].concat()),
        report(
            &[
                &add[..],
                &["--rate", "50", "--find-knee", "--threshold", "rate<60"],
            ]
            .concat(),
        ),
        report_with(3, &[&url, "Subtract"]),
        report_with(3, &[&url, "Never", "--deadline", "0.1"]),
    ] {
        conforms(&report, &schema, &schema, "report");
    }
}
