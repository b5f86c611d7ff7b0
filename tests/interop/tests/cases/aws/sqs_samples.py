import hashlib

sqs = client("sqs")
queue = "http://sqs/1/orders"


def sums(text, answer):
    """Whether each MD5 sum of an answer is the one of the text."""
    expected = hashlib.md5(text.encode()).hexdigest()
    return {name: answer[name] == expected for name in answer if name.startswith("MD5Of")}


bodies = {"a": "tea", "b": "milk & sugar"}
entries = [{"Id": id, "MessageBody": body} for id, body in bodies.items()]
batch = sqs.send_message_batch(QueueUrl=queue, Entries=entries)["Successful"]
[message] = sqs.receive_message(QueueUrl=queue)["Messages"]
attributes = {"colour": {"DataType": "String", "StringValue": "red"}}
show({
    "pages": len(list(sqs.get_paginator("list_queues").paginate())),
    "sent": sums("tea", sqs.send_message(
        QueueUrl=queue, MessageBody="tea", MessageAttributes=attributes)),
    "received": sums(message["Body"], message),
    "batch": {each["Id"]: all(sums(bodies[each["Id"]], each).values()) for each in batch},
})
