// Smithy's prelude: the simple shapes, and the traits that need no `use`.
// The facts are those of the Smithy 2.0 specification.
$version: "2.0"

namespace smithy.api

string String

blob Blob

bigInteger BigInteger

bigDecimal BigDecimal

timestamp Timestamp

document Document

boolean Boolean

byte Byte

short Short

integer Integer

long Long

float Float

double Double

@default(false)
boolean PrimitiveBoolean

@default(0)
byte PrimitiveByte

@default(0)
short PrimitiveShort

@default(0)
integer PrimitiveInteger

@default(0)
long PrimitiveLong

@default(0)
float PrimitiveFloat

@default(0)
double PrimitiveDouble

@unitType
structure Unit {}

@private
@trait(selector: "[id=smithy.api#Unit]")
structure unitType {}

// Traits about traits.

@trait(selector: ":is(simpleType, list, map, structure, union)")
structure trait {
    selector: String
    structurallyExclusive: StructurallyExclusive
    conflicts: NonEmptyStringList
    breakingChanges: TraitDiffRules
}

@private
enum StructurallyExclusive {
    MEMBER = "member"
    TARGET = "target"
}

@private
list TraitDiffRules {
    member: TraitDiffRule
}

@private
structure TraitDiffRule {
    path: String

    @required
    change: TraitChangeType

    severity: TraitChangeSeverity

    message: String
}

@private
enum TraitChangeType {
    UPDATE = "update"
    ADD = "add"
    REMOVE = "remove"
    PRESENCE = "presence"
    ANY = "any"
}

@private
enum TraitChangeSeverity {
    NOTE
    WARNING
    DANGER
    ERROR
}

@private
list NonEmptyStringList {
    member: NonEmptyString
}

@private
@length(min: 1)
string NonEmptyString

@trait(selector: "[trait|trait]")
structure authDefinition {
    traits: TraitShapeIdList
}

@trait(selector: "[trait|trait]")
structure protocolDefinition {
    traits: TraitShapeIdList
    noInlineDocumentSupport: Boolean
}

@private
list TraitShapeIdList {
    member: TraitShapeId
}

@private
@idRef(failWhenMissing: true, selector: "[trait|trait]")
string TraitShapeId

@trait(selector: "structure[trait|trait]")
map traitValidators {
    key: String
    value: TraitValidator
}

@private
structure TraitValidator {
    @required
    selector: String

    message: String

    severity: TraitChangeSeverity
}

@trait(selector: ":is(string, list > member, map > member, structure > member, union > member)")
structure idRef {
    selector: String
    failWhenMissing: Boolean
    errorMessage: String
}

// Documentation.

@trait
string documentation

@trait
@tags(["diff.error.const"])
map externalDocumentation {
    key: NonEmptyString
    value: NonEmptyString
}

@trait(selector: ":is(resource, service)")
string title

@trait
structure deprecated {
    message: String
    since: String
}

@trait
structure unstable {}

@trait
structure internal {}

@trait
structure private {}

@trait
string since

@trait
list tags {
    member: String
}

@trait
list suppress {
    member: NonEmptyString
}

@trait
structure sensitive {}

@trait(selector: "operation")
list examples {
    member: Example
}

@private
structure Example {
    @required
    title: String

    documentation: String

    input: Document

    output: Document

    error: ExampleError

    allowConstraintErrors: Boolean
}

@private
structure ExampleError {
    shapeId: String
    content: Document
}

@trait(selector: "structure > member")
structure recommended {
    reason: String
}

// Type refinement.

@trait(selector: ":is(simpleType, list, map, structure > member :test(> :is(simpleType, list, map)))")
document default

@trait(selector: "structure > member[trait|default]")
document addedDefault

@trait(selector: "structure > member")
structure required {}

@trait(selector: "structure > member")
structure clientOptional {}

@trait(selector: ":is(list, map)")
structure sparse {}

@trait(selector: ":is(enum, intEnum) > member")
document enumValue

@trait(selector: "structure")
enum error {
    CLIENT = "client"
    SERVER = "server"
}

@trait(selector: "structure", conflicts: [output, error])
structure input {}

@trait(selector: "structure", conflicts: [input, error])
structure output {}

@trait(selector: ":not(member)")
structure mixin {
    localTraits: LocalMixinTraitList
}

@private
list LocalMixinTraitList {
    member: LocalMixinTrait
}

@private
@idRef(failWhenMissing: true, selector: "[trait|trait]")
string LocalMixinTrait

// Constraints.

@trait(selector: "string :not(enum)")
@length(min: 1)
list enum {
    member: EnumDefinition
}

@private
structure EnumDefinition {
    @required
    value: NonEmptyString

    name: EnumConstantBodyName

    documentation: String

    tags: NonEmptyStringList

    deprecated: Boolean
}

@private
@pattern("^[a-zA-Z_]+[a-zA-Z_0-9]*$")
string EnumConstantBodyName

@trait(selector: ":test(list, map, string, blob, member > :is(list, map, string, blob))")
structure length {
    min: Long
    max: Long
}

@trait(selector: ":test(string, member > string)")
string pattern

