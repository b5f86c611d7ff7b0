$version: "2"
namespace example

structure City {
    name: String
}

apply Citi @sensitive

apply City$nmae @required

apply City {
    @sensitive
    string
}
