//! moto's server: an independent implementation of AWS services in memory.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::Python;

/// Exits when its standard input is closed, and so when this process ends for any reason.
const SERVER: &str = r#"
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from moto.server import main
main(["--port", "0"])
"#;

/// A moto server that all cases share.
#[derive(Debug)]
pub struct Moto {
    url: String,
    // Keeps its standard input open as long as this process lives.
    _child: Child,
}

impl Moto {
    pub(crate) fn start(python: &Python) -> &'static Self {
        static SHARED: OnceLock<Moto> = OnceLock::new();
        SHARED.get_or_init(|| {
            let mut child = Command::new(python.program())
                .args(["-u", "-c", SERVER])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
            let mut said = String::new();
            let url = loop {
                let line = lines
                    .next()
                    .unwrap_or_else(|| panic!("moto ended: {said}"))
                    .unwrap();
                if let Some((_, url)) = line.split_once("Running on ") {
                    break url.trim().to_owned();
                }
                said.push_str(&line);
            };
            // Drains the log of requests, so that the server does not block on a full pipe.
            std::thread::spawn(move || lines.for_each(drop));
            Self { url, _child: child }
        })
    }

    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The value of the header `Authorization`, by which moto selects the service. It checks no
    /// signatures.
    #[must_use]
    pub fn authorization(service: &str) -> String {
        format!(
            "AWS4-HMAC-SHA256 Credential=nobody/20261101/us-east-1/{service}/aws4_request, \
             SignedHeaders=host, Signature=0"
        )
    }
}
