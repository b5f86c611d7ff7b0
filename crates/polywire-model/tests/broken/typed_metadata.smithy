$version: "2"

metadata owners = [{ name: "a" }, { nam: "b" }]
metadata limits = "none"

namespace example

@metadata(key: "owners")
list Owners { member: Owner }
structure Owner { @required name: String }

@metadata(key: "limits")
structure Limits {}

@metadata(key: "limits")
structure OtherLimits {}

@metadata(key: "validators")
structure Validators {}
