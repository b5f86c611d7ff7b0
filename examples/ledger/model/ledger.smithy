$version: "2"

namespace example.ledger

use aws.protocols#awsJson1_1
use aws.protocols#restJson1
use aws.protocols#restXml
use smithy.framework#ValidationException
use smithy.protocols#rpcv2Cbor

/// Accounts, and what was put on them.
@awsJson1_1
@restJson1
@restXml
@rpcv2Cbor
@paginated(inputToken: "nextToken", outputToken: "nextToken", pageSize: "pageSize")
service Ledger {
    version: "2026-11-01"
    operations: [OpenAccount, GetAccount, AddEntry, ListEntries]
    errors: [ValidationException]
}

/// Opens an account. With a token that was seen before it gives the same one.
@idempotent
@http(method: "PUT", uri: "/accounts", code: 201)
operation OpenAccount {
    input := {
        @required
        @length(min: 1, max: 80)
        owner: String

        kind: Kind = "current"

        labels: Labels

        @idempotencyToken
        token: String
    }

    output := {
        @required
        account: Account
    }
}

@readonly
@http(method: "GET", uri: "/accounts/{id}")
operation GetAccount {
    input := {
        @required
        @httpLabel
        id: Id
    }

    output := {
        @required
        account: Account
    }

    errors: [NoSuchAccount]
}

/// Puts money on an account, or takes it off.
@http(method: "POST", uri: "/accounts/{id}/entries", code: 201)
operation AddEntry {
    input := {
        @required
        @httpLabel
        id: Id

        @required
        @range(min: -100000000, max: 100000000)
        cents: Long

        @required
        source: Source

        /// When it happened. Now, unless said.
        at: Timestamp
    }

    output := {
        @required
        entry: Entry

        @required
        balance: Long
    }

    errors: [NoSuchAccount, Overdrawn]
}

/// The entries, from the first on.
@readonly
@paginated(items: "entries")
@http(method: "GET", uri: "/accounts/{id}/entries")
operation ListEntries {
    input := {
        @required
        @httpLabel
        id: Id

        @httpQuery("pageSize")
        @range(min: 1, max: 100)
        pageSize: Integer = 20

        @httpQuery("nextToken")
        nextToken: String
    }

    output := {
        @required
        entries: Entries

        nextToken: String
    }

    errors: [NoSuchAccount]
}

@pattern("^A[0-9]+$")
string Id

enum Kind {
    CURRENT = "current"
    SAVINGS = "savings"
}

structure Account {
    @required
    id: Id

    @required
    owner: String

    @required
    kind: Kind

    @required
    balance: Long

    @required
    opened: Timestamp

    labels: Labels
}

map Labels {
    key: String
    value: String
}

structure Entry {
    @required
    cents: Long

    @required
    at: Timestamp

    @required
    source: Source
}

list Entries {
    member: Entry
}

/// Where money came from, or went.
union Source {
    cash: Unit
    cheque: String
    transfer: Transfer
}

structure Transfer {
    @required
    bank: String

    reference: String
}

@error("client")
@httpError(404)
structure NoSuchAccount {
    @required
    message: String

    id: Id
}

/// Savings do not go below nothing.
@error("client")
@httpError(409)
structure Overdrawn {
    @required
    message: String

    /// What there is.
    @required
    balance: Long
}
