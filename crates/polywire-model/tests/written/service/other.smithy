$version: "2"
namespace example.other
structure Wind { speed: Double }
