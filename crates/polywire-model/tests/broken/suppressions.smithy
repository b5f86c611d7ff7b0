$version: "2"

metadata validators = [
    {
        name: "EmitEachSelector"
        id: "House.Naming"
        severity: "NOTE"
        message: "A name"
        configuration: { selector: ":is(string, structure > member)" }
    }
]

metadata suppressions = [
    { id: "House", namespace: "other", reason: "no shape of ours" }
    { id: "Hou", namespace: "*" }
    { id: "TraitTarget", namespace: "*", reason: "errors can't be suppressed" }
]

metadata severityOverrides = [
    { id: "House.Naming", namespace: "example", severity: "DANGER" }
]

namespace example

@suppress(["House"])
string Hidden

@suppress(["House.Naming.Strings"])
string Shown

@suppress(["House.Naming", "TraitTarget"])
@readonly
structure City {
    @suppress(["House.Naming"])
    hidden: Hidden

    shown: Shown
}
