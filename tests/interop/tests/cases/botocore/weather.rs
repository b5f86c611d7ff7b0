//! boto3 and the aws CLI call the weather service, over both protocols that they and our server
//! support.

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, Serving, workspace};

use super::{Exports, python};

const CLIENT: &str = r#"
import os
import boto3, botocore.config, botocore.exceptions, botocore.session

# Nothing of the machine's: no settings, and no credentials, which are not needed.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(AWS_DATA_PATH=folder, AWS_CONFIG_FILE="/dev/null",
                  AWS_SHARED_CREDENTIALS_FILE="/dev/null", AWS_EC2_METADATA_DISABLED="true")
weather = boto3.client("weather", region_name="us-east-1", endpoint_url=url)

def without(answer, *names):
    return {name: item for name, item in answer.items() if name not in names}
"#;

/// Runs a script with a client of the weather service. Returns what it shows.
fn boto3(name: &'static str, protocol: &str, script: &str) -> Option<Value> {
    let case = Case::begin(name);
    let python = python(&case)?;
    let exports = Exports::new(name);
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    exports.add(&model, &["--protocol", protocol]);
    let serving = Serving::start(&[]);
    let folder = exports.0.to_str().unwrap();
    let script = format!("folder = {folder:?}\n{CLIENT}\n{script}");
    Some(python.run(serving.url(), &script))
}

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

/// Checks that give the same results over both protocols.
fn same(name: &'static str, protocol: &str) {
    let script = r#"
city = without(weather.get_city(cityId="oslo"), "ResponseMetadata")
forecast = weather.get_forecast(cityId="oslo", days=2)
pages = weather.get_paginator("list_cities").paginate(PaginationConfig={"PageSize": 1})
cities = [[city["cityId"] for city in page["cities"]] for page in pages]
observation = weather.put_observation(
    stationId="oslo-blindern", clientToken="t", reading={"raw": bytes(range(256))},
    observedAt=datetime.datetime(2026, 11, 1, 11, 55, tzinfo=datetime.timezone.utc))
errors = []
for call in (lambda: weather.get_city(cityId="atlantis"),
             lambda: weather.report_storm(name="Ylva", severity=2, track=[])):
    try:
        call()
    except weather.exceptions.ClientError as error:
        answer = error.response
        errors.append([type(error).__name__, answer["ResponseMetadata"]["HTTPStatusCode"],
                       without(answer, "ResponseMetadata", "Error")])
show({
    "city": city, "cities": cities, "errors": errors,
    "forecast": [forecast["issuedAt"], forecast["expiresAt"], forecast["temperatures"],
                 forecast["outlook"], forecast["days"][0]["date"]],
    "observation": [observation["observationId"], observation["status"],
                    observation["reading"]["raw"] == bytes(range(256))],
})
"#;
    let Some(answer) = boto3(name, protocol, script) else {
        return;
    };
    let city = json(
        r#"{"cityId":"oslo","name":"Oslo","coordinates":{"latitude":59.9139,"longitude":10.7522},
            "climate":"continental","population":717710,"elevation":23,"capital":true,
            "founded":"1048-01-01T00:00:00Z","tags":["fjord","harbour"],
            "localNames":{"nb":"Oslo","ja":"オスロ"},"revision":"\"r-17\""}"#,
    );
    let members = city.as_map().unwrap();
    for (member, value) in members.iter() {
        assert_eq!(&answer["city"][member], value, "{member}");
    }
    assert_eq!(answer["city"].as_map().unwrap().len(), members.len());
    assert_eq!(answer["cities"], json(r#"[["kyoto"],["oslo"],["quito"]]"#));
    assert_eq!(
        answer["forecast"],
        json(
            r#"["2026-11-01T12:00:00Z","2026-11-01T18:00:00Z",[3.5,4.25,2.0],
                {"wind":{"speed":7.5,"direction":225,"gusts":true}},"2026-11-01T00:00:00Z"]"#
        )
    );
    assert_eq!(answer["observation"], json("[20261101000001,201,true]"));
    let errors = &answer["errors"];
    assert_eq!(errors[0][0].as_str(), Some("NoSuchResource"));
    assert_eq!(errors[0][1].as_i64(), Some(404));
    assert_eq!(errors[0][2]["resourceId"].as_str(), Some("atlantis"));
    assert_eq!(errors[1][0].as_str(), Some("InvalidReport"));
    assert_eq!(
        errors[1][2]["problems"],
        json(r#"{"track":"at least one point is needed"}"#)
    );
}

#[test]
fn boto3_over_cbor() {
    same("boto3_over_cbor", "smithy-rpc-v2-cbor");
}

#[test]
fn boto3_over_rest_json() {
    same("boto3_over_rest_json", "rest-json");
}

/// Values that Python supports only over JSON and HTTP: big numbers, documents, bodies as streams,
/// lists in queries and labels with slashes.
#[test]
fn boto3_over_rest_json_more() {
    let script = r#"
year = weather.get_statistics(cityId="oslo", year=2025)
image = weather.get_station_image(stationId="oslo-blindern")
stations = weather.search_stations(text="o", kinds=["manned", "ship"])["stations"]
region = weather.describe_region(path="europe/norway")
gone = weather.delete_city(cityId="quito")
show([str(year["rainfallLitres"]), year["meanTemperature"], year["notes"]["authors"],
      image["image"].read()[:4] == b"\x89PNG", image["takenAt"], image["metadata"]["camera"],
      len(stations) > 0, len(region) > 1, gone["ResponseMetadata"]["HTTPStatusCode"]])
"#;
    let Some(answer) = boto3("boto3_over_rest_json_more", "restJson1", script) else {
        return;
    };
    assert_eq!(
        answer,
        json(
            r#"["123456789012345678901234567890",7.125,["Ada","Grace"],true,
                "2026-11-01T11:45:00Z","north",true,true,204]"#
        )
    );
}

