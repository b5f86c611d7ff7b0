$version: "2"
namespace example

structure City {}

structure CITY {}
