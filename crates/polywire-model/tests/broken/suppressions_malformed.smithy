$version: "2"

metadata suppressions = [
    { id: "A" }
    { namespace: "*" }
    { id: 1, namespace: "*" }
    { id: "A", namespace: "*", raeson: "a slip" }
    []
]

metadata severityOverrides = [
    { id: "A", namespace: "*" }
    { id: "A", namespace: "*", severity: "NOTE" }
    { id: "A", namespace: "*", severity: 3 }
    { id: "A", severity: "DANGER" }
]

namespace example

string City
