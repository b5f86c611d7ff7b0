$version: "2"
namespace example

@enum([
    { value: "a", name: "A" }
    { value: "a", name: "B" }
    { value: "b", name: "A" }
    { value: "c" }
    { value: "d", name: "lower" }
    { name: "NONE" }
    { value: "", name: "not a name" }
])
string Kind

@enum([{ value: "x" }])
string Nameless

@enum([])
string Empty
