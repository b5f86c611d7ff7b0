$version: "2"
namespace example

@trait
@pattern("^[\\w&&.-]+@(?:[a-z]+\\.)+[a-z]{2,}$")
string mail

@trait
@pattern("^(?=.*\\d).{8,}$")
string password

@mail("someone@example.com")
structure Right {}

@mail("someone at example.com")
structure Wrong {}

@mail("\u00e9@example.com")
structure NotAscii {}

@password("unchecked, since it takes a look ahead")
structure Unchecked {}
