$version: "2"
namespace example

@trait
structure forecast {
    days: Byte
    station: Short
    population: Integer
    seconds: Long
    atoms: BigInteger
    wind: Float
    rain: BigDecimal
    sunny: Boolean
    summary: String
    hours: Hours
    byCity: ByCity
    where: Where
}

list Hours { member: Integer }
map ByCity { key: String, value: Integer }
structure Where { city: String }

@forecast(
    days: 128
    station: -32769
    population: 1.0
    seconds: 9223372036854775808
    atoms: "12"
    wind: "calm"
    rain: true
    sunny: "yes"
    summary: ["dry"]
    hours: { first: 1 }
    byCity: [1]
    where: "Bern"
)
structure City {}

@forecast(days: 1e2, wind: "NaN", summary: null, hours: [1, "two", null], where: { city: 3 })
structure Town {}
