$version: "2"

namespace example

@trait(selector: "structure > membr")
structure typo {}

@trait(selector: "structure, union")
structure list1 {}

@trait(selector: "[trait|required")
structure unclosed {}

@trait(selector: """
    :test(structure)
    > member[id|nmae = x]""")
structure inTextBlock {}

@trait(selector: "")
structure empty {}

@trait(selector: ":not(\"a\")")
structure escaped {}

@typo
string Used
