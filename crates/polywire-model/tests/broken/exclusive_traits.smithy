$version: "2"

namespace example

structure City {
    @main
    name: String

    @main
    title: String

    @main
    nick: String

    photo: Photo

    film: Film
}

union NoStructure {
    @main
    name: String

    @main
    title: String
}

@large
blob Photo

@large
blob Film

@mixin
structure Twice {
    @main
    a: String

    @main
    b: String
}

structure UsesTwice with [Twice] {}

structure Thrice with [Twice] {
    @main
    c: String
}

@trait(selector: "member", structurallyExclusive: "member")
structure main {}

@trait(selector: "blob", structurallyExclusive: "target")
structure large {}
