$version: "2"
namespace example

@trait(
    breakingChanges: [
        { change: "any" }
        { path: "", change: "any" }
        { path: "/parts/member/sise", change: "any" }
        { path: "/name/first", change: "any" }
        { path: "name", change: "any" }
        { path: "/parts/member/size", change: "sometimes" }
        { path: "/name" }
    ]
)
structure thing { name: String, parts: Parts }

list Parts { member: Part }
structure Part { size: Integer }
