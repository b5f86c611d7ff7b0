sns = client("sns")
topic = "arn:aws:sns:us-east-1:1:"
pages = sns.get_paginator("list_topics").paginate()
show({
    "pages": [[topic["TopicArn"] for topic in page["Topics"]] for page in pages],
    "published": bare(sns.publish(
        TopicArn=topic + "a", Message="tea & <milk>",
        MessageAttributes={"bytes": {"DataType": "Binary", "BinaryValue": EVERY_BYTE},
                           "text": {"DataType": "String", "StringValue": "grün"}})),
    "attributes": bare(sns.get_topic_attributes(TopicArn=topic + "a")),
    "error": caught(lambda: sns.get_topic_attributes(TopicArn=topic + "z")),
    "created": list(bare(sns.create_topic(
        Name="a", Attributes={"DisplayName": "x"}, Tags=[{"Key": "k", "Value": "v"}]))),
    "deleted": bare(sns.delete_topic(TopicArn=topic + "a")),
})
