//! The peers of XML: loops over the events of quick-xml, and aws-smithy-xml, called as the code that
//! smithy-rs generates calls it.

use serde::Deserialize;

/// The output of `GetMetricData`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase")]
pub(super) struct GetMetricDataOutput {
    pub(super) metric_data_results: Option<Vec<MetricDataResult>>,
    next_token: Option<String>,
    messages: Option<Vec<MessageData>>,
}

/// Timestamps are whole seconds since 1970.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase")]
pub(super) struct MetricDataResult {
    id: Option<String>,
    label: Option<String>,
    pub(super) timestamps: Option<Vec<i64>>,
    pub(super) values: Option<Vec<f64>>,
    status_code: Option<String>,
    messages: Option<Vec<MessageData>>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase")]
pub(super) struct MessageData {
    code: Option<String>,
    value: Option<String>,
}

/// The body of the output of `CopyObject`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CopyObjectResult {
    #[serde(rename = "ETag")]
    etag: Option<String>,
    last_modified: Option<i64>,
    checksum_type: Option<String>,
    #[serde(rename = "ChecksumCRC32")]
    checksum_crc32: Option<String>,
    #[serde(rename = "ChecksumCRC32C")]
    checksum_crc32c: Option<String>,
    #[serde(rename = "ChecksumCRC64NVME")]
    checksum_crc64nvme: Option<String>,
    #[serde(rename = "ChecksumSHA1")]
    checksum_sha1: Option<String>,
    #[serde(rename = "ChecksumSHA256")]
    checksum_sha256: Option<String>,
}

/// Loops over the events of quick-xml.
pub(super) mod quick {
    use polywire_schema::Timestamp;
    use quick_xml::events::{BytesEnd, BytesRef, BytesStart, BytesText, Event};
    use quick_xml::{Reader, Writer};

    use super::{CopyObjectResult, GetMetricDataOutput, MessageData, MetricDataResult};

    type Xml<'a> = Reader<&'a [u8]>;

