//! docs/smithy.md shows what stands here, so that what it shows compiles, and
//! the program gives the answer that the page shows.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests: helpers outside of #[test]"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const PAGE: &str = include_str!("../../../docs/smithy.md");

#[test]
fn the_page_shows_this_program() {
    let program = include_str!("../src/main.rs");
    let (_, shown) = program.split_once("\n\n").unwrap();
    assert!(PAGE.contains(shown.trim()), "the page has another program");
}

struct ServerProcess(Child);

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_program_answers_as_the_page_shows() {
    let program = env!("CARGO_BIN_EXE_kettle");
    let child = Command::new(program).stdout(Stdio::piped()).spawn();
    let mut running = ServerProcess(child.unwrap());
    let mut line = String::new();
    let stdout = running.0.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    if line.is_empty() {
        println!("skipped: port 8082 is taken");
        return;
    }
    assert_eq!(line, "http://127.0.0.1:8082\n");
    let command = "curl -X POST 'http://127.0.0.1:8082/brew/black?cups=2'\n```\n\n```text\n";
    let (_, shown) = PAGE.split_once(command).unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    assert_eq!(post("/brew/black?cups=2"), ("200".into(), shown.into()));
    // What the page says of the rest of the handler.
    let teapot = r#"{"message":"I'm a teapot"}"#;
    assert_eq!(post("/brew/coffee?cups=2"), ("418".into(), teapot.into()));
    assert_eq!(post("/brew/black").0, "400");
}

/// The status and the body.
fn post(path: &str) -> (String, String) {
    let mut stream = TcpStream::connect("127.0.0.1:8082").unwrap();
    let head = "Host: 127.0.0.1:8082\r\nContent-Length: 0\r\nConnection: close";
    write!(stream, "POST {path} HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    (status.to_owned(), body.to_owned())
}
