$version: "2"
namespace example

service Service {
    version: "1"
    operations: [Get, Ping]
    resources: [City, Town]
}

service Other {
    version: "1"
    operations: [Get]
}

resource City {
    operations: [Get, List]
    resources: [House]
}

resource Town {
    collectionOperations: [List]
    resources: [House]
}

resource House {
    identifiers: {}
    operations: [Ping]
    collectionOperations: [Ping]
}

operation Get {}

operation List {}

operation Ping {}