    fn reader(xml: &[u8]) -> Option<Xml<'_>> {
        let mut reader = Reader::from_str(std::str::from_utf8(xml).ok()?);
        reader.config_mut().expand_empty_elements = true;
        Some(reader)
    }

    /// The name of the next child; `None` at the end of the element.
    fn child<'a>(reader: &mut Xml<'a>) -> Option<Option<BytesStart<'a>>> {
        loop {
            match reader.read_event().ok()? {
                Event::Start(start) => return Some(Some(start)),
                Event::End(_) => return Some(None),
                Event::Eof => return None,
                Event::Text(text) if !text.xml10_content().trim().is_empty() => return None,
                _ => {}
            }
        }
    }

    fn text(reader: &mut Xml<'_>) -> Option<String> {
        let mut out = String::new();
        loop {
            match reader.read_event().ok()? {
                Event::Text(text) => out.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) => push_reference(&mut out, &reference)?,
                Event::CData(text) => out.push_str(&text.xml10_content()),
                Event::End(_) => return Some(out),
                Event::Start(_) | Event::Empty(_) | Event::Eof => return None,
                _ => {}
            }
        }
    }

    fn push_reference(out: &mut String, reference: &BytesRef<'_>) -> Option<()> {
        if let Some(character) = reference.resolve_char_ref().ok()? {
            out.push(character);
            return Some(());
        }
        let name = reference.xml10_content();
        out.push_str(quick_xml::escape::resolve_xml_entity(&name)?);
        Some(())
    }

    fn skip(reader: &mut Xml<'_>, start: &BytesStart<'_>) -> Option<()> {
        reader.read_to_end(start.name()).ok()?;
        Some(())
    }

    fn list<'a, T>(
        reader: &mut Xml<'a>,
        mut item: impl FnMut(&mut Xml<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while let Some(start) = child(reader)? {
            match start.name().as_ref() {
                "member" => items.push(item(reader)?),
                _ => skip(reader, &start)?,
            }
        }
        Some(items)
    }

    pub(in super::super) fn metrics(xml: &[u8]) -> Option<GetMetricDataOutput> {
        let mut reader = reader(xml)?;
        let reader = &mut reader;
        child(reader)??;
        let mut output = None;
        while let Some(start) = child(reader)? {
            match start.name().as_ref() {
                "GetMetricDataResult" => output = Some(metrics_output(reader)?),
                _ => skip(reader, &start)?,
            }
        }
        output
    }

    fn metrics_output(reader: &mut Xml<'_>) -> Option<GetMetricDataOutput> {
        let mut output = GetMetricDataOutput::default();
        while let Some(start) = child(reader)? {
            match start.name().as_ref() {
                "MetricDataResults" => {
                    output.metric_data_results = Some(list(reader, metric_result)?);
                }
                "NextToken" => output.next_token = Some(text(reader)?),
                "Messages" => output.messages = Some(list(reader, message)?),
                _ => skip(reader, &start)?,
            }
        }
        Some(output)
    }

    /// Read by our parser, which is quicker than those of most crates.
    fn date(reader: &mut Xml<'_>) -> Option<i64> {
        let date = Timestamp::parse_date_time(text(reader)?.trim()).ok()?;
        Some(date.seconds())
    }

    fn metric_result(reader: &mut Xml<'_>) -> Option<MetricDataResult> {
        let mut result = MetricDataResult::default();
        while let Some(start) = child(reader)? {
            match start.name().as_ref() {
                "Id" => result.id = Some(text(reader)?),
                "Label" => result.label = Some(text(reader)?),
                "Timestamps" => {
                    result.timestamps = Some(list(reader, date)?);
                }
                "Values" => {
                    result.values = Some(list(reader, |reader| text(reader)?.trim().parse().ok())?);
                }
                "StatusCode" => result.status_code = Some(text(reader)?),
                "Messages" => result.messages = Some(list(reader, message)?),
                _ => skip(reader, &start)?,
            }
        }
        Some(result)
    }

    fn message(reader: &mut Xml<'_>) -> Option<MessageData> {
        let mut message = MessageData::default();
        while let Some(start) = child(reader)? {
            match start.name().as_ref() {
                "Code" => message.code = Some(text(reader)?),
                "Value" => message.value = Some(text(reader)?),
                _ => skip(reader, &start)?,
            }
        }
        Some(message)
    }

    pub(in super::super) fn copied(xml: &[u8]) -> Option<CopyObjectResult> {
        let mut reader = reader(xml)?;
        let reader = &mut reader;
        child(reader)??;
        let mut result = CopyObjectResult::default();
        while let Some(start) = child(reader)? {
            let member = match start.name().as_ref() {
                "ETag" => &mut result.etag,
                "LastModified" => {
                    result.last_modified = Some(date(reader)?);
                    continue;
                }
                "ChecksumType" => &mut result.checksum_type,
                "ChecksumCRC32" => &mut result.checksum_crc32,
                "ChecksumCRC32C" => &mut result.checksum_crc32c,
                "ChecksumCRC64NVME" => &mut result.checksum_crc64nvme,
                "ChecksumSHA1" => &mut result.checksum_sha1,
                "ChecksumSHA256" => &mut result.checksum_sha256,
                _ => {
                    skip(reader, &start)?;
                    continue;
                }
            };
            *member = Some(text(reader)?);
        }
        Some(result)
    }

    fn open(writer: &mut Writer<&mut Vec<u8>>, name: &str) {
        let _ = writer.write_event(Event::Start(BytesStart::new(name)));
    }

    fn close(writer: &mut Writer<&mut Vec<u8>>, name: &str) {
        let _ = writer.write_event(Event::End(BytesEnd::new(name)));
    }

    fn leaf(writer: &mut Writer<&mut Vec<u8>>, name: &str, text: &str) {
        open(writer, name);
        let _ = writer.write_event(Event::Text(BytesText::new(text)));
        close(writer, name);
    }

    fn optional(writer: &mut Writer<&mut Vec<u8>>, name: &str, text: Option<&String>) {
        if let Some(text) = text {
            leaf(writer, name, text);
        }
    }

    fn write_list<T>(
        writer: &mut Writer<&mut Vec<u8>>,
        name: &str,
        items: Option<&Vec<T>>,
        mut item: impl FnMut(&mut Writer<&mut Vec<u8>>, &T),
    ) {
        if let Some(items) = items {
            open(writer, name);
            for value in items {
                item(writer, value);
            }
            close(writer, name);
        }
    }

    fn write_message(writer: &mut Writer<&mut Vec<u8>>, message: &MessageData) {
        open(writer, "member");
        optional(writer, "Code", message.code.as_ref());
        optional(writer, "Value", message.value.as_ref());
        close(writer, "member");
    }

    pub(in super::super) fn write(output: &GetMetricDataOutput, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        let writer = &mut writer;
        let mut root = BytesStart::new("GetMetricDataResponse");
        root.push_attribute(("xmlns", "https://awsquerydataplane.amazonaws.com"));
        let _ = writer.write_event(Event::Start(root));
        open(writer, "GetMetricDataResult");
        let mut digits = String::new();
        let mut date = Vec::new();
        let results = output.metric_data_results.as_ref();
        write_list(writer, "MetricDataResults", results, |writer, result| {
            open(writer, "member");
            optional(writer, "Id", result.id.as_ref());
            optional(writer, "Label", result.label.as_ref());
            write_list(
                writer,
                "Timestamps",
                result.timestamps.as_ref(),
                |writer, seconds| {
                    date.clear();
                    let _ = Timestamp::new(*seconds, 0).push_date_time(&mut date);
                    leaf(
                        writer,
                        "member",
                        std::str::from_utf8(&date).unwrap_or_default(),
                    );
                },
            );
            write_list(writer, "Values", result.values.as_ref(), |writer, value| {
                digits.clear();
                let _ = std::fmt::write(&mut digits, format_args!("{value}"));
                leaf(writer, "member", &digits);
            });
            optional(writer, "StatusCode", result.status_code.as_ref());
            write_list(writer, "Messages", result.messages.as_ref(), write_message);
            close(writer, "member");
        });
        optional(writer, "NextToken", output.next_token.as_ref());
        write_list(writer, "Messages", output.messages.as_ref(), write_message);
        close(writer, "GetMetricDataResult");
        close(writer, "GetMetricDataResponse");
    }

    /// A document as a tree of elements.
    #[derive(Debug, Default)]
    pub(in super::super) struct Node {
        text: String,
        namespace: Option<String>,
        children: Vec<(String, Node)>,
    }

    pub(in super::super) fn tree(xml: &[u8]) -> Option<Node> {
        let mut reader = reader(xml)?;
        let mut open = vec![(String::new(), Node::default())];
        loop {
            match reader.read_event().ok()? {
                Event::Start(start) => {
                    let name = start.name().as_ref().to_owned();
                    let mut node = Node::default();
                    for attribute in start.attributes() {
                        let value = attribute.ok()?.value;
                        node.namespace = Some(value.into_owned());
                    }
                    open.push((name, node));
                }
                Event::Text(text) => {
                    let node = &mut open.last_mut()?.1;
                    node.text.push_str(&text.xml10_content());
                }
                Event::GeneralRef(reference) => {
                    push_reference(&mut open.last_mut()?.1.text, &reference)?;
                }
                Event::CData(text) => open.last_mut()?.1.text.push_str(&text.xml10_content()),
                Event::End(_) => {
                    let (name, mut node) = open.pop()?;
                    if !node.children.is_empty() {
                        node.text.clear();
                    }
                    open.last_mut()?.1.children.push((name, node));
                }
                Event::Eof => break,
                _ => {}
            }
        }
        open.pop().map(|(_, node)| node)
    }

    impl Node {
        pub(in super::super) fn text(&self) -> String {
            let mut text = self.text.trim().to_owned();
            for (_, child) in &self.children {
                text.push_str(&child.text());
            }
            text
        }

        pub(in super::super) fn write(&self, out: &mut Vec<u8>) {
            let mut writer = Writer::new(out);
            self.write_children(&mut writer);
        }

        fn write_children(&self, writer: &mut Writer<&mut Vec<u8>>) {
            for (name, child) in &self.children {
                let mut start = BytesStart::new(name);
                if let Some(namespace) = &child.namespace {
                    start.push_attribute(("xmlns", namespace.as_str()));
                }
                let _ = writer.write_event(Event::Start(start));
                match child.children.is_empty() {
                    true => {
                        let _ = writer.write_event(Event::Text(BytesText::new(&child.text)));
                    }
                    false => child.write_children(writer),
                }
                close(writer, name);
            }
        }
    }
}

