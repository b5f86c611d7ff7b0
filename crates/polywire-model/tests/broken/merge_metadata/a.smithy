$version: "2"
metadata owners = ["weather"]
metadata team = "weather"
metadata limits = { small: 1, large: 2 }
namespace example
