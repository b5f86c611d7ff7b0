$version: "2"
namespace example

@http(method: "POST", uri: "/a", code: 99)
operation A {}

@http(method: "POST", uri: "/b", code: 1000)
operation B {}

@http(method: "", uri: "/c")
operation C {}

@http(method: "GE T", uri: "/c")
operation D {}
