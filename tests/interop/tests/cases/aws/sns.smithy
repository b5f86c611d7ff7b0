$version: "2.0"

// What the mock of SNS answers: two pages and an error.
namespace polywire.interop

apply com.amazonaws.sns#ListTopics @examples([
    {
        title: "the first page"
        input: {}
        output: {
            Topics: [{ TopicArn: "arn:aws:sns:us-east-1:1:a" }, { TopicArn: "arn:aws:sns:us-east-1:1:b" }]
            NextToken: "more & more"
        }
    }
    {
        title: "the last page"
        input: { NextToken: "more & more" }
        output: { Topics: [{ TopicArn: "arn:aws:sns:us-east-1:1:c" }] }
    }
])

apply com.amazonaws.sns#Publish @examples([{
    title: "attributes of every type"
    input: {
        TopicArn: "arn:aws:sns:us-east-1:1:a"
        Message: "tea & <milk>"
        MessageAttributes: {
            bytes: { DataType: "Binary", BinaryValue: "AAH+/w==" }
            text: { DataType: "String", StringValue: "grün" }
        }
    }
    output: { MessageId: "m-1", SequenceNumber: "18446744073709551616" }
}])

apply com.amazonaws.sns#GetTopicAttributes @examples([
    {
        title: "one that is there"
        input: { TopicArn: "arn:aws:sns:us-east-1:1:a" }
        output: { Attributes: { DisplayName: "a <b> & c", Empty: "" } }
    }
    {
        title: "one that is not"
        input: { TopicArn: "arn:aws:sns:us-east-1:1:z" }
        error: {
            shapeId: com.amazonaws.sns#NotFoundException
            content: { message: "there is no z" }
        }
    }
])
