$version: "2.0"

// A little of everything that an export to botocore has to say in words of its own.
namespace example.shop

use aws.auth#unsignedPayload
use aws.protocols#awsQueryError
use aws.protocols#ec2QueryName
use polywire#xmlRpc
use smithy.waiters#waitable

/// Things to buy.
///
/// Prices are in `EUR`, not in <other> money.
@title("Example Shop")
@xmlRpc
@xmlNamespace(uri: "https://shop.example/")
@paginated(inputToken: "token", outputToken: "next", pageSize: "size")
service Shop {
    version: "1.0"
    operations: [GetItem, ListItems, Order, Upload, Watch]
    errors: [Busy]
    rename: { "example.other#Item": "OtherItem" }
}

@readonly
@http(method: "GET", uri: "/items/{id+}?kind=item")
@waitable(
    ItemExists: {
        documentation: "Until it is there."
        minDelay: 5
        acceptors: [
            { state: "success", matcher: { success: true } }
            { state: "retry", matcher: { errorType: NoSuchItem } }
        ]
    }
    ItemIs: {
        acceptors: [
            { state: "success", matcher: { output: { path: "item.ready", expected: "true", comparator: "booleanEquals" } } }
            { state: "failure", matcher: { output: { path: "item.tags", expected: "gone", comparator: "anyStringEquals" } } }
        ]
    }
    ItemSame: {
        acceptors: [
            { state: "success", matcher: { inputOutput: { path: "input.id == output.item.name", expected: "true", comparator: "booleanEquals" } } }
        ]
    }
)
@examples([
    { title: "One", input: { id: "a" }, output: { item: { name: "apple" } } }
    { title: "None", input: { id: "b" }, error: { shapeId: NoSuchItem, content: { id: "b" } } }
])
operation GetItem {
    input := {
        @required
        @httpLabel
        id: ItemId

        @httpQuery("since")
        since: Timestamp

        @httpHeader("X-Since")
        @timestampFormat("date-time")
        sinceHeader: Timestamp

        @httpPrefixHeaders("X-Meta-")
        meta: StringMap

        @httpQueryParams
        more: StringMap
    }

    output := {
        @httpResponseCode
        status: Integer

        @httpHeader("X-Notes")
        notes: JsonText

        @httpPayload
        item: Item
    }

    errors: [NoSuchItem]
}

@readonly
@paginated(items: "items")
@http(method: "GET", uri: "/items")
operation ListItems {
    input := {
        @httpQuery("token")
        token: String

        @httpQuery("size")
        @range(min: 1, max: 100)
        size: Integer = 10
    }

    output := {
        @required
        @xmlFlattened
        @xmlName("Item")
        items: ItemList

        also: ItemList

        next: String
    }
}

@idempotent
@endpoint(hostPrefix: "{region}.orders.")
@http(method: "PUT", uri: "/orders/{region}", code: 202)
operation Order {
    input := {
        @required
        @httpLabel
        @hostLabel
        region: String

        @idempotencyToken
        @jsonName("order_token")
        @xmlName("OrderToken")
        token: String

        @ec2QueryName("Amount")
        @xmlName("count")
        amount: Byte

        weight: BigDecimal
        serial: BigInteger
        note: Document

        @deprecated(message: "say `amount`", since: "0.9")
        howMany: Small

        @xmlAttribute
        language: Language

        @xmlNamespace(uri: "https://pay.example/", prefix: "p")
        pay: Pay
        size: Size
    }
}

@auth([])
@unsignedPayload
@httpChecksumRequired
@deprecated
@http(method: "POST", uri: "/pictures")
operation Upload {
    input := {
        @httpHeader("Content-Type")
        kind: Language

        @required
        @httpPayload
        picture: Picture
    }
}

@http(method: "POST", uri: "/watch")
operation Watch {
    output := {
        @httpPayload
        news: News
    }
}

@length(min: 1, max: 20)
@pattern("^[a-z]+$")
string ItemId

// Not the prelude's, which is reached too.
string String

@mediaType("application/json")
string JsonText

structure Item {
    /// What it is called.
    @required
    name: ItemId

    ready: Boolean = false

    tags: TagList

    /// Items that go with it.
    with: ItemList

    other: example.other#Item

    text: example.shop#String

    made: Made
}

list ItemList {
    @xmlName("Entry")
    member: Item
}

@sparse
list TagList {
    member: String
}

map StringMap {
    @xmlName("Name")
    key: String

    @xmlName("Text")
    value: String
}

@timestampFormat("epoch-seconds")
timestamp Made

@range(min: 0, max: 9.5)
float Small

enum Language {
    ENGLISH = "en"
    GREEK = "el"
}

intEnum Size {
    SMALL = 1
    LARGE = 2
}

union Pay {
    cash: Unit
    card: Card
}

@sensitive
structure Card {
    number: smithy.api#String
}

@streaming
@requiresLength
blob Picture

@streaming
union News {
    arrived: Arrived
    busy: Busy
}

structure Arrived {
    @eventHeader
    at: Timestamp

    @eventPayload
    what: Blob
}

@error("client")
@httpError(404)
@awsQueryError(code: "Shop.NoSuchItem", httpResponseCode: 404)
structure NoSuchItem {
    id: ItemId
}

@error("server")
@retryable(throttling: true)
structure Busy {
    message: String
}
