// Rules of single services.
$version: "2.0"

namespace aws.customizations

@trait(selector: "structure")
structure s3UnwrappedXmlOutput {}
