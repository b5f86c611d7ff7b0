$version: "2"
metadata owners = "maps"
metadata limits = { small: 1 }
namespace example