/// As the code that smithy-rs generates.
pub(super) mod aws {
    use aws_smithy_types::DateTime;
    use aws_smithy_types::date_time::Format;
    use aws_smithy_xml::decode::{Document, ScopedDecoder, try_data};
    use aws_smithy_xml::encode::{ScopeWriter, XmlWriter};

    use super::{CopyObjectResult, GetMetricDataOutput, MessageData, MetricDataResult};

    fn string(tag: &mut ScopedDecoder<'_, '_>) -> Option<String> {
        Some(try_data(tag).ok()?.into_owned())
    }

    fn date(tag: &mut ScopedDecoder<'_, '_>) -> Option<i64> {
        let text = try_data(tag).ok()?;
        let date = DateTime::from_str(text.as_ref(), Format::DateTimeWithOffset).ok()?;
        Some(date.secs())
    }

    fn list<T>(
        decoder: &mut ScopedDecoder<'_, '_>,
        mut item: impl FnMut(&mut ScopedDecoder<'_, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while let Some(mut tag) = decoder.next_tag() {
            if tag.start_el().matches("member") {
                items.push(item(&mut tag)?);
            }
        }
        Some(items)
    }

    pub(in super::super) fn metrics(xml: &[u8]) -> Option<GetMetricDataOutput> {
        let mut document = Document::try_from(xml).ok()?;
        let mut decoder = document.root_element().ok()?;
        if !decoder.start_el().matches("GetMetricDataResponse") {
            return None;
        }
        let mut output = None;
        while let Some(mut tag) = decoder.next_tag() {
            if tag.start_el().matches("GetMetricDataResult") {
                output = Some(metrics_output(&mut tag)?);
            }
        }
        output
    }

