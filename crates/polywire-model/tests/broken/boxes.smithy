$version: "2"
namespace example

@box
integer Count

structure City {
    @box
    count: Integer
}
