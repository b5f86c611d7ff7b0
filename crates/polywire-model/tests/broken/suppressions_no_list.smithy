$version: "2"

metadata suppressions = { id: "A", namespace: "*" }
metadata severityOverrides = "none"
metadata validators = true

namespace example

string City
