$version: "2"
namespace example

@trait
structure tree { @required name: String, branches: Branches, leaves: Leaves }

list Branches { member: tree2 }
structure tree2 { @required name: String, branches: Branches, leaves: Leaves }
map Leaves { key: String, value: Leaf }
structure Leaf { @range(min: 0) size: Integer }

@tree(
    name: "oak"
    branches: [
        { name: "left", leaves: { big: { size: 1 }, "a/b": { size: -1 } } }
        { name: "right", branches: [{ leaves: {} }, { name: 2 }] }
        { name: "top", leafs: {} }
    ]
)
structure Wood {}
