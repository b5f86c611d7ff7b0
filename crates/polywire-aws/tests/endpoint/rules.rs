//! What rule trees evaluate to.

use polywire_aws::endpoint::{
    Argument, ArgumentError, ParameterType, Partitions, ResolveError, RuleSet, built_in,
};
use serde_json::{Value, json};

pub(crate) fn parameters() -> Value {
    json!({
        "Bucket": { "type": "string", "documentation": "" },
        "Flag": { "type": "boolean", "required": true, "default": false, "builtIn": "AWS::UseFIPS" },
        "Maybe": { "type": "boolean" },
        "Names": { "type": "stringArray", "documentation": "" },
        "Region": { "type": "string", "builtIn": "AWS::Region", "deprecated": { "since": "2026" } },
    })
}

/// One rule with these conditions, which writes `url`; otherwise the error `none`.
fn rule_set(conditions: &Value, url: &str) -> Value {
    json!({
        "version": "1.0",
        "parameters": parameters(),
        "rules": [
            { "type": "endpoint", "conditions": conditions, "endpoint": { "url": url } },
            { "type": "error", "conditions": [], "error": "none" },
        ],
    })
}

fn resolve(
    conditions: Value,
    url: &str,
    arguments: &[(&'static str, Argument<'static>)],
) -> String {
    let rules = RuleSet::from_tree(&rule_set(&conditions, url)).unwrap();
    let mut set = rules.arguments();
    for (name, argument) in arguments {
        set.set(name, argument.clone()).unwrap();
    }
    match set.resolve(Partitions::aws()) {
        Ok(endpoint) => endpoint.url,
        Err(error) => error.to_string(),
    }
}

#[test]
fn templates_have_references_paths_and_escapes() {
    let conditions = json!([
        { "fn": "aws.parseArn", "argv": [{ "ref": "Bucket" }], "assign": "arn" },
        { "fn": "getAttr", "argv": [{ "ref": "arn" }, "resourceId[1]"], "assign": "second" },
    ]);
    let url = "{{x}}-{arn#region}-{second}-{Bucket}";
    let bucket = [("Bucket", "arn:aws:s3:us-west-2:1:a/b".into())];
    assert_eq!(
        resolve(conditions.clone(), url, &bucket),
        "{x}-us-west-2-b-arn:aws:s3:us-west-2:1:a/b"
    );
    // The second part of the resource is absent, so the condition does not match.
    let bucket = [("Bucket", "arn:aws:s3:us-west-2:1:a".into())];
    assert_eq!(resolve(conditions, url, &bucket), "none");
}

#[test]
fn conditions_with_absent_values_do_not_match() {
    for test in [
        json!({ "fn": "isSet", "argv": [{ "ref": "Bucket" }] }),
        json!({ "fn": "stringEquals", "argv": [{ "ref": "Bucket" }, { "ref": "Bucket" }] }),
        json!({ "fn": "booleanEquals", "argv": [{ "ref": "Maybe" }, { "ref": "Maybe" }] }),
        json!({ "fn": "not", "argv": [{ "ref": "Maybe" }] }),
        json!({ "fn": "uriEncode", "argv": [{ "ref": "Bucket" }], "assign": "x" }),
        json!({ "fn": "uriEncode", "argv": ["{Bucket}x"], "assign": "x" }),
        json!({ "fn": "isValidHostLabel", "argv": [{ "ref": "Bucket" }, true] }),
        json!({ "fn": "not", "argv": [{ "fn": "isValidHostLabel", "argv": [{ "ref": "Bucket" }, true] }] }),
        json!({ "fn": "coalesce", "argv": [{ "ref": "Bucket" }, { "ref": "Region" }], "assign": "x" }),
        json!({ "fn": "getAttr", "argv": [{ "ref": "Names" }, "[0]"], "assign": "x" }),
        json!({ "fn": "split", "argv": [{ "ref": "Bucket" }, ",", 0], "assign": "x" }),
        json!({ "fn": "substring", "argv": [{ "ref": "Bucket" }, 0, 1, false], "assign": "x" }),
    ] {
        assert_eq!(resolve(json!([test]), "matched", &[]), "none", "{test}");
    }
}

#[test]
fn functions_of_the_newer_versions() {
    let ite =
        json!([{ "fn": "ite", "argv": [{ "ref": "Flag" }, "-fips", ""], "assign": "suffix" }]);
    assert_eq!(resolve(ite.clone(), "a{suffix}", &[]), "a");
    assert_eq!(
        resolve(ite, "a{suffix}", &[("Flag", true.into())]),
        "a-fips"
    );
    let split = json!([
        { "fn": "split", "argv": [{ "ref": "Bucket" }, "--", 2], "assign": "parts" },
        { "fn": "getAttr", "argv": [{ "ref": "parts" }, "[1]"], "assign": "rest" },
    ]);
    assert_eq!(
        resolve(split, "{rest}", &[("Bucket", "a--b--c".into())]),
        "b--c"
    );
    let array = json!([
        { "fn": "isSet", "argv": [{ "ref": "Bucket" }] },
        { "fn": "coalesce", "argv": [["{Bucket}", "y"], { "ref": "Names" }], "assign": "all" },
        { "fn": "getAttr", "argv": [{ "ref": "all" }, "[0]"], "assign": "first" },
    ]);
    assert_eq!(resolve(array, "{first}", &[("Bucket", "x".into())]), "x");
}

