//! Python's `xmlrpc.client`, in a process of its own that reads and writes in a loop and reports the
//! time of its best call.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use polywire_gate::Case;
use polywire_gate::groups::xmlrpc::oracle;
use polywire_schema::Value;

use super::spells;

const NAME: &str = "Python xmlrpc.client";
const PROGRAM: &str = "python3";

/// Its input is a line `read SIZE` or `write SIZE` and a body of so many bytes; its output a line
/// `NANOSECONDS SIZE` and the message as Python writes it.
const SCRIPT: &str = r#"
import sys
from time import perf_counter_ns
from xmlrpc.client import dumps, loads

source, sink = sys.stdin.buffer, sys.stdout.buffer
while line := source.readline():
    what, size = line.split()
    body = source.read(int(size))
    values, method = loads(body)
    response = method is None
    written = dumps(values, method, methodresponse=response)
    def work():
        if what == b"read":
            loads(body)
        else:
            dumps(values, method, methodresponse=response)
    best, spent = float("inf"), 0
    while spent < 3_000_000:
        start = perf_counter_ns()
        work()
        took = perf_counter_ns() - start
        best, spent = min(best, took), spent + took
    written = written.encode()
    sink.write(b"%d %d\n" % (best, len(written)))
    sink.write(written)
    sink.flush()
"#;

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Read,
    Write,
}

/// The process. It starts with the first call, and ends when the last case is dropped.
#[derive(Clone)]
pub(super) struct Python(Rc<RefCell<Option<Process>>>);

struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Python {
    /// Whether there is one, without starting it.
    pub(super) fn find() -> Result<Self, String> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&paths).any(|path| path.join(PROGRAM).is_file());
        if !found {
            return Err(format!("no {PROGRAM} on the PATH; package python3"));
        }
        Ok(Self(Rc::default()))
    }

    /// Adds it to a case.
    pub(super) fn add(&self, case: &mut Case, what: What, xml: &'static [u8]) {
        let expected = oracle::value_of(xml);
        let process = self.clone();
        case.peer_self_timed(NAME, move || process.ask(what, xml, &expected));
    }

    /// The best call of a few milliseconds.
    fn ask(&self, what: What, xml: &[u8], expected: &Value) -> Result<f64, String> {
        let mut slot = self.0.borrow_mut();
        if slot.is_none() {
            *slot = Some(Process::start().map_err(|error| format!("{PROGRAM}: {error}"))?);
        }
        let process = slot.as_mut().ok_or("not started")?;
        let (nanoseconds, written) = process
            .answer(what, xml)
            .map_err(|error| format!("{PROGRAM} failed: {error}"))?;
        spells(&written, expected)?;
        Ok(nanoseconds)
    }
}

impl Process {
    fn start() -> std::io::Result<Self> {
        let mut child = Command::new(PROGRAM)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let none = || std::io::Error::other("no pipe");
        let input = child.stdin.take().ok_or_else(none)?;
        let output = child.stdout.take().ok_or_else(none)?;
        Ok(Self {
            child,
            input: Some(input),
            output: BufReader::new(output),
        })
    }

    fn answer(&mut self, what: What, xml: &[u8]) -> std::io::Result<(f64, Vec<u8>)> {
        let word = match what {
            What::Read => "read",
            What::Write => "write",
        };
        if let Some(input) = &mut self.input {
            writeln!(input, "{word} {}", xml.len())?;
            input.write_all(xml)?;
            input.flush()?;
        }
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let (nanoseconds, size) = line.trim_end().split_once(' ').unwrap_or_default();
        let wrong = || std::io::Error::other(format!("it wrote {line:?}"));
        let nanoseconds = nanoseconds.parse().map_err(|_| wrong())?;
        let mut written = vec![0; size.parse().map_err(|_| wrong())?];
        std::io::Read::read_exact(&mut self.output, &mut written)?;
        Ok((nanoseconds, written))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its loop ends with its input.
        self.input = None;
        let _ = self.child.wait();
    }
}
