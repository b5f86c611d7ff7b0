$version: "2"
namespace example

set Names {
    member: String
}

namespace again
