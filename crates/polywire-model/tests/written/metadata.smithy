$version: "2"
metadata a = "b"
