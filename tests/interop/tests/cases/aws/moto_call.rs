//! `polywire call` with the models of AWS against moto's server.

use polywire::schema::Value;
use polywire_interop::{Case, Finished, Moto, run};

use super::json;

/// A service of moto.
struct Service {
    moto: &'static Moto,
    model: String,
    header: String,
}

impl Service {
    /// `signing` is the name of the service in signatures, by which moto selects it.
    fn of(case: &Case, model: &str, signing: &str) -> Option<Self> {
        let moto = case.moto()?;
        let model = polywire_interop::model(model);
        Some(Self {
            moto,
            model: model.to_str().unwrap().to_owned(),
            header: format!("Authorization: {}", Moto::authorization(signing)),
        })
    }

    fn run(&self, operation: &str, input: &str) -> Finished {
        let own = ["--model", &self.model, "--header", &self.header];
        run(&[&["call", self.moto.url(), operation, input], &own[..]].concat())
    }

    /// Makes a call. Returns its output.
    fn call(&self, operation: &str, input: &str) -> Value {
        let ended = self.run(operation, input);
        assert_eq!(ended.code, Some(0), "{operation}: {}", ended.stderr);
        json(&ended.stdout)
    }

    /// Asserts that a call fails with an error of the model.
    fn fails(&self, operation: &str, input: &str, error: &str) {
        let ended = self.run(operation, input);
        assert_eq!(ended.code, Some(1), "{operation}: {}", ended.stderr);
        assert!(ended.stderr.starts_with(error), "{}", ended.stderr);
    }
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn polywire_call_moto_sqs() {
    let case = Case::begin("polywire_call_moto_sqs");
    let Some(sqs) = Service::of(&case, "sqs", "sqs") else {
        return;
    };
    let input = r#"{"QueueName":"called","Attributes":{"VisibilityTimeout":"5"}}"#;
    let queue = sqs.call("CreateQueue", input);
    let queue = queue["QueueUrl"].as_str().unwrap();
    let listed = sqs.call("ListQueues", r#"{"QueueNamePrefix":"called"}"#);
    assert_eq!(listed["QueueUrls"][0].as_str(), Some(queue));
    let input = format!(
        r#"{{"QueueUrl":"{queue}","MessageBody":"tea & <milk> ü",
            "MessageAttributes":{{"bytes":{{"DataType":"Binary","BinaryValue":"AAH+/w=="}}}}}}"#
    );
    let sent = sqs.call("SendMessage", &input);
    let input = format!(r#"{{"QueueUrl":"{queue}","MessageAttributeNames":["All"]}}"#);
    let received = sqs.call("ReceiveMessage", &input);
    let message = &received["Messages"][0];
    assert_eq!(message["MessageId"], sent["MessageId"]);
    assert_eq!(message["Body"].as_str(), Some("tea & <milk> ü"));
    let bytes = &message["MessageAttributes"]["bytes"]["BinaryValue"];
    assert_eq!(bytes.as_str(), Some("AAH+/w=="));
    let receipt = message["ReceiptHandle"].as_str().unwrap();
    let input = format!(r#"{{"QueueUrl":"{queue}","ReceiptHandle":"{receipt}"}}"#);
    assert_eq!(sqs.call("DeleteMessage", &input), json("{}"));
    let input = format!(r#"{{"QueueUrl":"{queue}"}}"#);
    assert_eq!(sqs.call("DeleteQueue", &input), json("{}"));
    sqs.fails(
        "GetQueueUrl",
        r#"{"QueueName":"called"}"#,
        "QueueDoesNotExist: ",
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn polywire_call_moto_sns() {
    let case = Case::begin("polywire_call_moto_sns");
    let Some(sns) = Service::of(&case, "sns", "sns") else {
        return;
    };
    let input = r#"{"Name":"called","Attributes":{"DisplayName":"a <b> & c"},
        "Tags":[{"Key":"k","Value":"v"}]}"#;
    let topic = sns.call("CreateTopic", input);
    let topic = topic["TopicArn"].as_str().unwrap();
    let listed = sns.call("ListTopics", "{}");
    let listed = listed["Topics"].as_list().unwrap();
    assert!(
        listed
            .iter()
            .any(|own| own["TopicArn"].as_str() == Some(topic))
    );
    let arn = format!(r#"{{"TopicArn":"{topic}"}}"#);
    let attributes = sns.call("GetTopicAttributes", &arn);
    let name = &attributes["Attributes"]["DisplayName"];
    assert_eq!(name.as_str(), Some("a <b> & c"));
    let input = format!(
        r#"{{"TopicArn":"{topic}","Message":"tea & <milk> ü",
            "MessageAttributes":{{"bytes":{{"DataType":"Binary","BinaryValue":"AAH+/w=="}}}}}}"#
    );
    let published = sns.call("Publish", &input);
    assert!(
        published["MessageId"]
            .as_str()
            .is_some_and(|id| id.len() == 36)
    );
    assert_eq!(sns.call("DeleteTopic", &arn), json("{}"));
    sns.fails("GetTopicAttributes", &arn, "NotFoundException: ");
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn polywire_call_moto_dynamodb() {
    let case = Case::begin("polywire_call_moto_dynamodb");
    let Some(dynamodb) = Service::of(&case, "dynamodb", "dynamodb") else {
        return;
    };
    let input = r#"{"TableName":"called","BillingMode":"PAY_PER_REQUEST",
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}"#;
    let created = dynamodb.call("CreateTable", input);
    let status = &created["TableDescription"]["TableStatus"];
    assert_eq!(status.as_str(), Some("ACTIVE"));
    let item = r#"{"id":{"S":"oslo"},"flag":{"B":"AAH+/w=="},"n":{"N":"9007199254740993"},
        "parts":{"L":[{"S":"x ü"},{"M":{"depth":{"N":"2"}}}]},"t":{"BOOL":true},
        "z":{"NULL":true},"ss":{"SS":["a","b"]}}"#;
    let input = format!(r#"{{"TableName":"called","Item":{item}}}"#);
    assert_eq!(dynamodb.call("PutItem", &input), json("{}"));
    let key = r#"{"TableName":"called","Key":{"id":{"S":"oslo"}}}"#;
    assert_eq!(dynamodb.call("GetItem", key)["Item"], json(item));
    assert_eq!(dynamodb.call("DeleteItem", key), json("{}"));
    assert_eq!(dynamodb.call("GetItem", key), json("{}"));
    dynamodb.call("DeleteTable", r#"{"TableName":"called"}"#);
    dynamodb.fails("GetItem", key, "ResourceNotFoundException: ");
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn polywire_call_moto_cloudwatch() {
    let case = Case::begin("polywire_call_moto_cloudwatch");
    let Some(cloudwatch) = Service::of(&case, "cloudwatch", "monitoring") else {
        return;
    };
    let input = r#"{"Namespace":"called","MetricData":[
        {"MetricName":"rain","Value":1.5,"Timestamp":"2026-11-01T00:00:00Z",
            "Dimensions":[{"Name":"city","Value":"oslo"}]},
        {"MetricName":"rain","Value":0.25,"Timestamp":"2026-11-01T00:01:00Z",
            "Dimensions":[{"Name":"city","Value":"oslo"}]}]}"#;
    assert_eq!(cloudwatch.call("PutMetricData", input), json("{}"));
    let listed = cloudwatch.call("ListMetrics", r#"{"Namespace":"called"}"#);
    assert_eq!(
        listed["Metrics"][0],
        json(
            r#"{"Namespace":"called","MetricName":"rain",
                "Dimensions":[{"Name":"city","Value":"oslo"}]}"#
        )
    );
    let input = r#"{"Namespace":"called","MetricName":"rain","Period":86400,
        "StartTime":"2026-10-31T00:00:00Z","EndTime":"2026-11-03T00:00:00Z",
        "Statistics":["Sum","Maximum"],"Dimensions":[{"Name":"city","Value":"oslo"}]}"#;
    let statistics = cloudwatch.call("GetMetricStatistics", input);
    let point = &statistics["Datapoints"][0];
    assert_eq!(point["Sum"], json("1.75"));
    assert_eq!(point["Maximum"], json("1.5"));
    let input = r#"{"DashboardName":"called"}"#;
    cloudwatch.fails("GetDashboard", input, "DashboardNotFoundError: ");
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn polywire_call_moto_s3() {
    let case = Case::begin("polywire_call_moto_s3");
    let Some(s3) = Service::of(&case, "s3", "s3") else {
        return;
    };
    s3.call("CreateBucket", r#"{"Bucket":"called"}"#);
    let object = r#"{"Bucket":"called","Key":"a/b c+d é.txt"}"#;
    let input = r#"{"Bucket":"called","Key":"a/b c+d é.txt","Body":"AAH+/w==",
        "ContentType":"text/x-tea","Metadata":{"k":"v"}}"#;
    let put = s3.call("PutObject", input);
    let got = s3.call("GetObject", object);
    assert_eq!(got["Body"].as_str(), Some("AAH+/w=="));
    assert_eq!(got["ContentType"].as_str(), Some("text/x-tea"));
    assert_eq!(got["ETag"], put["ETag"]);
    assert_eq!(got["Metadata"], json(r#"{"k":"v"}"#));
    let head = s3.call("HeadObject", object);
    assert_eq!(head["ContentLength"].as_i64(), Some(4));
    let listed = s3.call("ListObjectsV2", r#"{"Bucket":"called","Prefix":"a/"}"#);
    assert_eq!(listed["Contents"][0]["Key"].as_str(), Some("a/b c+d é.txt"));
    assert_eq!(listed["Contents"][0]["Size"].as_i64(), Some(4));
    s3.call("DeleteObject", object);
    s3.fails("GetObject", object, "NoSuchKey");
    s3.fails("HeadObject", object, "NotFound");
    s3.call("DeleteBucket", r#"{"Bucket":"called"}"#);
    s3.fails("ListObjectsV2", r#"{"Bucket":"called"}"#, "NoSuchBucket");
}
