$version: "2"
namespace example

@range(min: 01)
integer A

@range(min: 1.)
integer B

@range(min: -)
integer C
