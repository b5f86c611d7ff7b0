$version: "2"
namespace example

@documentation("a\qb")
string CityName

@documentation("\ud800")
string Other
