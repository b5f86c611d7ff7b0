$version: "2"

metadata validators = [
    "EmitEachSelector"
    { id: "NoName" }
    { name: 1 }
    { name: "EmitEachSelector", id: "NoSelector" }
    { name: "EmitNoneSelector", id: "EmptyConfiguration", configuration: {} }
    { name: "EmitEachSelector", configuration: { selector: "structure >> foo" } }
    { name: "EmitEachSelector", configuration: { selector: 5 } }
    { name: "EmitEachSelector", selector: "[id|x]", configuration: { selector: "*" } }
    { name: "EmitEachSelector", severity: "ERROR", configuration: { selector: "*" } }
    { name: "EmitEachSelector", severity: "BAD", configuration: { selector: "*" } }
    {
        name: "EmitEachSelector"
        namespaces: "example"
        configurations: {}
        configuration: { selector: "union", messageTemplat: "x" }
    }
    { name: "EmitEachSelector", configuration: { selector: "*", messageTemplate: "a @{id|} b" } }
    { name: "EmitEachSelector", configuration: { selector: "*", messageTemplate: "me@home" } }
]

namespace example

string City
