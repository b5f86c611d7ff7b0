$version: "2"
namespace example

@trait
@protocolDefinition(noInlineDocumentSupport: true, traits: [jsonName, "example#nme"])
structure flat {}

@trait
@authDefinition(traits: ["signature"])
structure signed {}

@flat
@signed
service Weather { operations: [GetCity] }

operation GetCity { output := { cities: Cities } }
list Cities { member: City }
structure City { extra: Document }

@flat
service Fine { operations: [Ping] }
operation Ping {}
