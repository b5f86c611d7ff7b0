//! AWS services in both directions: unmodified boto3 calls mocks of their models, and our clients
//! call moto's server.

mod moto_call;
mod moto_typed;

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, Serving, model, workspace};

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

/// Serves a model with the answers of `aws/{service}.smithy`, and runs the script with boto3.
/// Returns what it shows.
fn mock(name: &'static str, service: &str, script: &str, more: &[&str]) -> Option<Value> {
    let case = Case::begin(name);
    let python = case.python(&["boto3", "cbor2"])?;
    let model = model(service);
    let folder = workspace().join("tests/interop/tests/cases");
    let answers = folder.join(format!("aws/{service}.smithy"));
    let mut arguments = vec![
        "--stateless",
        "--model",
        model.to_str().unwrap(),
        answers.to_str().unwrap(),
    ];
    arguments.extend(more);
    let serving = Serving::start(&arguments);
    let script = format!("{}\n{script}", include_str!("client.py"));
    Some(python.run(serving.url(), &script))
}

/// Asserts that a script has shown this, member by member.
fn shows(answer: &Value, expected: &str) {
    let expected = json(expected);
    for (member, value) in expected.as_map().unwrap().iter() {
        assert_eq!(&answer[member], value, "{member}");
    }
    assert_eq!(answer, &expected);
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_sqs_calls_mock() {
    let name = "boto3_sqs_calls_mock";
    let Some(answer) = mock(name, "sqs", include_str!("sqs.py"), &[]) else {
        return;
    };
    shows(
        &answer,
        r#"{
            "pages": [["http://sqs/1/orders-a", "http://sqs/1/orders-b"], ["http://sqs/1/orders-c"]],
            "found": {"QueueUrl": "http://sqs/1/orders-a"},
            "error": ["QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue",
                "there is no orders-z", 400],
            "is": "QueueDoesNotExist",
            "sent": {"MD5OfMessageBody": "9cdfb439c7876e703e307864c9167a15", "MessageId": "m-1"},
            "received": {"Messages": [
                {"MessageId": "m-1", "ReceiptHandle": "r-1", "Body": "tea & <milk>",
                    "Attributes": {"SentTimestamp": "1700000000000"},
                    "MessageAttributes": {"bytes": {"BinaryValue": "AAH+/w==", "DataType": "Binary"}}},
                {"MessageId": "m-2", "ReceiptHandle": "r-2", "Body": ""}]},
            "deleted": {}
        }"#,
    );
}

