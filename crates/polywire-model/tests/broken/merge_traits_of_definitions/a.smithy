$version: "2"
namespace example

/// A city.
@sensitive
structure City {
    /// What it is called.
    @required
    name: String
}
