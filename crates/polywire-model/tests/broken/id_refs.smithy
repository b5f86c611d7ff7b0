$version: "2"
namespace example

@trait
structure uses {
    @idRef(failWhenMissing: true, selector: "string")
    text: String
    place: Place
    traits: Traits
    byStructure: ByStructure
    reached: Reached
}

@idRef(selector: ":is(operation, structure > member)", errorMessage: "name what a caller sees")
string Place

list Traits {
    @idRef(selector: "[trait|trait]")
    member: String
}

map ByStructure {
    @idRef(failWhenMissing: true, selector: "structure")
    key: String
    value: Place
}

// Asks for the whole model.
@idRef(selector: "service ~> structure")
string Reached

service Weather { version: "1", operations: [GetCity] }
operation GetCity { input: City }
structure City { name: String }
structure Lonely {}

@uses(
    text: "smithy.api#String"
    place: City$name
    traits: [uses, "other#unknown"]
    byStructure: { "example#City": GetCity }
    reached: City
)
structure Sound {}

@uses(
    text: City
    place: Weather
    traits: [uses, documentation, GetCity]
    byStructure: { "example#GetCity": "example#City$name", "example#Cit": City }
    reached: Lonely
)
structure Broken {}

@trait
@idRef(selector: "structure[")
string unreadable

@unreadable(Weather)
structure Unread {}

service Auth { version: "1", operations: [Sign] }
@auth([readonly])
operation Sign {}