@trait(selector: ":test(number, member > number)")
structure range {
    min: BigDecimal
    max: BigDecimal
}

@trait(selector: "list")
structure uniqueItems {}

// Resources.

@trait(selector: "structure > :test(member > string)")
string resourceIdentifier

@trait(selector: "structure > member")
structure nestedProperties {}

@trait(selector: "structure > member")
structure notProperty {}

@trait(selector: "structure > member")
structure property {
    name: String
}

@trait(selector: ":is(operation, structure, simpleType, list, map, union, structure > member)")
list references {
    member: Reference
}

@private
structure Reference {
    service: String

    @required
    resource: String

    ids: NonEmptyStringMap

    rel: String
}

@private
map NonEmptyStringMap {
    key: NonEmptyString
    value: NonEmptyString
}

@trait(selector: "resource")
structure noReplace {}

// Behaviour.

@trait(selector: "operation", conflicts: [readonly])
structure idempotent {}

@trait(selector: "operation", conflicts: [idempotent])
structure readonly {}

@trait(selector: "structure > :test(member > string)")
structure idempotencyToken {}

@trait(selector: "structure[trait|error]")
structure retryable {
    throttling: Boolean
}

@trait(selector: ":is(operation, service)")
structure paginated {
    inputToken: NonEmptyString
    outputToken: NonEmptyString
    items: NonEmptyString
    pageSize: NonEmptyString
}

@trait(selector: "operation")
structure requestCompression {
    encodings: NonEmptyStringList
}

// Streaming.

@trait(selector: ":is(blob, union)", structurallyExclusive: "target")
structure streaming {}

@trait(selector: "blob[trait|streaming]")
structure requiresLength {}

@trait(selector: "structure > member", conflicts: [eventPayload])
structure eventHeader {}

@trait(selector: "structure > member", conflicts: [eventHeader], structurallyExclusive: "member")
structure eventPayload {}

// Serialization.

@trait(selector: ":is(structure, union) > member")
string jsonName

@trait(selector: ":is(blob, string)")
string mediaType

@trait(selector: ":test(timestamp, member > timestamp)")
enum timestampFormat {
    DATE_TIME = "date-time"
    EPOCH_SECONDS = "epoch-seconds"
    HTTP_DATE = "http-date"
}

@trait(selector: "structure > :test(member > :test(boolean, number, string, timestamp))")
structure xmlAttribute {}

@trait(selector: ":is(structure, union) > :test(member > :test(list, map))")
structure xmlFlattened {}

@trait(selector: ":is(structure, union, member)")
string xmlName

@trait(selector: ":is(service, member, simpleType, list, map, structure, union)")
structure xmlNamespace {
    @required
    uri: NonEmptyString

    prefix: NonEmptyString
}

// HTTP.

@trait(selector: "operation")
structure http {
    @required
    method: NonEmptyString

    @required
    uri: NonEmptyString

    code: Integer
}

@trait(selector: "structure[trait|error]")
integer httpError

@trait(selector: "structure > member")
string httpHeader

@trait(selector: "structure > member", structurallyExclusive: "member")
string httpPrefixHeaders

@trait(selector: "structure > member[trait|required]")
structure httpLabel {}

@trait(selector: "structure > member", structurallyExclusive: "member")
structure httpPayload {}

@trait(selector: "structure > member")
string httpQuery

@trait(selector: "structure > member", structurallyExclusive: "member")
structure httpQueryParams {}

@trait(selector: "structure > :test(member > integer)", structurallyExclusive: "member")
structure httpResponseCode {}

@trait(selector: "operation")
structure httpChecksumRequired {}

@trait(selector: "service")
structure cors {
    origin: NonEmptyString
    maxAge: Integer
    additionalAllowedHeaders: NonEmptyStringList
    additionalExposedHeaders: NonEmptyStringList
}

@trait(selector: "operation")
structure endpoint {
    @required
    hostPrefix: NonEmptyString
}

@trait(selector: "structure > :test(member[trait|required] > string)")
structure hostLabel {}

// Authentication.

@trait(selector: ":is(service, operation)")
list auth {
    member: AuthTraitReference
}

@private
@idRef(failWhenMissing: true, selector: "[trait|authDefinition]")
string AuthTraitReference

@trait(selector: "operation")
structure optionalAuth {}

@authDefinition
@trait(selector: "service")
structure httpBasicAuth {}

@authDefinition
@trait(selector: "service")
structure httpDigestAuth {}

@authDefinition
@trait(selector: "service")
structure httpBearerAuth {}

@authDefinition
@trait(selector: "service")
structure httpApiKeyAuth {
    @required
    name: NonEmptyString

    @required
    in: HttpApiKeyLocations

    scheme: NonEmptyString
}

@private
enum HttpApiKeyLocations {
    HEADER = "header"
    QUERY = "query"
}

// Removed from the language, found in old models.

@trait(selector: ":test(boolean, byte, short, integer, long, float, double, member > :test(boolean, byte, short, integer, long, float, double))")
structure box {}

// Metadata whose values have a shape.

@trait(selector: "dataType :not([trait|input]) :not([trait|output])")
structure metadata {
    @required
    @length(min: 1)
    key: String
}
