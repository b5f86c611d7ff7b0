$version: "2"
namespace example

structure City {
    name: Strin
    location: Coordinates
    weather: Wether
}

structure Weather {}

operation GetCity {
    input: CityInput
    output: City
    errors: [NoSuchCity]
}
