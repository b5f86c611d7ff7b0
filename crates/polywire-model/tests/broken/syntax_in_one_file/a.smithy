$version: "2"
namespace example

structure City {
    name String
    mayor: Persn
}
