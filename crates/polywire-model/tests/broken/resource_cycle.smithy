$version: "2"
namespace example

resource A {
    resources: [B]
}

resource B {
    resources: [C, D]
}

resource C {
    resources: [A]
}

resource D {
    resources: [D]
}

resource Outside {
    resources: [A]
}
