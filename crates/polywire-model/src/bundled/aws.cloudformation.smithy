// Resources as CloudFormation sees them.
$version: "2.0"

namespace aws.cloudformation

@unstable
@trait(
    selector: "structure > :test(member > string)"
    conflicts: [cfnExcludeProperty]
    breakingChanges: [{ change: "remove" }]
)
structure cfnAdditionalIdentifier {}

@unstable
@trait(
    selector: "resource > operation -[input, output]-> structure > member"
    conflicts: [cfnExcludeProperty]
)
structure cfnDefaultValue {}

@unstable
@trait(
    selector: "structure > member"
    conflicts: [cfnAdditionalIdentifier, cfnMutability, cfnDefaultValue]
    breakingChanges: [{ change: "add" }]
)
structure cfnExcludeProperty {}

@unstable
@trait(selector: "structure > member", conflicts: [cfnExcludeProperty])
enum cfnMutability {
    FULL = "full"
    CREATE_AND_READ = "create-and-read"
    CREATE = "create"
    READ = "read"
    WRITE = "write"
}

@unstable
@trait(selector: "structure > member", breakingChanges: [{ change: "any" }])
string cfnName

@unstable
@trait(selector: "resource", breakingChanges: [{ change: "presence" }])
structure cfnResource {
    name: String
    additionalSchemas: StructureIdList
    @deprecated(message: "the identifiers of the resource say the same")
    primaryIdentifier: String
}

@private
list StructureIdList {
    @idRef(failWhenMissing: true, selector: "structure") member: String
}
