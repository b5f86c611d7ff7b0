//! The cases, which need the models.

use std::collections::BTreeMap;
use std::future::Future;

use polywire::prelude::*;
use polywire::rpc::ClientBuilder;
use polywire_interop::{Case, Moto};

polywire::include_service!(mod cloudwatch);
polywire::include_service!(mod dynamodb);
polywire::include_service!(mod s3);
polywire::include_service!(mod sns);
polywire::include_service!(mod sqs);

const BYTES: &[u8] = b"\x00\x01\xfe\xff";

/// Connects a client with the header by which moto selects a service.
fn connect(moto: &Moto, builder: ClientBuilder, signing: &str) -> Client {
    let name = "authorization".parse().unwrap();
    let value = Moto::authorization(signing).parse().unwrap();
    builder.header(name, value).connect(moto.url()).unwrap()
}

fn run(calls: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(calls);
}

fn day(day: i64) -> Timestamp {
    // Day 1 is 2026-11-01.
    Timestamp::new(1_793_491_200 + 86_400 * (day - 1), 0)
}

#[test]
fn generated_sqs_client_calls_moto() {
    let case = Case::begin("generated_sqs_client_calls_moto");
    let Some(moto) = case.moto() else { return };
    let builder = sqs::client::builder(ProtocolKind::AwsJson1_0);
    let client = sqs::client::Client::new(connect(moto, builder, "sqs"));
    run(async {
        let attributes = [(sqs::QueueAttributeName::VisibilityTimeout, "5".into())];
        let created = client
            .create_queue()
            .queue_name("typed")
            .attributes(attributes.into());
        let queue = created.send().await.unwrap().queue_url.unwrap();
        let listed = client.list_queues().queue_name_prefix("typed");
        assert_eq!(
            listed.send().await.unwrap().queue_urls.unwrap(),
            std::slice::from_ref(&queue)
        );
        let bytes = sqs::MessageAttributeValue::builder()
            .data_type("Binary")
            .binary_value(Blob::from(BYTES));
        let sent = client
            .send_message()
            .queue_url(queue.clone())
            .message_body("tea & <milk> ü")
            .message_attributes([("bytes".into(), bytes.build().unwrap())].into());
        let sent = sent.send().await.unwrap();
        let received = client
            .receive_message()
            .queue_url(queue.clone())
            .message_attribute_names(vec!["All".into()]);
        let message = received.send().await.unwrap().messages.unwrap().remove(0);
        assert_eq!(message.message_id, sent.message_id);
        assert_eq!(message.body.as_deref(), Some("tea & <milk> ü"));
        let attributes = message.message_attributes.unwrap();
        assert_eq!(attributes["bytes"].binary_value, Some(Blob::from(BYTES)));
        let deleted = client
            .delete_message()
            .queue_url(queue.clone())
            .receipt_handle(message.receipt_handle.unwrap());
        deleted.send().await.unwrap();
        client.delete_queue().queue_url(queue).send().await.unwrap();
        let gone = client.get_queue_url().queue_name("typed").send().await;
        let error = gone.unwrap_err();
        assert!(
            matches!(error, sqs::GetQueueUrlError::QueueDoesNotExist(_)),
            "{error:?}"
        );
    });
}

