$version: "2"
metadata validators = [
metadata a = 1
metadata a = 2

namespace example
