//! Third-party programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use polywire::schema::Value;

use crate::workspace;

/// Python 3.
#[derive(Clone, Debug)]
pub struct Python {
    program: PathBuf,
}

/// The start of all scripts: `url`, and `show`, which prints a value as JSON in the forms that
/// [`Weather`](crate::Weather) reads.
const PRELUDE: &str = r#"
import base64, datetime, decimal, json, socket, sys, urllib.error, urllib.request
import xmlrpc.client

socket.setdefaulttimeout(30)
url = sys.argv[1]

def plain(value):
    if isinstance(value, xmlrpc.client.DateTime):
        value = datetime.datetime.strptime(value.value[:17], "%Y%m%dT%H:%M:%S")
    if isinstance(value, xmlrpc.client.Binary):
        value = value.data
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return value.isoformat() + "Z"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value

def show(value):
    print(json.dumps(plain(value)))
"#;

impl Python {
    /// Finds the Python of `.venv` or of the system, if it has these modules.
    pub(crate) fn find(modules: &[&str]) -> Result<Self, String> {
        let own = workspace().join(".venv/bin/python");
        let program = if own.exists() { own } else { "python3".into() };
        let import = format!("import sys, {}", [&["json"], modules].concat().join(", "));
        let tried = Command::new(&program)
            .args(["-c", &import])
            .stdin(Stdio::null())
            .output();
        match tried {
            Ok(output) if output.status.success() => Ok(Self { program }),
            Ok(_) => Err(format!(
                "{} has no {}",
                program.display(),
                modules.join(", ")
            )),
            Err(error) => Err(format!("{}: {error}", program.display())),
        }
    }

    /// The path of the interpreter, for running modules.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs a script with a URL as its argument. Returns the value that it shows.
    #[must_use]
    pub fn run(&self, url: &str, script: &str) -> Value {
        let text = self.print(url, script);
        match polywire::codec::json::read_value(&text) {
            Ok(value) => value,
            Err(error) => panic!("{error}: {text}"),
        }
    }

    /// Runs a script with a URL as its argument. Returns what it prints.
    #[must_use]
    pub fn print(&self, url: &str, script: &str) -> String {
        let script = format!("{PRELUDE}{script}");
        let output = Command::new(&self.program)
            .args(["-c", &script, url])
            .env("no_proxy", "*")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// curl.
#[derive(Clone, Copy, Debug)]
pub struct Curl;

/// A response that curl received.
#[derive(Clone, Debug)]
pub struct CurlAnswer {
    /// The status.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl CurlAnswer {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        match polywire::codec::json::read_value(self.text()) {
            Ok(value) => value,
            Err(error) => panic!("{error}: {}", self.text()),
        }
    }
}

impl Curl {
    pub(crate) fn find() -> Result<Self, String> {
        static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
        let found = FOUND.get_or_init(|| match Command::new("curl").arg("--version").output() {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("curl: {error}")),
        });
        found.clone().map(|()| Self)
    }

    /// Requests a URL with more arguments of curl.
    #[must_use]
    pub fn get(self, url: &str, arguments: &[&str]) -> CurlAnswer {
        let output = Command::new("curl")
            .args(["--silent", "--show-error", "--include", "--noproxy", "*"])
            .args(["--max-time", "30"])
            .args(arguments)
            .arg(url)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "curl {arguments:?} {url}: {errors}"
        );
        let mut rest = output.stdout.as_slice();
        loop {
            let end = rest
                .windows(4)
                .position(|four| four == b"\r\n\r\n")
                .unwrap();
            let head = std::str::from_utf8(&rest[..end]).unwrap();
            rest = &rest[end + 4..];
            let mut lines = head.lines();
            let first = lines.next().unwrap();
            let status = first.split(' ').nth(1).unwrap().parse().unwrap();
            // "100 Continue" precedes the final response.
            if status == 100 {
                continue;
            }
            let headers = lines.filter_map(|line| line.split_once(':'));
            let headers =
                headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
            return CurlAnswer {
                status,
                headers: headers.collect(),
                body: rest.to_vec(),
            };
        }
    }
}
