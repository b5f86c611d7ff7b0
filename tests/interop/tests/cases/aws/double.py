# A program that knows nothing of the double: three services on one port, and what it remembers.
import io
from boto3.s3.transfer import TransferConfig


def code(call):
    try:
        call()
    except botocore.exceptions.ClientError as error:
        return error.response["Error"]["Code"]


sqs, sns, s3 = client("sqs"), client("sns"), client("s3")
for name in ["b", "a", "c"]:
    sqs.create_queue(QueueName=name, Attributes={"DelaySeconds": "5"})
address = sqs.get_queue_url(QueueName="a")["QueueUrl"]
sqs.set_queue_attributes(QueueUrl=address, Attributes={"VisibilityTimeout": "9"})
pages = sqs.get_paginator("list_queues").paginate(PaginationConfig={"PageSize": 2})
names = [[each.rsplit("/")[-1] for each in page["QueueUrls"]] for page in pages]
sqs.delete_queue(QueueUrl=address)

topic = sns.create_topic(Name="news")["TopicArn"]

s3.create_bucket(Bucket="photos")
s3.put_object(Bucket="photos", Key="2026/a.txt", Body=b"hello", ContentType="text/plain")
s3.copy_object(Bucket="photos", Key="copy", CopySource="photos/2026/a.txt")
content = bytes(range(256)) * (6 << 12)
parts = TransferConfig(multipart_threshold=1, multipart_chunksize=5 << 20, max_concurrency=4)
s3.upload_fileobj(io.BytesIO(content), "photos", "large", Config=parts)
large = io.BytesIO()
s3.download_fileobj("photos", "large", large, Config=parts)
listed = s3.list_objects_v2(Bucket="photos", Delimiter="/")
read = s3.get_object(Bucket="photos", Key="copy", Range="bytes=1-3")
show({
    "pages": names,
    "gone": caught(lambda: sqs.get_queue_url(QueueName="a"))[0],
    "topic": topic,
    "topics": bare(sns.list_topics())["Topics"],
    "copied": [read["Body"].read().decode(), read["ContentType"], read["ContentRange"]],
    "missing": code(lambda: s3.get_object(Bucket="photos", Key="none")),
    "no bucket": code(lambda: s3.head_bucket(Bucket="none")),
    "large": large.getvalue() == content,
    "keys": [each["Key"] for each in listed["Contents"]],
    "groups": [each["Prefix"] for each in listed["CommonPrefixes"]],
})
