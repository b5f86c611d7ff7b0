$version: "2"

namespace bench.shop

use aws.protocols#restJson1

/// The service of `typed_server`: a typed GET and a typed POST.
@restJson1
service Shop {
    version: "2026-11-28"
    operations: [GetItem, PlaceOrder]
}

@readonly
@http(method: "GET", uri: "/items/{sku}")
operation GetItem {
    input := {
        @required
        @httpLabel
        @length(min: 1, max: 32)
        sku: String

        @httpQuery("currency")
        currency: String
    }

    output := {
        @required
        sku: String

        @required
        name: String

        @required
        price: Double

        @required
        currency: String

        @required
        stock: Integer

        @required
        tags: Tags
    }
}

@http(method: "POST", uri: "/orders")
operation PlaceOrder {
    input := {
        @required
        @length(min: 1, max: 64)
        customer: String

        @required
        @length(min: 1, max: 100)
        lines: Lines

        express: Boolean

        note: String
    }

    output := {
        @required
        customer: String

        @required
        items: Integer

        @required
        total: Double

        @required
        lines: Lines

        note: String
    }
}

list Tags {
    member: String
}

list Lines {
    member: Line
}

structure Line {
    @required
    sku: String

    @required
    @range(min: 1, max: 1000)
    quantity: Integer

    @required
    price: Double
}
