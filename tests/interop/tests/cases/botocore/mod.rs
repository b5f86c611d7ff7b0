//! botocore and boto3 with data that `polywire export botocore` wrote.
//!
//! For models of AWS the export is held against what botocore ships: the same
//! operations, members and names on the wire but for what `differences.txt`
//! explains, and the same requests byte by byte. For the weather service real
//! clients call a real server.

mod official;
mod program;
mod weather;

use std::path::{Path, PathBuf};

use polywire::schema::Value;
use polywire_interop::{Case, Python, run};

/// The version that `differences.txt` was written for, which the setup installs.
const VERSION: &str = "1.43.11";

/// A folder of exports that is removed when this is dropped.
struct Exports(PathBuf);

impl Exports {
    fn new(case: &str) -> Self {
        let name = format!("polywire-{case}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// Exports a model with more arguments.
    fn add(&self, model: &Path, arguments: &[&str]) {
        let folder = self.0.to_str().unwrap();
        let model = model.to_str().unwrap();
        let all = ["export", "botocore", model, "--output", folder];
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
        // What is left in a folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Python with a botocore that there are expectations for.
fn python(case: &Case) -> Option<Python> {
    let python = case.python(&["boto3", "botocore", "cbor2"])?;
    let found = python.run("", "import botocore\nshow(botocore.__version__)");
    if found.as_str() != Some(VERSION) {
        let found = found.as_str().unwrap_or_default();
        case.skip(&format!("botocore is {found}, not {VERSION}"));
        return None;
    }
    Some(python)
}

/// Runs one of the scripts of this folder with arguments.
fn script(python: &Python, script: &str, arguments: &[&str]) -> Value {
    let arguments: Vec<String> = arguments.iter().map(|a| format!("{a:?}")).collect();
    let script = format!("sys.argv[1:] = [{}]\n{script}", arguments.join(", "));
    python.run("", &script)
}

fn agrees(name: &'static str, model: &str, version: &str, protocol: &str) {
    let case = Case::begin(name);
    let (Some(python), Some(file)) = (python(&case), case.data(&format!("models/{model}.json")))
    else {
        return;
    };
    let exports = Exports::new(name);
    exports.add(&file, &[]);
    let folder = exports.0.to_str().unwrap();

    let compare = include_str!("compare.py");
    let arguments = [folder, model, version, protocol, file.to_str().unwrap()];
    let lines = script(&python, compare, &arguments);
    let lines = lines.as_list().unwrap().iter();
    let lines: Vec<String> = lines
        .map(|line| format!("{model} {}", line.as_str().unwrap()))
        .collect();
    let known: Vec<&str> = known(model);
    let unknown = lines
        .iter()
        .filter(|line| !known.iter().any(|pattern| matches(pattern, line)));
    let unknown: Vec<&str> = unknown.map(String::as_str).collect();
    assert!(
        unknown.is_empty(),
        "{} differences that differences.txt does not explain:\n{}",
        unknown.len(),
        unknown.join("\n")
    );
    for pattern in known {
        let own = pattern.starts_with(model);
        let is_used = lines.iter().any(|line| matches(pattern, line));
        assert!(!own || is_used, "not true any more: {pattern}");
    }

    let requests = include_str!("requests.py");
    let answer = script(&python, requests, &[folder, model, version, protocol]);
    let different = answer["different"].as_list().unwrap().iter();
    let different: Vec<&str> = different.map(|line| line.as_str().unwrap()).collect();
    // Younger data: the algorithm of the checksum can be chosen.
    let is_known = |line: &&str| model == "s3" && line.starts_with("PutBucketOwnershipControls ");
    let unknown: Vec<&str> = different
        .into_iter()
        .filter(|line| !is_known(line))
        .collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(answer["equal"].as_i64() > Some(8), "{:?}", answer["equal"]);
}

/// The patterns that are about a service or about all.
fn known(service: &str) -> Vec<&'static str> {
    let lines = include_str!("differences.txt").lines();
    let is_about = |line: &&str| {
        let own = line.split(' ').next();
        own == Some(service) || own == Some("*")
    };
    lines.filter(is_about).collect()
}

/// Whether a text is like a pattern, in which `*` stands for anything.
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

macro_rules! models {
    ($($test:ident $model:literal $version:literal $protocol:literal)*) => {
        $(
            #[test]
            fn $test() {
                agrees(stringify!($test), $model, $version, $protocol);
            }
        )*
    };
}

models! {
    botocore_agrees_on_cloudwatch "cloudwatch" "2010-08-01" "query"
    botocore_agrees_on_dynamodb "dynamodb" "2012-08-10" "json"
    botocore_agrees_on_kinesis "kinesis" "2013-12-02" "json"
    botocore_agrees_on_lambda "lambda" "2015-03-31" "rest-json"
    botocore_agrees_on_s3 "s3" "2006-03-01" "rest-xml"
    botocore_agrees_on_sns "sns" "2010-03-31" "query"
    botocore_agrees_on_sqs "sqs" "2012-11-05" "json"
    botocore_agrees_on_sts "sts" "2011-06-15" "query"
}
