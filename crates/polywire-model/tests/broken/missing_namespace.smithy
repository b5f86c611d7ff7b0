$version: "2"

structure City {}
