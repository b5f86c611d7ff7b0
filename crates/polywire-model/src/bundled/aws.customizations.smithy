// Rules of single services.
$version: "2.0"

namespace aws.customizations

@trait(selector: "operation")
structure s3UnwrappedXmlOutput {}