#[test]
fn generated_sns_client_calls_moto() {
    let case = Case::begin("generated_sns_client_calls_moto");
    let Some(moto) = case.moto() else { return };
    let builder = sns::client::builder(ProtocolKind::AwsQuery);
    let client = sns::client::Client::new(connect(moto, builder, "sns"));
    run(async {
        let tag = sns::Tag::builder().key("k").value("v").build().unwrap();
        let created = client
            .create_topic()
            .name("typed")
            .attributes([("DisplayName".into(), "a <b> & c".into())].into())
            .tags(vec![tag]);
        let topic = created.send().await.unwrap().topic_arn.unwrap();
        let mut pages = client.list_topics().into_paginator();
        let mut found = false;
        while let Some(page) = pages.next().await {
            let topics = page.unwrap().topics.unwrap_or_default();
            found |= topics
                .iter()
                .any(|own| own.topic_arn.as_ref() == Some(&topic));
        }
        assert!(found);
        let attributes = client.get_topic_attributes().topic_arn(topic.clone());
        let attributes = attributes.send().await.unwrap().attributes.unwrap();
        assert_eq!(attributes["DisplayName"].as_str(), "a <b> & c");
        let bytes = sns::MessageAttributeValue::builder()
            .data_type("Binary")
            .binary_value(Blob::from(BYTES));
        let published = client
            .publish()
            .topic_arn(topic.clone())
            .message("tea & <milk> ü")
            .message_attributes([("bytes".into(), bytes.build().unwrap())].into());
        assert_eq!(
            published.send().await.unwrap().message_id.unwrap().len(),
            36
        );
        let deleted = client.delete_topic().topic_arn(topic.clone());
        deleted.send().await.unwrap();
        let gone = client.get_topic_attributes().topic_arn(topic).send().await;
        let error = gone.unwrap_err();
        assert!(
            matches!(error, sns::GetTopicAttributesError::NotFoundException(_)),
            "{error:?}"
        );
    });
}

fn item() -> BTreeMap<Text, dynamodb::AttributeValue> {
    use dynamodb::AttributeValue::{B, Bool, L, M, N, Null, S, Ss};
    let inner = M([("depth".into(), N("2".into()))].into());
    [
        ("id".into(), S("oslo".into())),
        ("flag".into(), B(Blob::from(BYTES))),
        ("n".into(), N("9007199254740993".into())),
        ("parts".into(), L(vec![S("x ü".into()), inner])),
        ("t".into(), Bool(true)),
        ("z".into(), Null(true)),
        ("ss".into(), Ss(vec!["a".into(), "b".into()])),
    ]
    .into()
}

#[test]
fn generated_dynamodb_client_calls_moto() {
    let case = Case::begin("generated_dynamodb_client_calls_moto");
    let Some(moto) = case.moto() else { return };
    let builder = dynamodb::client::builder(ProtocolKind::AwsJson1_0);
    let client = dynamodb::client::Client::new(connect(moto, builder, "dynamodb"));
    run(async {
        let key = dynamodb::KeySchemaElement::builder()
            .attribute_name("id")
            .key_type(dynamodb::KeyType::Hash);
        let id = dynamodb::AttributeDefinition::builder()
            .attribute_name("id")
            .attribute_type(dynamodb::ScalarAttributeType::S);
        let created = client
            .create_table()
            .table_name("typed")
            .billing_mode(dynamodb::BillingMode::PayPerRequest)
            .key_schema(vec![key.build().unwrap()])
            .attribute_definitions(vec![id.build().unwrap()]);
        let table = created.send().await.unwrap().table_description.unwrap();
        assert_eq!(table.table_status, Some(dynamodb::TableStatus::Active));
        let put = client.put_item().table_name("typed").item(item());
        put.send().await.unwrap();
        let key: BTreeMap<_, _> =
            [("id".into(), dynamodb::AttributeValue::S("oslo".into()))].into();
        let get = || client.get_item().table_name("typed").key(key.clone());
        assert_eq!(get().send().await.unwrap().item, Some(item()));
        let deleted = client.delete_item().table_name("typed").key(key.clone());
        deleted.send().await.unwrap();
        assert_eq!(get().send().await.unwrap().item, None);
        let dropped = client.delete_table().table_name("typed");
        dropped.send().await.unwrap();
        let error = get().send().await.unwrap_err();
        assert!(
            matches!(error, dynamodb::GetItemError::ResourceNotFoundException(_)),
            "{error:?}"
        );
    });
}

