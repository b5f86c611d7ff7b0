$version: "2"
namespace example

operation GetCity {
    inputs: City
    output: City
    output: City
}

structure City {}
