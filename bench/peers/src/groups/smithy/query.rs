//! aws-smithy-query, called as the code that smithy-rs generates calls it.

use aws_smithy_query::{QueryValueWriter, QueryWriter};
use aws_smithy_types::date_time::Format;
use aws_smithy_types::{DateTime, Number};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct PutMetricDataInput {
    namespace: String,
    metric_data: Option<Vec<MetricDatum>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDatum {
    metric_name: String,
    dimensions: Option<Vec<Dimension>>,
    timestamp: Option<i64>,
    value: Option<f64>,
    statistic_values: Option<StatisticSet>,
    values: Option<Vec<f64>>,
    counts: Option<Vec<f64>>,
    unit: Option<String>,
    storage_resolution: Option<i32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Dimension {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StatisticSet {
    sample_count: f64,
    sum: f64,
    minimum: f64,
    maximum: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct GetMetricDataInput {
    metric_data_queries: Vec<MetricDataQuery>,
    start_time: i64,
    end_time: i64,
    next_token: Option<String>,
    scan_by: Option<String>,
    max_datapoints: Option<i32>,
    label_options: Option<LabelOptions>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDataQuery {
    id: Option<String>,
    metric_stat: Option<MetricStat>,
    expression: Option<String>,
    label: Option<String>,
    return_data: Option<bool>,
    period: Option<i32>,
    account_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MetricStat {
    metric: Option<Metric>,
    period: Option<i32>,
    stat: Option<String>,
    unit: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Metric {
    namespace: Option<String>,
    metric_name: Option<String>,
    dimensions: Option<Vec<Dimension>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LabelOptions {
    timezone: Option<String>,
}

const VERSION: &str = "1999-12-31";

fn date(writer: QueryValueWriter<'_>, seconds: i64) {
    let date = DateTime::from_secs(seconds);
    // It fails only for years of more than four digits.
    let _ = writer.date_time(&date, Format::DateTime);
}

fn text(writer: &mut QueryValueWriter<'_>, name: &'static str, text: Option<&str>) {
    if let Some(text) = text {
        writer.prefix(name).string(text);
    }
}

fn integer(writer: QueryValueWriter<'_>, number: i32) {
    writer.number(match u64::try_from(number) {
        Ok(number) => Number::PosInt(number),
        Err(_) => Number::NegInt(number.into()),
    });
}

fn doubles(writer: QueryValueWriter<'_>, items: &[f64]) {
    let mut list = writer.start_list(false, None);
    for item in items {
        list.entry().number(Number::Float(*item));
    }
    list.finish();
}

fn dimensions(writer: QueryValueWriter<'_>, items: &[Dimension]) {
    let mut list = writer.start_list(false, None);
    for item in items {
        let mut entry = list.entry();
        text(&mut entry, "Name", Some(&item.name));
        text(&mut entry, "Value", Some(&item.value));
    }
    list.finish();
}

pub(super) fn put(input: &PutMetricDataInput) -> String {
    let mut out = String::new();
    let mut writer = QueryWriter::new(&mut out, "PutMetricData", VERSION);
    writer.prefix("Namespace").string(&input.namespace);
    if let Some(data) = &input.metric_data {
        let at = writer.prefix("MetricData");
        let mut list = at.start_list(false, None);
        for datum in data {
            let mut entry = list.entry();
            put_datum(&mut entry, datum);
        }
        list.finish();
    }
    writer.finish();
    out
}

fn put_datum(writer: &mut QueryValueWriter<'_>, datum: &MetricDatum) {
    text(writer, "MetricName", Some(&datum.metric_name));
    if let Some(items) = &datum.dimensions {
        dimensions(writer.prefix("Dimensions"), items);
    }
    if let Some(instant) = datum.timestamp {
        date(writer.prefix("Timestamp"), instant);
    }
    if let Some(value) = datum.value {
        writer.prefix("Value").number(Number::Float(value));
    }
    if let Some(set) = &datum.statistic_values {
        let mut at = writer.prefix("StatisticValues");
        at.prefix("SampleCount")
            .number(Number::Float(set.sample_count));
        at.prefix("Sum").number(Number::Float(set.sum));
        at.prefix("Minimum").number(Number::Float(set.minimum));
        at.prefix("Maximum").number(Number::Float(set.maximum));
    }
    if let Some(items) = &datum.values {
        doubles(writer.prefix("Values"), items);
    }
    if let Some(items) = &datum.counts {
        doubles(writer.prefix("Counts"), items);
    }
    text(writer, "Unit", datum.unit.as_deref());
    if let Some(number) = datum.storage_resolution {
        integer(writer.prefix("StorageResolution"), number);
    }
}

pub(super) fn get(input: &GetMetricDataInput) -> String {
    let mut out = String::new();
    let mut writer = QueryWriter::new(&mut out, "GetMetricData", VERSION);
    let at = writer.prefix("MetricDataQueries");
    let mut list = at.start_list(false, None);
    for query in &input.metric_data_queries {
        let mut entry = list.entry();
        get_query(&mut entry, query);
    }
    list.finish();
    date(writer.prefix("StartTime"), input.start_time);
    date(writer.prefix("EndTime"), input.end_time);
    if let Some(text) = &input.next_token {
        writer.prefix("NextToken").string(text);
    }
    if let Some(order) = &input.scan_by {
        writer.prefix("ScanBy").string(order);
    }
    if let Some(number) = input.max_datapoints {
        integer(writer.prefix("MaxDatapoints"), number);
    }
    if let Some(options) = &input.label_options {
        let mut at = writer.prefix("LabelOptions");
        text(&mut at, "Timezone", options.timezone.as_deref());
    }
    writer.finish();
    out
}

fn get_query(writer: &mut QueryValueWriter<'_>, query: &MetricDataQuery) {
    text(writer, "Id", query.id.as_deref());
    if let Some(stat) = &query.metric_stat {
        get_stat(&mut writer.prefix("MetricStat"), stat);
    }
    text(writer, "Expression", query.expression.as_deref());
    text(writer, "Label", query.label.as_deref());
    if let Some(value) = query.return_data {
        writer.prefix("ReturnData").boolean(value);
    }
    if let Some(number) = query.period {
        integer(writer.prefix("Period"), number);
    }
    text(writer, "AccountId", query.account_id.as_deref());
}

fn get_stat(writer: &mut QueryValueWriter<'_>, stat: &MetricStat) {
    if let Some(metric) = &stat.metric {
        let mut at = writer.prefix("Metric");
        text(&mut at, "Namespace", metric.namespace.as_deref());
        text(&mut at, "MetricName", metric.metric_name.as_deref());
        if let Some(items) = &metric.dimensions {
            dimensions(at.prefix("Dimensions"), items);
        }
    }
    if let Some(number) = stat.period {
        integer(writer.prefix("Period"), number);
    }
    text(writer, "Stat", stat.stat.as_deref());
    text(writer, "Unit", stat.unit.as_deref());
}
