$version: "2.0"

// What the mock of DynamoDB answers: two pages and an error.
namespace polywire.interop

apply com.amazonaws.dynamodb#GetItem @examples([
    {
        title: "values of every type"
        input: { TableName: "cities", Key: { id: { S: "oslo" } } }
        output: {
            Item: {
                id: { S: "oslo" }
                population: { N: "717710" }
                flag: { B: "AAH+/w==" }
                capital: { BOOL: true }
                mayor: { NULL: true }
                names: { SS: ["Oslo", "Christiania"] }
                heights: { NS: ["1", "2.5"] }
                parts: { L: [{ S: "Frogner" }, { M: { depth: { N: "2" } } }] }
            }
            ConsumedCapacity: { TableName: "cities", CapacityUnits: 0.5 }
        }
    }
    {
        title: "a table that is not there"
        input: { TableName: "rivers", Key: { id: { S: "oslo" } } }
        error: {
            shapeId: com.amazonaws.dynamodb#ResourceNotFoundException
            content: { message: "there is no table rivers" }
        }
    }
])

apply com.amazonaws.dynamodb#ListTables @examples([
    {
        title: "the first page"
        input: { Limit: 2 }
        output: { TableNames: ["cities", "lakes"], LastEvaluatedTableName: "lakes" }
    }
    {
        title: "the last page"
        input: { Limit: 2, ExclusiveStartTableName: "lakes" }
        output: { TableNames: ["mountains"] }
    }
])

apply com.amazonaws.dynamodb#PutItem @examples([{
    title: "values of every type"
    input: {
        TableName: "cities"
        Item: {
            id: { S: "oslo" }
            flag: { B: "AAH+/w==" }
            parts: { L: [{ S: "Frogner" }, { M: { depth: { N: "2" } } }] }
        }
        ConditionExpression: "attribute_not_exists(id)"
    }
    output: { ConsumedCapacity: { TableName: "cities", CapacityUnits: 1.5 } }
}])

apply com.amazonaws.dynamodb#DescribeTable @examples([{
    title: "a table"
    input: { TableName: "cities" }
    output: {
        Table: {
            TableName: "cities"
            TableStatus: "ACTIVE"
            CreationDateTime: 1700000000.25
            ItemCount: 9007199254740993
        }
    }
}])
