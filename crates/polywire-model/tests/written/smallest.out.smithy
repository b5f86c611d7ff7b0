// a.smithy
$version: "2.0"

namespace a

string S
