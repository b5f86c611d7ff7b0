sqs = client("sqs")
queue = "http://sqs/1/orders-a"
pages = sqs.get_paginator("list_queues").paginate(
    QueueNamePrefix="orders", PaginationConfig={"PageSize": 2})
sent = sqs.send_message(
    QueueUrl=queue, MessageBody="tea & <milk>", DelaySeconds=5,
    MessageAttributes={"bytes": {"DataType": "Binary", "BinaryValue": EVERY_BYTE},
                       "text": {"DataType": "String", "StringValue": "grün"}})
show({
    "pages": [page["QueueUrls"] for page in pages],
    "found": bare(sqs.get_queue_url(QueueName="orders-a")),
    "error": caught(lambda: sqs.get_queue_url(QueueName="orders-z")),
    "is": sqs.exceptions.QueueDoesNotExist.__name__,
    "sent": bare(sent),
    "received": bare(sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=2)),
    "deleted": bare(sqs.delete_message(QueueUrl=queue, ReceiptHandle="r-1")),
})
