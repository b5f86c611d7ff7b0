// Conditions on values, as JMESPath expressions.
$version: "2.0"

namespace smithy.contracts

@trait(selector: ":not(:test(service, operation, resource))")
map conditions {
    key: ConditionName
    value: Condition
}

structure Condition {
    @required expression: String
    @required documentation: String
}

@pattern("^[A-Z]+[A-Za-z0-9]*$")
string ConditionName
