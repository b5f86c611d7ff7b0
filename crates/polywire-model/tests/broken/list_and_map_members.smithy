$version: "2"
namespace example

list Cities {
    item: String
}

map ByName {
    keys: String
    value: String
}

union Empty {}
