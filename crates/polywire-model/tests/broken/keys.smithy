$version: "2"
$version: "2"

metadata example.owner = "me"

namespace example

@tags([{ a.b: 1 }])
string City
