$version: "2.0"
$operationInputSuffix: "Req$est"
$operationOutputSuffix: "-Result"

namespace example

operation GetCity {
    input := {}
    output := {}
}
