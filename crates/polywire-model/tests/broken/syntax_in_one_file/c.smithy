$version: "2"
namespace example

structure Street {
    city: Nowhere
}
