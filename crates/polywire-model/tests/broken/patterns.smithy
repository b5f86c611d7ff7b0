$version: "2"
namespace example

@pattern("^(abc$")
string Group
@pattern("^abc)$")
string Closed
@pattern("^[abc$")
string Class
@pattern("^[z-a]$")
string Range
@pattern("*.txt")
string Star
@pattern("^a{3,2}$")
string Bounds
@pattern("^a\\")
string Backslash
@pattern("abc")
string Loose
@pattern("abc$")
string Half
@pattern("^(?<!a)b\\1$")
string Fine
