$version: "2.0"

// What the mock of SQS answers: two pages and an error.
namespace polywire.interop

apply com.amazonaws.sqs#ListQueues @examples([
    {
        title: "the first page"
        input: { QueueNamePrefix: "orders", MaxResults: 2 }
        output: {
            QueueUrls: ["http://sqs/1/orders-a", "http://sqs/1/orders-b"]
            NextToken: "more"
        }
    }
    {
        title: "the last page"
        input: { QueueNamePrefix: "orders", MaxResults: 2, NextToken: "more" }
        output: { QueueUrls: ["http://sqs/1/orders-c"] }
    }
])

apply com.amazonaws.sqs#GetQueueUrl @examples([
    {
        title: "one that is there"
        input: { QueueName: "orders-a" }
        output: { QueueUrl: "http://sqs/1/orders-a" }
    }
    {
        title: "one that is not"
        input: { QueueName: "orders-z" }
        error: {
            shapeId: com.amazonaws.sqs#QueueDoesNotExist
            content: { message: "there is no orders-z" }
        }
    }
])

apply com.amazonaws.sqs#SendMessage @examples([{
    title: "attributes of every type"
    input: {
        QueueUrl: "http://sqs/1/orders-a"
        MessageBody: "tea & <milk>"
        DelaySeconds: 5
        MessageAttributes: {
            bytes: { DataType: "Binary", BinaryValue: "AAH+/w==" }
            text: { DataType: "String", StringValue: "grün" }
        }
    }
    output: { MessageId: "m-1", MD5OfMessageBody: "9cdfb439c7876e703e307864c9167a15" }
}])

apply com.amazonaws.sqs#ReceiveMessage @examples([{
    title: "two"
    input: { QueueUrl: "http://sqs/1/orders-a", MaxNumberOfMessages: 2 }
    output: {
        Messages: [
            {
                MessageId: "m-1"
                ReceiptHandle: "r-1"
                Body: "tea & <milk>"
                Attributes: { SentTimestamp: "1700000000000" }
                MessageAttributes: { bytes: { DataType: "Binary", BinaryValue: "AAH+/w==" } }
            }
            { MessageId: "m-2", ReceiptHandle: "r-2", Body: "" }
        ]
    }
}])
