// Where AWS services are.
$version: "2.0"

namespace aws.endpoints

@trait(selector: "service")
document endpointsModifier

@trait(selector: "service")
document rulesBasedEndpoints

@trait(selector: "service")
document standardPartitionalEndpoints

@trait(selector: "service")
document standardRegionalEndpoints

@trait(selector: "service")
document dualStackOnlyEndpoints
