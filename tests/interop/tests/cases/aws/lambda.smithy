$version: "2.0"

// What the mock of Lambda answers beside what its own model has: two pages, functions that
// are called, and an error.
namespace polywire.interop

apply com.amazonaws.lambda#ListAliases @examples([
    {
        title: "the first page"
        input: {
            FunctionName: "arn:aws:lambda:us-east-1:123456789012:function:rain"
            FunctionVersion: "$LATEST"
            MaxItems: 2
        }
        output: { Aliases: [{ Name: "blue" }, { Name: "green" }], NextMarker: "a/b +c" }
    }
    {
        title: "the last page"
        input: {
            FunctionName: "arn:aws:lambda:us-east-1:123456789012:function:rain"
            FunctionVersion: "$LATEST"
            MaxItems: 2
            Marker: "a/b +c"
        }
        output: { Aliases: [{ Name: "red" }] }
    }
])

apply com.amazonaws.lambda#Invoke @examples([
    {
        title: "a function that fails"
        input: { FunctionName: "rain", Payload: "AAH+/w==", ClientContext: "e30=", Qualifier: "7" }
        output: {
            StatusCode: 200
            FunctionError: "Unhandled"
            LogResult: "bG9n"
            ExecutedVersion: "7"
            Payload: "AAH+/w=="
        }
    }
    {
        title: "a function that is called later"
        input: { FunctionName: "rain", InvocationType: "Event" }
        output: { StatusCode: 202 }
    }
])

apply com.amazonaws.lambda#GetFunctionConfiguration @examples([
    {
        title: "one that is there"
        input: { FunctionName: "rain", Qualifier: "7" }
        output: {
            FunctionName: "rain"
            Runtime: "provided.al2023"
            CodeSize: 9007199254740993
            Timeout: 15
            LastModified: "2026-11-22T10:30:59.250+0000"
            Environment: { Variables: { CITY: "Tromsø", EMPTY: "" } }
            VpcConfig: { SubnetIds: [], Ipv6AllowedForDualStack: false }
            Architectures: ["arm64"]
        }
    }
    {
        title: "one that is not"
        input: { FunctionName: "snow" }
        error: {
            shapeId: com.amazonaws.lambda#ResourceNotFoundException
            content: { Type: "User", Message: "there is no snow" }
        }
    }
])

apply com.amazonaws.lambda#CreateAlias @examples([{
    title: "with weights"
    input: {
        FunctionName: "rain"
        Name: "live"
        FunctionVersion: "7"
        Description: "tea & <milk> \"grün\""
        RoutingConfig: { AdditionalVersionWeights: { "8": 0.1, "9": 1e-7 } }
    }
    output: {
        AliasArn: "arn:aws:lambda:us-east-1:123456789012:function:rain:live"
        Name: "live"
        Description: "tea & <milk> \"grün\""
        RoutingConfig: { AdditionalVersionWeights: { "8": 0.1, "9": 1e-7 } }
    }
}])

apply com.amazonaws.lambda#ListTags @examples([{
    title: "two"
    input: { Resource: "arn:aws:lambda:us-east-1:123456789012:function:rain" }
    output: { Tags: { "a & b": "", c: "d" } }
}])
