$version: "2"
namespace example

service Weather {
    version: "1"
    operations: [City]
    resources: [GetCity]
}

operation GetCity {
    input: CityName
    output: NotFound
    errors: [City]
}

structure City {
    operation: GetCity
    nothing: Unit
}

map Odd {
    key: Integer
    value: Weather
}

string CityName

@error("client")
structure NotFound {}
