$version: "2"
metadata short = [1, -2.50, 1e3, true, false, null, "x"]
metadata "odd key" = { a: 1, "b c": "d", e: [], f: {} }
metadata empty = {}
metadata flat = { a: 1, b: "two" }
metadata block = """
    first
      second
    """
metadata nested = [{ a: [1, [2]], b: """
    x
    y""" }, {}, []]
metadata wide = ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccc"]
namespace example
@trait structure plain {
 a: String, list: TextList, map: TextMap, node: Document, inner: plainInner
 @idRef shape: String }
@trait structure noted {}
@trait list Texts { member: String }
@trait map Map { key: String, value: String }
list TextList { member: String }
map TextMap { key: String, value: String }
@trait document anything
@trait string word
@trait boolean flag
@trait integer number
@idRef(selector: "*") string Ref
list Refs { member: Ref }
@trait structure pointers { ids: Refs, byName: RefMap }
map RefMap { key: String, value: Ref }
structure plainInner { b: String }

@noted @plain(a: "x") @Texts([]) @Map({}) @anything({}) @word("a\\b\"c\u0001\t\u00e9") @flag(false) @number(1)
@pointers(ids: [A, smithy.api#String, A$a], byName: { a: A, "b c": "example#A" })
structure A { a: String }
/// Docs of several lines,
///
///   indented, "quoted" and \escaped.
@plain(a: "one\ntwo", map: { x: "1", "y z": "2" }, node: [{ deep: { deeper: [] } }], shape: B)
@Texts(["a", "b"]) @Map(a: "b") @anything([1]) @word("""
    some "quoted" \""" text
     \\ and more\"""")
structure B {
  @documentation("ends with space \nhere") a: String = ""
  @documentation("") b: Boolean = false
  @documentation("a\r\nb") c: TextList = []
  d: Document = {}
  e: Blob = ""
  f: Document = null
  @default("a\nb") g: String
  h: Double = 1.50
}
@plain(a: "a text that is long enough to be broken, with the rest", inner: { b: "c" }, list: ["a", "b"])
@default(7) integer Seven
@default("x") string X
enum E { A, B = "b"
 /// Doc.
 C = "C"
}
intEnum I { ONE = 1
 TWO = 2
}
@trait(selector: ":test(structure, union)", conflicts: [noted, "example#missing"], structurallyExclusive: "member")
structure exclusive {}
@anything("x") @anything2 blob Data
@trait structure anything2 {}
@trait union unit { a: Unit }
apply Data @unit(a: {})
bigDecimal Big
bigInteger Huge
timestamp When
@streaming union Events { x: EventX }
structure EventX {}
