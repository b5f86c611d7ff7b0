$version: "2"
namespace example

@http(method: "POST", uri: "/cities#top")
operation Fragment {}

@http(method: "POST", uri: "/cities?")
operation EmptyQuery {}

@http(method: "POST", uri: "/cities//all")
operation EmptySegment {}

@http(method: "POST", uri: "/city-{id}")
operation PartOfASegment {}

@http(method: "POST", uri: "/{city-id}")
operation NoIdentifier {}

@http(method: "POST", uri: "/{id}/{ID}")
operation SameLabel {}

@http(method: "POST", uri: "/cities?id={id}")
operation LabelInQuery {}

@http(method: "POST", uri: "/cities?a=1&a=2")
operation SameParameter {}

@http(method: "POST", uri: "/cities/zürich")
operation NotAscii {}
