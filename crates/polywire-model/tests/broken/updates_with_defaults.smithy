$version: "2"
namespace example

resource City { identifiers: { id: String }, update: ChangeCity }

operation ChangeCity {
    input := {
        @required
        id: String
        name: String = ""
        size: Integer = 0
    }
}

operation PatchTown { input := { name: String = "" } }

operation UpdateTown { input := { name: String } }
