$version: "2"
namespace example

structure Self { @required self: Self }

structure Country { @required capital: City }
structure City { @required street: Street, name: String }
structure Street { @required country: Country, @required house: House }
structure House { @required street: Street }

structure Fine { @required more: FineList, next: Fine }
list FineList { member: Fine }