/// Without endpoint rules in the model, the client reports that it needs `endpoint_url`.
#[test]
fn boto3_without_an_endpoint() {
    let script = r#"
try:
    boto3.client("weather", region_name="us-east-1").get_current_time()
except botocore.exceptions.EndpointResolutionError as error:
    show(str(error))
"#;
    let Some(answer) = boto3("boto3_without_an_endpoint", "rpcv2Cbor", script) else {
        return;
    };
    assert_eq!(
        answer.as_str(),
        Some("Weather has no endpoint of its own: say where it is with endpoint_url")
    );
}

/// The aws CLI with the same files: commands, options, pages, errors.
fn aws(name: &'static str, protocol: &str) {
    let script = r#"
import subprocess

def aws(*arguments):
    command = [sys.executable, "-m", "awscli", "weather", *arguments, "--endpoint-url", url,
               "--region", "us-east-1", "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return [done.returncode, json.loads(done.stdout) if done.stdout else done.stderr.strip()]

show([
    aws("list-cities", "--max-items", "2", "--query", "cities[].cityId"),
    aws("get-city", "--city-id", "oslo", "--query", "[name, population, localNames.ja]"),
    aws("get-city", "--city-id", "atlantis"),
    aws("report-storm", "--name", "Ylva", "--severity", "2", "--affected-cities", "oslo",
        "--client-token", "t", "--track",
        '[{"at":"2026-11-01T10:00:00Z","position":{"latitude":58,"longitude":7}}]',
        "--query", "stormId"),
])
"#;
    let Some(answer) = boto3(name, protocol, script) else {
        return;
    };
    assert_eq!(answer[0], json(r#"[0,["kyoto","oslo"]]"#));
    assert_eq!(answer[1][0].as_i64(), Some(0), "{:?}", answer[1]);
    assert_eq!(answer[1][1][0].as_str(), Some("Oslo"));
    assert_eq!(answer[1][1][1].as_i64(), Some(717_710));
    assert_eq!(answer[1][1][2].as_str(), Some("オスロ"));
    assert_ne!(answer[2][0].as_i64(), Some(0));
    let error = answer[2][1].as_str().unwrap_or_default();
    assert!(error.contains("(NoSuchResource)"), "{error}");
    assert!(error.contains("there is no city \"atlantis\""), "{error}");
    assert_eq!(answer[3], json(r#"[0,"storm-2026-1"]"#));
}

#[test]
fn aws_cli_over_cbor() {
    aws("aws_cli_over_cbor", "smithy-rpc-v2-cbor");
}

#[test]
fn aws_cli_over_rest_json() {
    aws("aws_cli_over_rest_json", "rest-json");
}
