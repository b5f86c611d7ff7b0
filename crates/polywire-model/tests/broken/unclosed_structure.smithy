$version: "2"
namespace example

structure City {
    name: String

structure Weather {
    wind: Float
}
