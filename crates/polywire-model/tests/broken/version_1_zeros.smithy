$version: "1.0"
namespace example

@range(min: 1)
integer Count

structure City {
    count: Count

    @range(min: 2)
    size: PrimitiveInteger

    @range(min: 3)
    boxed: Integer
}

union Choice {
    @box
    boxed: Integer

    primitive: PrimitiveInteger
}
