$version: "2"
namespace example

enum Color {
    RED
    GREEN

structure City {
    name: Strin
}

service Weather {
    operations: [
        GetCity

operation GetCity {
    errors: [
        NotFound

@error("client")
structure NotFound {
}

@tags([
    Red

/// The last one.
string Last

enum Size {
    SMALL = "s"

structure AtTheEnd with [
    Mixin
