$version: "2"
namespace example

operation GetCity {
    input: GetCityRequest
    output: CityData
}

operation GetTown {
    input: GetCityRequest
    output: Wrong
}

@input
structure GetCityRequest {}

@output
structure CityData {}

@input
structure Wrong {
    nested: CityData
}

structure GetCityInput {}

structure GetTownResponse {}

list Inputs {
    member: GetCityRequest
}