/// Without examples, lists end, and the MD5 sums are those that clients of SQS check. The clients
/// for Go, Java and JavaScript check them by default.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_sqs_calls_samples() {
    let case = Case::begin("boto3_sqs_calls_samples");
    let Some(python) = case.python(&["boto3", "cbor2"]) else {
        return;
    };
    let model = model("sqs");
    let serving = Serving::start(&["--stateless", "--model", model.to_str().unwrap()]);
    let script = include_str!("sqs_samples.py");
    let script = format!("{}\n{script}", include_str!("client.py"));
    shows(
        &python.run(serving.url(), &script),
        r#"{
            "pages": 1,
            "sent": {"MD5OfMessageBody": true},
            "received": {"MD5OfBody": true},
            "batch": {"a": true, "b": true}
        }"#,
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_sns_calls_mock() {
    let name = "boto3_sns_calls_mock";
    let Some(answer) = mock(name, "sns", include_str!("sns.py"), &[]) else {
        return;
    };
    shows(
        &answer,
        r#"{
            "pages": [["arn:aws:sns:us-east-1:1:a", "arn:aws:sns:us-east-1:1:b"],
                ["arn:aws:sns:us-east-1:1:c"]],
            "published": {"MessageId": "m-1", "SequenceNumber": "18446744073709551616"},
            "attributes": {"Attributes": {"DisplayName": "a <b> & c", "Empty": ""}},
            "error": ["NotFoundException", "NotFound", "there is no z", 404],
            "created": ["TopicArn"],
            "deleted": {}
        }"#,
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_dynamodb_calls_mock() {
    let name = "boto3_dynamodb_calls_mock";
    let Some(answer) = mock(name, "dynamodb", include_str!("dynamodb.py"), &[]) else {
        return;
    };
    shows(
        &answer,
        r#"{
            "pages": [["cities", "lakes"], ["mountains"]],
            "item": {
                "Item": {"id": {"S": "oslo"}, "population": {"N": "717710"},
                    "flag": {"B": "AAH+/w=="}, "capital": {"BOOL": true}, "mayor": {"NULL": true},
                    "names": {"SS": ["Oslo", "Christiania"]}, "heights": {"NS": ["1", "2.5"]},
                    "parts": {"L": [{"S": "Frogner"}, {"M": {"depth": {"N": "2"}}}]}},
                "ConsumedCapacity": {"TableName": "cities", "CapacityUnits": 0.5}},
            "error": ["ResourceNotFoundException", "ResourceNotFoundException",
                "there is no table rivers", 400],
            "put": {"ConsumedCapacity": {"TableName": "cities", "CapacityUnits": 1.5}},
            "table": ["2023-11-14T22:13:20.250000Z", "9007199254740993", "ACTIVE"],
            "invalid": ["ClientError", "ValidationException"]
        }"#,
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_kinesis_calls_mock() {
    let name = "boto3_kinesis_calls_mock";
    let Some(answer) = mock(name, "kinesis", include_str!("kinesis.py"), &[]) else {
        return;
    };
    shows(
        &answer,
        r#"{
            "pages": [["hail", "rain"], ["wind"]],
            "summary": {
                "StreamName": "rain", "StreamARN": "arn:aws:kinesis:us-east-1:123456789012:stream/rain",
                "StreamStatus": "ACTIVE", "StreamModeDetails": {"StreamMode": "ON_DEMAND"},
                "RetentionPeriodHours": 24,
                "StreamCreationTimestamp": "2023-11-14T22:13:20.250000Z",
                "EnhancedMonitoring": [{"ShardLevelMetrics": ["IncomingBytes", "ALL"]}, {}],
                "OpenShardCount": 4},
            "read": {
                "Records": [
                    {"SequenceNumber": "21269319989900637946712965403778482371",
                        "ApproximateArrivalTimestamp": "2023-11-14T22:13:20Z", "Data": "AAH+/w==",
                        "PartitionKey": "oslo"},
                    {"SequenceNumber": "21269319989900637946712965403778482372",
                        "ApproximateArrivalTimestamp": "2023-11-14T22:13:20.125000Z", "Data": "",
                        "PartitionKey": "grün"}],
                "MillisBehindLatest": 9007199254740993},
            "put": {"FailedRecordCount": 1, "Records": [
                {"SequenceNumber": "1", "ShardId": "shardId-000000000000"},
                {"ErrorCode": "InternalFailure", "ErrorMessage": "<too> busy"}]},
            "error": ["ResourceNotFoundException", "ResourceNotFoundException",
                "there is no stream snow", 400],
            "invalid": ["ValidationException", "ValidationException"],
            "tagged": {}
        }"#,
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_lambda_calls_mock() {
    let name = "boto3_lambda_calls_mock";
    let Some(answer) = mock(name, "lambda", include_str!("lambda.py"), &[]) else {
        return;
    };
    shows(
        &answer,
        r#"{
            "pages": [["blue", "green"], ["red"]],
            "called": {"StatusCode": 200, "FunctionError": "Unhandled", "LogResult": "bG9n",
                "ExecutedVersion": "7", "Payload": [0, 1, 254, 255]},
            "waiting": {"StatusCode": 202, "Payload": []},
            "settings": {
                "FunctionName": "rain", "Runtime": "provided.al2023", "CodeSize": 9007199254740993,
                "Timeout": 15, "LastModified": "2026-11-22T10:30:59.250+0000",
                "VpcConfig": {"SubnetIds": [], "Ipv6AllowedForDualStack": false},
                "Environment": {"Variables": {"CITY": "Tromsø", "EMPTY": ""}},
                "Architectures": ["arm64"]},
            "created": {
                "AliasArn": "arn:aws:lambda:us-east-1:123456789012:function:rain:live",
                "Name": "live", "Description": "tea & <milk> \"grün\"",
                "RoutingConfig": {"AdditionalVersionWeights": {"8": 0.1, "9": 1e-7}}},
            "status": 201,
            "error": ["ResourceNotFoundException", "ResourceNotFoundException",
                "there is no snow", 404],
            "invalid": ["ClientError", "ValidationException"],
            "tags": {"a & b": "", "c": "d"},
            "untagged": {}
        }"#,
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_sts_calls_mock() {
    let name = "boto3_sts_calls_mock";
    let Some(answer) = mock(name, "sts", include_str!("sts.py"), &[]) else {
        return;
    };
    shows(
        &answer,
        r#"{
            "assumed": {
                "Credentials": {"AccessKeyId": "AKIAIOSFODNN7EXAMPLE",
                    "SecretAccessKey": "wJalrXUtnFEMI/K7MDENG", "SessionToken": "AQoD<&>//==",
                    "Expiration": "2026-11-22T10:30:59.250000Z"},
                "AssumedRoleUser": {"AssumedRoleId": "AROA123:w@x=y",
                    "Arn": "arn:aws:sts::123456789012:assumed-role/rain/w@x=y"},
                "PackedPolicySize": 6},
            "who": {"UserId": "AKIAI44QH8DHBEXAMPLE", "Account": "123456789012",
                "Arn": "arn:aws:iam::123456789012:user/Alice"},
            "decoded": {"DecodedMessage": "{\"allowed\":\"<no>\"}"},
            "error": ["InvalidAuthorizationMessageException", "InvalidAuthorizationMessageException",
                "it says nothing", 400],
            "code": ["MalformedPolicyDocumentException", "MalformedPolicyDocument",
                "a policy ends with }", 400],
            "invalid": ["ClientError", "ValidationError"]
        }"#,
    );
}

/// Current CloudWatch supports three protocols, and so does its mock.
fn cloudwatch(name: &'static str, wire: &str) {
    let script = format!("wire = {wire:?}\n{}", include_str!("cloudwatch.py"));
    let today = workspace().join("tests/interop/tests/cases/botocore/cloudwatch-today.smithy");
    let offered = ["--protocol", "awsJson1_0", "awsQuery", "rpcv2Cbor"];
    let more = [&[today.to_str().unwrap()][..], &offered].concat();
    let Some(answer) = mock(name, "cloudwatch", &script, &more) else {
        return;
    };
    assert_eq!(answer["wire"].as_str(), Some(wire));
    shows(
        &answer,
        &r#"{
            "wire": "WIRE",
            "pages": [
                [{"Namespace": "weather", "MetricName": "rain",
                    "Dimensions": [{"Name": "city", "Value": "oslo"}]}],
                [{"Namespace": "weather", "MetricName": "wind"}]],
            "statistics": {"Label": "rain", "Datapoints": [
                {"Timestamp": "2026-11-01T00:00:00Z", "Sum": 12.5, "Maximum": 1e-07, "Unit": "None"},
                {"Timestamp": "2026-11-02T00:00:00Z", "Sum": 0.1,
                    "ExtendedStatistics": {"p99": 0.30000000000000004}}]},
            "dashboard": {"DashboardBody": "{\"widgets\":[\"<&>\"]}", "DashboardName": "home"},
            "error": ["ResourceNotFound", "ResourceNotFound", "there is no away", 404],
            "put": {}
        }"#
        .replace("WIRE", wire),
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_cloudwatch_calls_mock_over_cbor() {
    cloudwatch(
        "boto3_cloudwatch_calls_mock_over_cbor",
        "smithy-rpc-v2-cbor",
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_cloudwatch_calls_mock_over_json() {
    cloudwatch("boto3_cloudwatch_calls_mock_over_json", "json");
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_cloudwatch_calls_mock_over_query() {
    cloudwatch("boto3_cloudwatch_calls_mock_over_query", "query");
}

/// A program that knows nothing of the double: several services on one port, and what they remember.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_calls_the_double() {
    let case = Case::begin("boto3_calls_the_double");
    let Some(python) = case.python(&["boto3"]) else {
        return;
    };
    let models = ["sqs", "sns", "s3"].map(model);
    let models = models.each_ref().map(|model| model.to_str().unwrap());
    let serving = Serving::start(&[&["--model"], &models[..]].concat());
    let script = format!(
        "{}\n{}",
        include_str!("client.py"),
        include_str!("double.py")
    );
    shows(
        &python.run(serving.url(), &script),
        r#"{
            "pages": [["a", "b"], ["c"]],
            "gone": "QueueDoesNotExist",
            "topic": "arn:aws:sns:us-east-1:123456789012:topic/news",
            "topics": [{"TopicArn": "arn:aws:sns:us-east-1:123456789012:topic/news"}],
            "copied": ["ell", "text/plain", "bytes 1-3/5"],
            "missing": "NoSuchKey",
            "no bucket": "404",
            "large": true,
            "keys": ["copy", "large"],
            "groups": ["2026/"]
        }"#,
    );
}
