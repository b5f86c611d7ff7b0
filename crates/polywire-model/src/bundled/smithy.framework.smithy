// What generated servers answer to input that breaks constraints.
$version: "2.0"

namespace smithy.framework

@error("client")
structure ValidationException {
    @required message: String
    fieldList: ValidationExceptionFieldList
}

structure ValidationExceptionField {
    @required path: String
    @required message: String
}

list ValidationExceptionFieldList {
    member: ValidationExceptionField
}
