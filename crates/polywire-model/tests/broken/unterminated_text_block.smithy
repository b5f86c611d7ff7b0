$version: "2"
namespace example

@documentation("""
    What a city
string CityName
