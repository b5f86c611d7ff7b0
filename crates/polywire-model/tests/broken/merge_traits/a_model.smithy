$version: "2"
namespace example

/// A town or a city.
@tags(["place"])
structure City {
    @length(min: 1)
    name: Name
}

string Name
