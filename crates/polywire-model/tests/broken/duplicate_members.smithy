$version: "2"
namespace example

structure City {
    name: String
    Name: String
    name: Integer
}
