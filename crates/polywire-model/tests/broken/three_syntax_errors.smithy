$version: "2"
namespace example

structure City {
    name String
    population: Integer
    location: = 5
}

list Cities {
    member City
}

strucutre Typo {}

structure Fine {
    name: String
}
