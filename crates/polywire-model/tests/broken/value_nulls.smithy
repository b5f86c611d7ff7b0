$version: "2"
namespace example

@trait
structure readings {
    dense: Dense
    sparse: Sparse
    denseMap: DenseMap
    sparseMap: SparseMap
    any: Document
}

list Dense { member: Integer }
@sparse
list Sparse { member: Integer }
map DenseMap { key: String, value: String }
@sparse
map SparseMap { key: String, value: String }

@readings(
    dense: [1, null]
    sparse: [1, null]
    denseMap: { a: null }
    sparseMap: { a: null }
    any: null
)
structure Station {}

@readings(dense: null)
structure Other {}
