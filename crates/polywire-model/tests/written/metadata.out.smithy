// metadata.smithy
$version: "2.0"

metadata a = "b"
