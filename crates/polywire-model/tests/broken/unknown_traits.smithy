$version: "2"
namespace example

@requierd
@smithy.api#readOnly
@restJson1
@example.other#thing(a: 1)
structure City {}

@City
structure NotATrait {}
