//! Clients in other languages: a script that gets a URL and prints its results.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::workspace;

/// A program that runs scripts.
#[derive(Clone, Debug)]
pub struct Script {
    program: &'static str,
    option: &'static str,
    prelude: &'static str,
    environment: Vec<(&'static str, OsString)>,
}

/// `try_call`, which returns the answer or the fault as one line, and `show`.
const PERL: &str = r#"
use strict; use warnings; no warnings 'once';
use RPC::XML; use RPC::XML::Client; use JSON::PP;
binmode STDOUT, ':utf8';
our $url = $ARGV[0];
our $json = JSON::PP->new->canonical->allow_nonref->allow_blessed->allow_unknown;
sub show { print $json->encode($_[0]), "\n" }
sub answer {
    my $answer = $_[0];
    return "error: $answer" unless ref $answer;
    return { code => $answer->code, text => $answer->string } if $answer->is_fault;
    return $answer->value;
}
"#;

/// `call`, which returns a promise of the answer, or of the error as a value.
const NODE: &str = r"
const xmlrpc = require('xmlrpc');
const url = process.argv[1];
const client = (at = url) => xmlrpc.createClient({ url: at, headers: { Connection: 'close' } });
const call = (method, parameters, at = url) => new Promise((resolve) => {
    client(at).methodCall(method, parameters, (error, value) => {
        if (!error) resolve(value);
        else if (error.faultCode !== undefined) resolve({ code: error.faultCode, text: error.faultString });
        else resolve('error: ' + error.message);
    });
});
const show = (value) => console.log(JSON.stringify(value));
";

/// `call`, which returns the answer, the fault as a value or the error as a line, and `show`.
const RUBY: &str = r#"
require 'json'
require 'xmlrpc/client'
$client = XMLRPC::Client.new2(ARGV[0])
def show(value) puts JSON.generate(value) end
def call(method, *parameters)
    $client.call(method, *parameters)
rescue XMLRPC::FaultException => fault
    { 'code' => fault.faultCode, 'text' => fault.faultString }
rescue StandardError => error
    "error: #{error.message}"
end
"#;

impl Script {
    /// Finds Perl with RPC::XML, or returns the reason why it is missing.
    pub(crate) fn perl() -> Result<Self, String> {
        Self {
            program: "perl",
            option: "-e",
            prelude: PERL,
            environment: Vec::new(),
        }
        .with("use RPC::XML; use RPC::XML::Client; use JSON::PP;")
    }

    /// Finds Node with its `xmlrpc`, in UTC, or returns the reason why it is missing.
    pub(crate) fn node() -> Result<Self, String> {
        let modules = workspace().join("tests/interop/node_modules");
        Self {
            program: "node",
            option: "-e",
            prelude: NODE,
            environment: vec![("NODE_PATH", modules.into()), ("TZ", "UTC".into())],
        }
        .with("require('xmlrpc')")
    }

    /// Finds Ruby with its `xmlrpc`, or returns the reason why it is missing.
    pub(crate) fn ruby() -> Result<Self, String> {
        Self {
            program: "ruby",
            option: "-e",
            prelude: RUBY,
            environment: Vec::new(),
        }
        .with("require 'json'; require 'xmlrpc/client'")
    }

    fn with(self, modules: &str) -> Result<Self, String> {
        match self.command(modules).output() {
            Ok(output) if output.status.success() => Ok(self),
            Ok(_) => Err(format!("{}: cannot load: {modules}", self.program)),
            Err(error) => Err(format!("{}: {error}", self.program)),
        }
    }

    fn command(&self, script: &str) -> Command {
        let mut command = Command::new(self.program);
        command
            .args([self.option, script])
            .envs(self.environment.iter().cloned())
            .env("no_proxy", "*")
            .stdin(Stdio::null());
        command
    }

    /// Runs a script with a URL as its argument. Returns what it prints.
    ///
    /// # Panics
    ///
    /// The script fails.
    #[must_use]
    pub fn print(&self, url: &str, script: &str) -> String {
        let script = format!("{}{script}", self.prelude);
        let output = self.command(&script).arg(url).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", self.program);
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The program `xmlrpc` of xmlrpc-c.
#[derive(Clone, Debug)]
pub struct XmlRpcC(PathBuf);

impl XmlRpcC {
    pub(crate) fn find() -> Result<Self, String> {
        match Command::new("xmlrpc").arg("--help").output() {
            Ok(_) => Ok(Self("xmlrpc".into())),
            Err(error) => Err(format!("xmlrpc of xmlrpc-c: {error}")),
        }
    }

    /// Calls a method with arguments such as `i/5` and `s/text`. Returns the result as the program
    /// prints it, without its first line.
    ///
    /// # Errors
    ///
    /// The error that the program printed, if it failed.
    pub fn call(&self, url: &str, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.0)
            .arg(url)
            .args(arguments)
            .env("no_proxy", "*")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
        if !output.status.success() {
            return Err(text(&output.stderr));
        }
        let printed = text(&output.stdout);
        let result = printed.strip_prefix("Result:").unwrap_or(&printed);
        Ok(result.trim().to_owned())
    }
}
