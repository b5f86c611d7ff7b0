$version: "2"
namespace example

@mediaType("json")
string Short
@mediaType("text/plain; charset")
string Parameter
@mediaType("text / plain")
string Spaces
@mediaType("text/plain; charset=\"utf-8")
blob Quote
@mediaType("application/vnd.api+json;profile=\"a b\"")
string Fine
