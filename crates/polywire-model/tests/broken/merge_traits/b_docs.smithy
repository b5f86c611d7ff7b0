$version: "2"
namespace example.docs

use example#City

apply City {
    @documentation("A place where people live.")
    @tags(["place", "public"])
}

apply City$name @length(min: 1)
