$version: "2"
$operationInputSufix: "Request"
$operationOutputSuffix: 3
namespace example
