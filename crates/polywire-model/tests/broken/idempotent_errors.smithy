$version: "2"
namespace example

@idempotent(exists: [Exists], notFound: [NotFound])
operation Create {
    errors: [Exists]
}

@error("client")
structure Exists {}

@error("client")
structure NotFound {}

@idempotent(exists: [Plain])
operation Replace {
    errors: [Exists]
}

structure Plain {}
