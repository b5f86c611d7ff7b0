$version: "2"

namespace example.library

@title("The library")
service Library {
    version: "2026-11-22"
    operations: [Search]
    resources: [Shelf]
    errors: [Busy]
}

resource Shelf {
    identifiers: { shelf: Name }
    resources: [Book]
}

@internal
resource Book {
    identifiers: { shelf: Name, isbn: Isbn }
    properties: { title: Title, pages: Pages }
    create: AddBook
    read: GetBook
    operations: [LendBook]
    collectionOperations: [CountBooks]
}

@readonly
@http(method: "GET", uri: "/search", code: 200)
@tags(["public", "slow"])
operation Search {
    input := {
        @required
        @httpQuery("q")
        query: Title

        @httpQuery("Token")
        token: Token
    }
    output := {
        books: Books
    }
    errors: [NotFound]
}

operation AddBook {
    input := for Book {
        @required
        $shelf

        $title
    }
}

@readonly
@tags(["public"])
operation GetBook {
    input := for Book {
        @required
        $shelf

        @required
        $isbn
    }
    output := {
        @nestedProperties
        book: BookData
    }
    errors: [NotFound]
}

@internal
operation LendBook {
    input := for Book {
        @required
        $shelf

        @required
        $isbn
    }
}

operation CountBooks {
    input := for Book {
        @required
        $shelf
    }
}

@error("client")
@httpError(404)
structure NotFound {
    @required
    message: String
}

@error("server")
@retryable(throttling: true)
@httpError(503)
structure Busy {}

@mixin
structure Described {
    /// What a reader wrote.
    description: Text
}

structure BookData with [Described] {
    @required
    title: Title

    pages: Pages = 0

    @notProperty
    kind: Kind

    @notProperty
    related: Books

    @notProperty
    notes: Notes

    @notProperty
    cover: Cover
}

union Cover {
    image: Image
    color: Color
}

list Books {
    member: BookData
}

map Notes {
    key: Name
    value: Text
}

@length(min: 1, max: 60)
@pattern("^[a-z]+$")
string Name

@length(min: 13, max: 13)
string Isbn

@length(max: 200)
string Title

@range(min: 0, max: 5000)
integer Pages

/// Free text.
@length(min: 5, max: 2000)
string Text

@sensitive
string Token

@mediaType("image/png")
blob Image

enum Kind {
    NOVEL = "novel"

    @tags(["public"])
    POEMS = "poems"
}

intEnum Color {
    RED = 1
    BLUE = 2
}

@trait(selector: "operation")
@tags(["mark"])
structure audited {
    level: Integer
    teams: Teams
}

list Teams {
    member: String
}

apply AddBook @audited(level: 3, teams: ["stock", "law"])

apply LendBook @audited(level: 1, teams: ["desk"])

apply GetBook @audited(teams: [])

apply BookData$description @notProperty
