$version: "2"
namespace example

structure CityName {}
