$version: "2"
namespace example

@title(Weather)
service Weather {
    version: "1"
}

@tags([internal, Wether])
structure City {}
