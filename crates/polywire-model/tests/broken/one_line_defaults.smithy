$version: "2"
namespace example

structure City { name: String = "", population: Long = 0 }

intEnum Size { SMALL = 1, LARGE = 2 }
