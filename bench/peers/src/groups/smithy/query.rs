//! aws-smithy-query, called as the code that smithy-rs generates calls it.

use aws_smithy_query::{QueryValueWriter, QueryWriter};
use aws_smithy_types::date_time::Format;
use aws_smithy_types::{DateTime, Number};
use polywire_schema::Timestamp;

use super::types::aws_query_data_plane::{
    Dimension, GetMetricDataInput, MetricDataQuery, MetricDatum, MetricStat, PutMetricDataInput,
};

const VERSION: &str = "1999-12-31";

fn date(writer: QueryValueWriter<'_>, instant: Timestamp) {
    let date = DateTime::from_secs_and_nanos(instant.seconds(), instant.nanoseconds());
    // Years that RFC 3339 does not have are in no case.
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
    text(
        writer,
        "Unit",
        datum.unit.as_ref().map(|unit| unit.as_str()),
    );
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
        writer.prefix("ScanBy").string(order.as_str());
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
    text(writer, "Unit", stat.unit.as_ref().map(|unit| unit.as_str()));
}
