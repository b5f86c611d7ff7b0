$version: "2"
namespace example

@trait
list choices { member: Choice }

union Choice { text: String, number: Integer, nothing: Unit }

@choices([
    { text: "a", number: 1 }
    { txt: "a" }
    {}
    { number: "1" }
    { nothing: true }
    "text"
])
structure Poll {}
