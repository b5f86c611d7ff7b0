$version: "2"

namespace example.library

use aws.protocols#restJson1
use polywire#frame
use polywire#xmlRpc
use smithy.protocols#rpcv2Cbor

/// Books, and who has them.
@restJson1
@rpcv2Cbor
@frame
@xmlRpc
@paginated(inputToken: "nextToken", outputToken: "nextToken", pageSize: "pageSize")
service Library {
    version: "2026-01-01"
    operations: [GetBook, ListBooks, PutBook, Shout, Whisper, Ping]
    errors: [Closed]
}

/// <p>Gives a book. See <a href="https://example.com/books">all of them</a> &amp; more.</p>
/// <ul><li><p><code>One</code></p></li><li>Two [not a link]</li></ul>
@readonly
@http(method: "GET", uri: "/books/{id}")
operation GetBook {
    input := {
        @required
        @httpLabel
        id: String

        /// How much of it.
        @httpQuery("depth")
        depth: Integer = 3
    }

    output := {
        @required
        @httpPayload
        book: Book
    }

    errors: [NoSuchBook]
}

@readonly
@paginated(items: "books")
@http(method: "GET", uri: "/books")
operation ListBooks {
    input := {
        @httpQuery("pageSize")
        pageSize: Integer

        @httpQuery("token")
        nextToken: String

        @required
        @idempotencyToken
        @httpQuery("request")
        requestToken: String
    }

    output := {
        @required
        books: Books

        nextToken: String
    }
}

@readonly
@http(method: "POST", uri: "/shouts")
operation Shout {
    input := {
        @required
        @length(max: 100)
        words: String

        /// Milliseconds to think about it.
        pause: Integer
    }

    output := {
        @required
        words: String
    }
}

/// What is required of a caller, its types leave out.
@readonly
@http(method: "POST", uri: "/whispers")
operation Whisper {
    input := {
        @required
        @clientOptional
        words: String
    }

    output := {
        @required
        words: String
    }
}

@idempotent
@http(method: "PUT", uri: "/books")
operation PutBook {
    input := {
        @required
        book: Book

        @idempotencyToken
        requestToken: String

        @httpHeader("X-Reader")
        reader: Secret
    }

    output := {
        token: String
        reader: Secret
    }
}

@http(method: "POST", uri: "/ping")
operation Ping {}

list Books {
    member: Book
}

/// A book.
structure Book {
    @required
    id: String

    @required
    title: String

    /// What kind it is.
    genre: Genre = "NOVEL"

    rank: Rank

    pages: Long = 100

    ratio: Double

    cover: Blob

    bought: Timestamp

    /// Set @deprecated by the shelf.
    @deprecated(message: "use `shelf`", since: "2.0")
    place: String

    shelf: Shelf

    moves: Shelves

    @xmlFlattened
    copies: ShelfByRoom

    notes: Notes

    tags: Tags

    sparse: SparseNumbers

    byGenre: CountByGenre

    /// The one before it.
    previous: Book

    sequels: Books

    type: String

    self: Boolean

    isHTTP2: Boolean

    extra: Document
}

enum Genre {
    NOVEL
    SHORT_STORY = "short-story"

    /// Not made up.
    NON_FICTION = "non fiction"
}

intEnum Rank {
    LOW = 1
    HIGH = 10
}

union Shelf {
    number: Integer
    name: String

    /// A shelf in a book.
    inside: Book

    genres: Genres

    away: Unit
}

list Genres {
    member: Genre
}

list Shelves {
    member: Shelf
}

map ShelfByRoom {
    key: String
    value: Shelf
}

map Notes {
    key: String
    value: String
}

list Tags {
    member: String
}

@sparse
list SparseNumbers {
    member: Integer
}

map CountByGenre {
    key: Genre
    value: Integer
}

@sensitive
string Secret

/// There is no such book.
@error("client")
@httpError(404)
structure NoSuchBook {
    @required
    message: String

    id: String
}

/// The library is closed.
@error("server")
@retryable
structure Closed {
    message: String
    until: Timestamp
}
