$version: "2"
namespace example

@trait
structure uses {
    must: Must
    may: May
    told: Told
}

@idRef(failWhenMissing: true)
string Must
@idRef
string May
@idRef(failWhenMissing: true, errorMessage: "name a shape of this model")
string Told

structure City { name: String }

@uses(must: "example#Citi", may: "example#Citi", told: "example#Citi")
structure A {}
@uses(must: "City", may: "not an id")
structure B {}
@uses(must: "example#City$size", may: City$name)
structure C {}
@uses(must: City, told: "example#City$name")
structure D {}
