//! botocore and boto3 with data that `polywire export botocore` wrote.
//!
//! For AWS models, the export is compared with the data of botocore: the operations, members and
//! names on the wire are the same except for the entries of `differences.txt`, and the requests are
//! equal byte by byte. For the weather service, real clients call a real server.

mod official;
mod program;
mod weather;

use std::path::{Path, PathBuf};

use polywire::schema::Value;
use polywire_interop::{Case, Python, run, workspace};

/// The version of botocore that `differences.txt` is for, which the setup installs.
const VERSION: &str = "1.43.11";

/// A folder of exports. It is removed on drop.
pub(crate) struct Exports(pub(crate) PathBuf);

impl Exports {
    pub(crate) fn new(case: &str) -> Self {
        let name = format!("polywire-{case}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// Exports a model with more arguments.
    pub(crate) fn add(&self, model: &Path, arguments: &[&str]) {
        let folder = self.0.to_str().unwrap();
        let model = model.to_str().unwrap();
        let all = ["export", "botocore", "--output", folder, model];
        let export = run(&[&all, arguments].concat());
        assert_eq!(export.code, Some(0), "{}", export.stderr);
        assert!(
            export.stdout.contains("service-2.json"),
            "{}",
            export.stdout
        );
    }
}

impl Drop for Exports {
    fn drop(&mut self) {
        // Files that remain in the temporary folder are harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns Python with the expected version of botocore, or skips the case.
pub(crate) fn python(case: &Case) -> Option<Python> {
    let python = case.python(&["awscli", "boto3", "botocore", "cbor2"])?;
    let found = python.run("", "import botocore\nshow(botocore.__version__)");
    if found.as_str() != Some(VERSION) {
        let found = found.as_str().unwrap_or_default();
        case.skip(&format!("botocore is {found}, not {VERSION}"));
        return None;
    }
    Some(python)
}

/// Runs a script of this folder with arguments.
fn script(python: &Python, script: &str, arguments: &[&str]) -> Value {
    let arguments: Vec<String> = arguments.iter().map(|a| format!("{a:?}")).collect();
    let script = format!("sys.argv[1:] = [{}]\n{script}", arguments.join(", "));
    python.run("", &script)
}

/// An AWS service, with the name of its model and the version of its botocore data.
struct Service {
    name: &'static str,
    version: &'static str,
    /// The name of the protocol in botocore.
    protocol: &'static str,
    /// The number of operations whose requests are compared.
    operations: i64,
}

impl Service {
    /// Exports the model, and compares the model and the requests.
    fn agrees(&self, case: &'static str) {
        let case = Case::begin(case);
        let Some((python, exports, model)) = self.export(&case, &[]) else {
            return;
        };
        self.same_model(&python, &exports, &model);
        self.same_requests(&python, &exports);
    }

    /// Returns Python, the export, and the file of the model.
    fn export(&self, case: &Case, more: &[&str]) -> Option<(Python, Exports, PathBuf)> {
        let python = python(case)?;
        let model = polywire_interop::model(self.name);
        let exports = Exports::new(&format!("{}-{}", self.name, self.protocol));
        exports.add(&model, more);
        Some((python, exports, model))
    }

    /// Asserts that operations, members and names are the same, except for known differences.
    fn same_model(&self, python: &Python, exports: &Exports, model: &Path) {
        let (folder, model) = (exports.0.to_str().unwrap(), model.to_str().unwrap());
        let arguments = [folder, self.name, self.version, self.protocol, model];
        let lines = script(python, include_str!("compare.py"), &arguments);
        let lines = lines.as_list().unwrap().iter();
        let lines: Vec<String> = lines
            .map(|line| format!("{} {}", self.name, line.as_str().unwrap()))
            .collect();
        let known: Vec<&str> = known(self.name);
        let is_known = |line: &str| known.iter().any(|pattern| matches(pattern, line));
        let unknown = lines.iter().map(String::as_str);
        let unknown: Vec<&str> = unknown.filter(|line| !is_known(line)).collect();
        assert!(
            unknown.is_empty(),
            "{} differences that differences.txt does not explain:\n{}",
            unknown.len(),
            unknown.join("\n")
        );
        for pattern in known {
            let is_own = !pattern.starts_with('*');
            let is_used = lines.iter().any(|line| matches(pattern, line));
            assert!(!is_own || is_used, "not true any more: {pattern}");
        }
    }

    /// Asserts that the requests of all operations have the same bytes.
    fn same_requests(&self, python: &Python, exports: &Exports) {
        let folder = exports.0.to_str().unwrap();
        let arguments = [folder, self.name, self.version, self.protocol];
        let answer = script(python, include_str!("requests.py"), &arguments);
        let different = answer["different"].as_list().unwrap().iter();
        let different = different.map(|line| line.as_str().unwrap());
        // In newer data, the algorithm of this checksum can be chosen.
        let known = |line: &&str| !line.starts_with("PutBucketOwnershipControls ");
        let unknown: Vec<&str> = different.filter(known).collect();
        assert!(unknown.is_empty(), "{}", unknown.join("\n"));
        assert_eq!(answer["equal"].as_i64(), Some(self.operations));
    }
}

/// The patterns for this service or for all services.
fn known(service: &str) -> Vec<&'static str> {
    let lines = include_str!("differences.txt").lines();
    let is_about = |line: &&str| {
        let own = line.split(' ').next();
        own == Some(service) || own == Some("*")
    };
    lines.filter(is_about).collect()
}

/// Whether a text matches a pattern, in which `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn patterns_match_whole_lines() {
    assert!(matches("a * c", "a b c"));
    assert!(matches("* c", "a b c"));
    assert!(matches("a *", "a b c"));
    assert!(matches("a b c", "a b c"));
    assert!(!matches("a b", "a b c"));
    assert!(!matches("a * d", "a b c"));
    assert!(!matches("a *b* c", "a c"));
}

macro_rules! services {
    ($($test:ident $name:literal $version:literal $protocol:literal $operations:literal)*) => {
        $(
            #[test]
            #[cfg_attr(not(aws_models), ignore = "no data: built without the models of POLYWIRE_DATA")]
            fn $test() {
                let service = Service {
                    name: $name,
                    version: $version,
                    protocol: $protocol,
                    operations: $operations,
                };
                service.agrees(stringify!($test));
            }
        )*
    };
}

services! {
    botocore_agrees_on_cloudwatch "cloudwatch" "2010-08-01" "query" 38
    botocore_agrees_on_dynamodb "dynamodb" "2012-08-10" "json" 57
    botocore_agrees_on_kinesis "kinesis" "2013-12-02" "json" 32
    botocore_agrees_on_lambda "lambda" "2015-03-31" "rest-json" 68
    botocore_agrees_on_s3 "s3" "2006-03-01" "rest-xml" 97
    botocore_agrees_on_sns "sns" "2010-03-31" "query" 42
    botocore_agrees_on_sqs "sqs" "2012-11-05" "json" 23
    botocore_agrees_on_sts "sts" "2011-06-15" "query" 9
}

/// The published model has only awsQuery. A second file adds the current protocols.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn botocore_agrees_on_cloudwatch_over_cbor() {
    let case = Case::begin("botocore_agrees_on_cloudwatch_over_cbor");
    let service = Service {
        name: "cloudwatch",
        version: "2010-08-01",
        protocol: "smithy-rpc-v2-cbor",
        operations: 38,
    };
    let today = "tests/interop/tests/cases/botocore/cloudwatch-today.smithy";
    let today = workspace().join(today);
    if let Some((python, exports, _)) = service.export(&case, &[today.to_str().unwrap()]) {
        service.same_requests(&python, &exports);
    }
}
