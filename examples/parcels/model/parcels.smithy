$version: "2"

namespace example.parcels

use aws.protocols#awsJson1_0
use aws.protocols#restJson1
use polywire#xmlRpc
use smithy.protocols#rpcv2Cbor

/// Parcels, and where they are.
@awsJson1_0
@restJson1
@rpcv2Cbor
@xmlRpc
@paginated(inputToken: "nextToken", outputToken: "nextToken")
service Parcels {
    version: "2026-11-22"
    operations: [SendParcel, GetParcel, ListParcels]
}

/// Hands a parcel over.
@http(method: "POST", uri: "/parcels")
operation SendParcel {
    input := {
        @required
        @length(min: 1)
        to: String

        @required
        @range(min: 1, max: 30000)
        grams: Integer

        /// Sending twice with the same token sends one parcel.
        @idempotencyToken
        token: String
    }

    output := {
        @required
        parcel: Parcel
    }
}

@readonly
@http(method: "GET", uri: "/parcels/{id}")
operation GetParcel {
    input := {
        @required
        @httpLabel
        id: String
    }

    output := {
        @required
        parcel: Parcel
    }

    errors: [NoSuchParcel]
}

@readonly
@http(method: "GET", uri: "/parcels")
@paginated(items: "parcels")
operation ListParcels {
    input := {
        @httpQuery("from")
        nextToken: String
    }

    output := {
        @required
        parcels: ParcelList

        nextToken: String
    }
}

list ParcelList {
    member: Parcel
}

structure Parcel {
    @required
    id: String

    @required
    to: String

    grams: Integer

    state: State = "WAITING"
}

enum State {
    WAITING
    ON_ITS_WAY = "on-its-way"
    DELIVERED
}

/// No parcel has this number.
@error("client")
@httpError(404)
structure NoSuchParcel {
    message: String
}
