$version: "2"
namespace example

@mixin
structure Base {
    @private
    key: String
}

structure Fine with [Base] {
    @private
    own: String
}
