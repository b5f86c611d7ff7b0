$version: "2"
namespace example

@documentation("""text""")
string CityName
