$version: "2"
namespace example

/// A town.
structure City {
    /// Its name.
    @length(min: 1)
    name: String
}