#[test]
fn a_tree_rule_that_matches_is_final() {
    let never = json!([{ "fn": "booleanEquals", "argv": [true, false] }]);
    let rules = json!({
        "version": "1.3",
        "parameters": {},
        "rules": [
            {
                "type": "tree",
                "conditions": [],
                "rules": [{ "type": "error", "conditions": never, "error": "inner" }],
            },
            { "type": "error", "conditions": [], "error": "outer" },
        ],
    });
    let rules = RuleSet::from_json(&rules.to_string()).unwrap();
    let error = rules.arguments().resolve(Partitions::aws()).unwrap_err();
    assert_eq!(error, ResolveError::NoMatch);
}

#[test]
fn endpoints_have_headers_properties_and_schemes() {
    let rules = json!({
        "version": "1.0",
        "parameters": parameters(),
        "rules": [{
            "type": "endpoint",
            "conditions": [{ "fn": "isSet", "argv": [{ "ref": "Region" }] }],
            "endpoint": {
                "url": { "ref": "Region" },
                "headers": { "x-region": ["{Region}", "*"] },
                "properties": {
                    "backend": "S3Express",
                    "limits": { "most": 3 },
                    "authSchemes": [
                        { "name": "sigv4a", "signingRegionSet": ["*", "{Region}"], "disableDoubleEncoding": true },
                        { "name": "sigv4", "signingName": "s3", "signingRegion": "{Region}", "disableNormalizePath": true },
                    ],
                },
            },
        }],
    });
    let rules = RuleSet::from_tree(&rules).unwrap();
    let mut arguments = rules.arguments();
    assert_eq!(
        arguments.set_built_in(built_in::REGION, "eu-north-1"),
        Ok(true)
    );
    assert_eq!(
        arguments.set_built_in(built_in::SDK_ENDPOINT, "x"),
        Ok(false)
    );
    let endpoint = arguments.resolve(Partitions::aws()).unwrap();
    assert_eq!(endpoint.url, "eu-north-1");
    let values = vec!["eu-north-1".to_owned(), "*".to_owned()];
    assert_eq!(endpoint.headers, [("x-region".to_owned(), values)]);
    assert_eq!(endpoint.backend(), Some("S3Express"));
    let schemes: Vec<_> = endpoint.auth_schemes().collect();
    assert_eq!(schemes[0].name(), "sigv4a");
    let regions: Vec<_> = schemes[0].signing_region_set().collect();
    assert_eq!(regions, ["*", "eu-north-1"]);
    assert!(schemes[0].disable_double_encoding() && !schemes[0].disable_normalize_path());
    assert_eq!(schemes[1].signing_name(), Some("s3"));
    assert_eq!(schemes[1].signing_region(), Some("eu-north-1"));
    assert!(!schemes[1].disable_double_encoding() && schemes[1].disable_normalize_path());
}

#[test]
fn parameters_are_listed_and_their_types_checked() {
    let rules = RuleSet::from_tree(&rule_set(&json!([]), "x")).unwrap();
    assert_eq!(rules.built_ins(), [built_in::REGION, built_in::USE_FIPS]);
    let flag = rules.parameter("Flag").unwrap();
    assert_eq!(flag.kind(), ParameterType::Boolean);
    assert_eq!(flag.default(), Some(&false.into()));
    assert!(flag.is_required() && !flag.is_deprecated());
    assert!(rules.parameter("Region").unwrap().is_deprecated());
    let mut arguments = rules.arguments();
    let error = arguments.set("Flag", "true").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the parameter `Flag` requires a value of the type boolean"
    );
    assert!(matches!(
        arguments.set("flag", true),
        Err(ArgumentError::Unknown { .. })
    ));
    assert_eq!(arguments.get("Flag"), None);
}

#[test]
fn a_required_parameter_must_be_set() {
    let rules = json!({
        "version": "1.0",
        "parameters": { "Region": { "type": "String", "required": true } },
        "rules": [{ "type": "error", "conditions": [], "error": "x" }],
    });
    let rules = RuleSet::from_tree(&rules).unwrap();
    let error = rules.arguments().resolve(Partitions::aws()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the required parameter `Region` is not set"
    );
}

#[test]
fn texts_that_double_with_each_condition_are_bounded() {
    let mut conditions = vec![json!({ "fn": "isSet", "argv": [{ "ref": "Bucket" }] })];
    let mut last = "Bucket".to_owned();
    for step in 0..60 {
        let text = format!("{{{last}}}{{{last}}}");
        last = format!("v{step}");
        conditions.push(json!({ "fn": "coalesce", "argv": [text, ""], "assign": last }));
    }
    let found = resolve(conditions.into(), "x", &[("Bucket", "ab".into())]);
    assert_eq!(
        found,
        "a text of the endpoint rules is longer than 65536 bytes"
    );
}

#[test]
fn tables_of_partitions_can_be_replaced() {
    let table = json!({
        "version": "1.1",
        "partitions": [{
            "id": "moon",
            "regionRegex": "^moon-\\d+$",
            "regions": { "moon-1": { "description": "near" }, "moon-2": { "supportsFIPS": false, "dnsSuffix": "far.example" } },
            "outputs": {
                "name": "moon", "dnsSuffix": "moon.example", "dualStackDnsSuffix": "dual.moon.example",
                "supportsFIPS": true, "supportsDualStack": false, "implicitGlobalRegion": "moon-1",
            },
        }],
    });
    let table = Partitions::from_json(&table.to_string()).unwrap();
    assert_eq!(table.find("moon-1").unwrap().dns_suffix(), "moon.example");
    assert_eq!(
        table.find("moon-9").unwrap().implicit_global_region(),
        Some("moon-1")
    );
    let far = table.find("moon-2").unwrap();
    assert_eq!(
        (far.dns_suffix(), far.supports_fips()),
        ("far.example", false)
    );
    assert_eq!(far.dual_stack_dns_suffix(), "dual.moon.example");
    // Without a partition `aws`, there is none for other regions.
    assert_eq!(table.find("us-east-1"), None);
}
