$version: "2"
namespace example

@tags(["a"])
@tags(["b"])
@title("One")
@title("Two")
service Weather {
    version: "1"
}