    fn metrics_output(decoder: &mut ScopedDecoder<'_, '_>) -> Option<GetMetricDataOutput> {
        let mut output = GetMetricDataOutput::default();
        while let Some(mut tag) = decoder.next_tag() {
            match tag.start_el() {
                s if s.matches("MetricDataResults") => {
                    output.metric_data_results = Some(list(&mut tag, metric_result)?);
                }
                s if s.matches("NextToken") => output.next_token = Some(string(&mut tag)?),
                s if s.matches("Messages") => output.messages = Some(list(&mut tag, message)?),
                _ => {}
            }
        }
        Some(output)
    }

    fn metric_result(decoder: &mut ScopedDecoder<'_, '_>) -> Option<MetricDataResult> {
        let mut result = MetricDataResult::default();
        while let Some(mut tag) = decoder.next_tag() {
            match tag.start_el() {
                s if s.matches("Id") => result.id = Some(string(&mut tag)?),
                s if s.matches("Label") => result.label = Some(string(&mut tag)?),
                s if s.matches("Timestamps") => result.timestamps = Some(list(&mut tag, date)?),
                s if s.matches("Values") => {
                    result.values = Some(list(&mut tag, |tag| {
                        try_data(tag).ok()?.trim().parse().ok()
                    })?);
                }
                s if s.matches("StatusCode") => result.status_code = Some(string(&mut tag)?),
                s if s.matches("Messages") => result.messages = Some(list(&mut tag, message)?),
                _ => {}
            }
        }
        Some(result)
    }