#[test]
fn generated_cloudwatch_client_calls_moto() {
    let case = Case::begin("generated_cloudwatch_client_calls_moto");
    let Some(moto) = case.moto() else { return };
    let builder = cloudwatch::client::builder(ProtocolKind::AwsQuery);
    let client = cloudwatch::client::Client::new(connect(moto, builder, "monitoring"));
    run(async {
        let city = cloudwatch::Dimension::builder().name("city").value("oslo");
        let city = city.build();
        let datum = |value: f64| {
            cloudwatch::MetricDatum::builder()
                .metric_name("rain")
                .value(value)
                .timestamp(day(1))
                .dimensions(vec![city.clone()])
                .build()
        };
        let put = client
            .put_metric_data()
            .namespace("typed")
            .metric_data(vec![datum(1.5), datum(0.25)]);
        put.send().await.unwrap();
        let listed = client.list_metrics().namespace("typed").send().await;
        let metric = listed.unwrap().metrics.unwrap().remove(0);
        assert_eq!(metric.metric_name.as_deref(), Some("rain"));
        assert_eq!(metric.dimensions.unwrap(), std::slice::from_ref(&city));
        let statistics = client
            .get_metric_statistics()
            .namespace("typed")
            .metric_name("rain")
            .dimensions(vec![city.clone()])
            .start_time(day(0))
            .end_time(day(3))
            .period(86_400)
            .statistics(vec![
                cloudwatch::Statistic::Sum,
                cloudwatch::Statistic::Maximum,
            ]);
        let points = statistics.send().await.unwrap().datapoints.unwrap();
        assert_eq!(points[0].sum, Some(1.75));
        assert_eq!(points[0].maximum, Some(1.5));
        assert_eq!(points[0].timestamp, Some(day(1)));
        let gone = client.get_dashboard().dashboard_name("typed").send().await;
        let error = gone.unwrap_err();
        assert!(
            matches!(
                error,
                cloudwatch::GetDashboardError::DashboardNotFoundError(_)
            ),
            "{error:?}"
        );
    });
}

#[test]
fn generated_s3_client_calls_moto() {
    let case = Case::begin("generated_s3_client_calls_moto");
    let Some(moto) = case.moto() else { return };
    let builder = s3::client::builder(ProtocolKind::RestXml);
    let client = s3::client::Client::new(connect(moto, builder, "s3"));
    run(async {
        const KEY: &str = "a/b c+d é.txt";
        client.create_bucket().bucket("typed").send().await.unwrap();
        let metadata: BTreeMap<Text, Text> = [("k".into(), "v".into())].into();
        let put = client
            .put_object()
            .bucket("typed")
            .key(KEY)
            .body(Blob::from(BYTES))
            .content_type("text/x-tea")
            .metadata(metadata.clone());
        let put = put.send().await.unwrap();
        let get = || client.get_object().bucket("typed").key(KEY);
        let got = get().send().await.unwrap();
        assert_eq!(got.body.collect(1 << 20).await.unwrap(), Blob::from(BYTES));
        assert_eq!(got.etag, put.etag);
        assert_eq!(got.content_type.as_deref(), Some("text/x-tea"));
        assert_eq!(got.metadata, Some(metadata));
        let head = || client.head_object().bucket("typed").key(KEY);
        assert_eq!(head().send().await.unwrap().content_length, Some(4));
        let second = client.put_object().bucket("typed").key("b");
        second.send().await.unwrap();
        let mut keys = Vec::new();
        let mut token: Option<Text> = None;
        loop {
            let mut list = client.list_objects_v2().bucket("typed").max_keys(1);
            if let Some(token) = token.take() {
                list = list.continuation_token(token);
            }
            let page = list.send().await.unwrap();
            let contents = page.contents.unwrap_or_default();
            keys.extend(contents.into_iter().map(|object| object.key.unwrap()));
            token = page.next_continuation_token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(keys, [KEY, "b"]);
        let deleted = client.delete_object().bucket("typed").key(KEY);
        deleted.send().await.unwrap();
        let error = get().send().await.unwrap_err();
        assert!(
            matches!(error, s3::GetObjectError::NoSuchKey(_)),
            "{error:?}"
        );
        let error = head().send().await.unwrap_err();
        assert!(
            matches!(error, s3::HeadObjectError::NotFound(_)),
            "{error:?}"
        );
    });
}
