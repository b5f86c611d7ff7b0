$version: "2.0"

// What the mock of STS answers beside what its own model has, and two errors, one under a
// code of its own.
namespace polywire.interop

apply com.amazonaws.sts#AssumeRole @examples([{
    title: "with tags"
    input: {
        RoleArn: "arn:aws:iam::123456789012:role/rain"
        RoleSessionName: "w@x=y"
        Policy: "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Sid\":\"a & b\",\"Effect\":\"Allow\"}]}"
        DurationSeconds: 900
        Tags: [{ Key: "grün", Value: "a b=c+/@" }, { Key: "empty", Value: "" }]
        TransitiveTagKeys: ["grün"]
    }
    output: {
        Credentials: {
            AccessKeyId: "AKIAIOSFODNN7EXAMPLE"
            SecretAccessKey: "wJalrXUtnFEMI/K7MDENG"
            SessionToken: "AQoD<&>//=="
            Expiration: "2026-11-22T10:30:59.250Z"
        }
        AssumedRoleUser: {
            AssumedRoleId: "AROA123:w@x=y"
            Arn: "arn:aws:sts::123456789012:assumed-role/rain/w@x=y"
        }
        PackedPolicySize: 6
    }
}])

apply com.amazonaws.sts#DecodeAuthorizationMessage @examples([
    {
        title: "one that can be read"
        input: { EncodedMessage: "<e> & 1+1" }
        output: { DecodedMessage: "{\"allowed\":\"<no>\"}" }
    }
    {
        title: "one that cannot"
        input: { EncodedMessage: "no" }
        error: {
            shapeId: com.amazonaws.sts#InvalidAuthorizationMessageException
            content: { message: "it says nothing" }
        }
    }
])

apply com.amazonaws.sts#GetFederationToken @examples([{
    title: "a policy that is none"
    input: { Name: "bob", Policy: "{" }
    error: {
        shapeId: com.amazonaws.sts#MalformedPolicyDocumentException
        content: { message: "a policy ends with }" }
    }
}])
