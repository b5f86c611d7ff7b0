$version: "3.0"
namespace example

structure City {}
