$version: "2.0"

// What the mock of Kinesis answers: two pages, records and an error.
namespace polywire.interop

apply com.amazonaws.kinesis#ListStreams @examples([
    {
        title: "the first page"
        input: { Limit: 2 }
        output: { StreamNames: ["hail", "rain"], HasMoreStreams: true, NextToken: "more" }
    }
    {
        title: "the last page"
        input: { Limit: 2, NextToken: "more" }
        output: { StreamNames: ["wind"], HasMoreStreams: false }
    }
])

apply com.amazonaws.kinesis#DescribeStreamSummary @examples([
    {
        title: "one that is there"
        input: { StreamName: "rain" }
        output: {
            StreamDescriptionSummary: {
                StreamName: "rain"
                StreamARN: "arn:aws:kinesis:us-east-1:123456789012:stream/rain"
                StreamStatus: "ACTIVE"
                StreamModeDetails: { StreamMode: "ON_DEMAND" }
                RetentionPeriodHours: 24
                StreamCreationTimestamp: "2023-11-14T22:13:20.250Z"
                EnhancedMonitoring: [{ ShardLevelMetrics: ["IncomingBytes", "ALL"] }, {}]
                OpenShardCount: 4
            }
        }
    }
    {
        title: "one that is not"
        input: { StreamName: "snow" }
        error: {
            shapeId: com.amazonaws.kinesis#ResourceNotFoundException
            content: { message: "there is no stream snow" }
        }
    }
])

apply com.amazonaws.kinesis#GetRecords @examples([{
    title: "two"
    input: {
        ShardIterator: "i-1"
        Limit: 2
        StreamARN: "arn:aws:kinesis:us-east-1:123456789012:stream/rain"
    }
    output: {
        Records: [
            {
                SequenceNumber: "21269319989900637946712965403778482371"
                ApproximateArrivalTimestamp: 1700000000
                Data: "AAH+/w=="
                PartitionKey: "oslo"
            }
            {
                SequenceNumber: "21269319989900637946712965403778482372"
                ApproximateArrivalTimestamp: "2023-11-14T22:13:20.125Z"
                Data: ""
                PartitionKey: "grün"
            }
        ]
        MillisBehindLatest: 9007199254740993
    }
}])

apply com.amazonaws.kinesis#PutRecords @examples([{
    title: "one is taken and one is not"
    input: {
        StreamName: "rain"
        Records: [
            { Data: "AAH+/w==", PartitionKey: "oslo" }
            { Data: "", PartitionKey: "grün" }
        ]
    }
    output: {
        FailedRecordCount: 1
        Records: [
            { SequenceNumber: "1", ShardId: "shardId-000000000000" }
            { ErrorCode: "InternalFailure", ErrorMessage: "<too> busy" }
        ]
    }
}])
