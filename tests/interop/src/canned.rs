//! A server with fixed answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server of canned answers. It runs until the test process ends.
#[derive(Debug)]
pub struct Canned {
    /// `http://127.0.0.1:PORT`
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Canned {
    /// Starts a server. Each pair is the start of a request and its answer: a head without
    /// `Content-Length`, an empty line, and a body. Other requests are answered by 404.
    #[must_use]
    pub fn start<S: AsRef<str> + Send + 'static>(answers: Vec<(S, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // Clients may disconnect early.
                let _ = answer(stream.unwrap(), &answers, &seen);
            }
        });
        Self { url, requests }
    }

    /// The requests so far, each with its head and its body.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer<S: AsRef<str>>(
    stream: TcpStream,
    answers: &[(S, String)],
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    let mut length = 0;
    while !request.ends_with("\r\n\r\n") {
        let from = request.len();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let line = request[from..].to_ascii_lowercase();
        if let Some(text) = line.strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.push_str(&String::from_utf8_lossy(&body));
    let known = answers
        .iter()
        .find(|(start, _)| request.starts_with(start.as_ref()));
    let answer = known.map_or("HTTP/1.1 404 Not Found\n\n", |(_, answer)| answer);
    seen.lock().unwrap().push(request);
    let (head, body) = answer.split_once("\n\n").unwrap();
    let head = head.replace('\n', "\r\n");
    let length = body.len();
    write!(
        reader.get_mut(),
        "{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}
