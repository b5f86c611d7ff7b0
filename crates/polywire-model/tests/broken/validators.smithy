$version: "2"

metadata validators = [
    {
        name: "EmitEachSelector"
        id: "Documented"
        severity: "WARNING"
        message: "Everything should be documented"
        configuration: {
            selector: ":not([trait|documentation])"
        }
    }
    {
        name: "EmitEachSelector"
        id: "Naming.Members"
        namespaces: ["example"]
        configuration: {
            selector: "structure > $target(>) member [id|member ^= x]"
            messageTemplate: """
                @{id|member} of @{id|name} targets @{var|target|id}, its tags
                are @{trait|tags}, and @@ is a letter"""
        }
    }
    {
        name: "EmitEachSelector"
        id: "NoTags"
        severity: "NOTE"
        message: "Tags: {super}"
        configuration: {
            selector: "*"
            bindToTrait: tags
        }
    }
    {
        name: "EmitEachSelector"
        id: "OnlyOthers"
        namespaces: ["other"]
        configuration: { selector: "*" }
    }
    {
        name: "EmitEachSelector"
        id: "OnlyStrings"
        selector: "string"
        configuration: { selector: "[id|namespace = example]" }
    }
    {
        name: "EmitNoneSelector"
        id: "NeedsService"
        configuration: { selector: "service" }
    }
    {
        name: "EmitNoneSelector"
        id: "HasStructure"
        configuration: { selector: "structure" }
    }
    {
        name: "CamelCase"
    }
]

namespace example

/// A city.
@tags(["a"])
structure City {
    @tags(["b", "c"])
    xName: Name

    /// How many live there.
    count: Integer
}

string Name