    fn message(decoder: &mut ScopedDecoder<'_, '_>) -> Option<MessageData> {
        let mut message = MessageData::default();
        while let Some(mut tag) = decoder.next_tag() {
            match tag.start_el() {
                s if s.matches("Code") => message.code = Some(string(&mut tag)?),
                s if s.matches("Value") => message.value = Some(string(&mut tag)?),
                _ => {}
            }
        }
        Some(message)
    }

    pub(in super::super) fn copied(xml: &[u8]) -> Option<CopyObjectResult> {
        let mut document = Document::try_from(xml).ok()?;
        let mut decoder = document.root_element().ok()?;
        let mut result = CopyObjectResult::default();
        while let Some(mut tag) = decoder.next_tag() {
            match tag.start_el() {
                s if s.matches("ETag") => result.etag = Some(string(&mut tag)?),
                s if s.matches("LastModified") => result.last_modified = Some(date(&mut tag)?),
                s if s.matches("ChecksumType") => result.checksum_type = Some(string(&mut tag)?),
                s if s.matches("ChecksumCRC32") => result.checksum_crc32 = Some(string(&mut tag)?),
                s if s.matches("ChecksumCRC32C") => {
                    result.checksum_crc32c = Some(string(&mut tag)?);
                }
                s if s.matches("ChecksumCRC64NVME") => {
                    result.checksum_crc64nvme = Some(string(&mut tag)?);
                }
                s if s.matches("ChecksumSHA1") => result.checksum_sha1 = Some(string(&mut tag)?),
                s if s.matches("ChecksumSHA256") => {
                    result.checksum_sha256 = Some(string(&mut tag)?);
                }
                _ => {}
            }
        }
        Some(result)
    }

    fn leaf(scope: &mut ScopeWriter<'_, '_>, name: &str, text: Option<&String>) {
        if let Some(text) = text {
            let mut inner = scope.start_el(name).finish();
            inner.data(text);
        }
    }

    fn write_messages(scope: &mut ScopeWriter<'_, '_>, list: Option<&Vec<MessageData>>) {
        let Some(list) = list else { return };
        let mut inner = scope.start_el("Messages").finish();
        for message in list {
            let mut member = inner.start_el("member").finish();
            leaf(&mut member, "Code", message.code.as_ref());
            leaf(&mut member, "Value", message.value.as_ref());
        }
    }

    pub(in super::super) fn write(output: &GetMetricDataOutput) -> String {
        let mut out = String::new();
        let mut writer = XmlWriter::new(&mut out);
        let root = writer.start_el("GetMetricDataResponse");
        let namespace = "https://awsquerydataplane.amazonaws.com";
        let mut root = root.write_ns(namespace, None).finish();
        let mut result = root.start_el("GetMetricDataResult").finish();
        if let Some(results) = &output.metric_data_results {
            let mut list = result.start_el("MetricDataResults").finish();
            for result in results {
                let mut member = list.start_el("member").finish();
                leaf(&mut member, "Id", result.id.as_ref());
                leaf(&mut member, "Label", result.label.as_ref());
                if let Some(instants) = &result.timestamps {
                    let mut list = member.start_el("Timestamps").finish();
                    for seconds in instants {
                        let date = DateTime::from_secs(*seconds);
                        let text = date.fmt(Format::DateTime).unwrap_or_default();
                        list.start_el("member").finish().data(&text);
                    }
                    list.finish();
                }
                if let Some(values) = &result.values {
                    let mut list = member.start_el("Values").finish();
                    for value in values {
                        let mut encoder = aws_smithy_types::primitive::Encoder::from(*value);
                        list.start_el("member").finish().data(encoder.encode());
                    }
                    list.finish();
                }
                leaf(&mut member, "StatusCode", result.status_code.as_ref());
                write_messages(&mut member, result.messages.as_ref());
                member.finish();
            }
            list.finish();
        }
        leaf(&mut result, "NextToken", output.next_token.as_ref());
        write_messages(&mut result, output.messages.as_ref());
        result.finish();
        root.finish();
        out
    }
}
