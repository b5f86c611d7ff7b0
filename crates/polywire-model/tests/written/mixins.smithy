$version: "2"
namespace example
@mixin(localTraits: [sensitive]) @sensitive
structure Named { /// A name.
  name: String
  rank: Integer = 0
}
@mixin @tags(["a"])
structure Dated with [Named] { date: Timestamp }
structure City with [Dated] { @required $name, $rank = 5
 population: Long
   @deprecated(message: "late", since: "1") $date }
apply City$date @tags(["b", "c"])
@mixin list Strings { @length(min: 1) member: String }
list Names with [Strings] { @pattern("^a") $member }
@mixin map Ages { key: String, value: Integer }
map MoreAges with [Ages] { @range(min: 1) $value }
map SameAges with [Ages] {}
@mixin enum Colors { RED, @tags(["x"]) BLUE = "blue"
}
enum AllColors with [Colors] { GREEN }
apply AllColors$RED @deprecated
apply AllColors$BLUE { @tags(["y"]) @documentation("Sky.") }
@mixin @length(min: 1) string Short
string Name with [Short]
@mixin operation Base { errors: [Bad] }
operation Get with [Base] { output := with [Named, Dated, ARatherLongNameOfAMixin, AnotherRatherLongNameOfAMixin, TheLastLongNameOfAMixin] {} }
@mixin structure ARatherLongNameOfAMixin {}
@mixin structure AnotherRatherLongNameOfAMixin {}
@mixin structure TheLastLongNameOfAMixin {}
@error("client") structure Bad {}
@mixin service BaseService { version: "1" operations: [Get] }
service S with [BaseService] { errors: [Bad] }
@mixin @tags(["r"]) resource BaseResource {}
resource R with [BaseResource] { identifiers: { id: String } }
structure Odd for R with [WithId] { id2: String }
@mixin structure WithId { id: Name }
apply Odd$id @tags(["id"])
@mixin union Choice { a: String }
union Chosen with [Choice] { b: Unit }
