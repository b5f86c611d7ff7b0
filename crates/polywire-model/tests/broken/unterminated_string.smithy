$version: "2"
namespace example

@documentation("What a city is called)
string CityName
