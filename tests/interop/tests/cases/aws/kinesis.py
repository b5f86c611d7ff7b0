kinesis = client("kinesis")
arn = "arn:aws:kinesis:us-east-1:123456789012:stream/rain"
pages = kinesis.get_paginator("list_streams").paginate(PaginationConfig={"PageSize": 2})
summary = kinesis.describe_stream_summary(StreamName="rain")["StreamDescriptionSummary"]
read = kinesis.get_records(ShardIterator="i-1", Limit=2, StreamARN=arn)
put = kinesis.put_records(StreamName="rain", Records=[
    {"Data": EVERY_BYTE, "PartitionKey": "oslo"}, {"Data": b"", "PartitionKey": "grün"}])
show({
    "pages": [page["StreamNames"] for page in pages],
    "summary": summary,
    "read": bare(read),
    "put": bare(put),
    "error": caught(lambda: kinesis.describe_stream_summary(StreamName="snow")),
    "invalid": caught(lambda: kinesis.put_record(
        StreamName="rain", Data=b"", PartitionKey="oslo", ExplicitHashKey="north"))[:2],
    "tagged": bare(kinesis.add_tags_to_stream(StreamName="rain", Tags={"k": "a & b"})),
})
