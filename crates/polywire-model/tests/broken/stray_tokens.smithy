$version: "2"
namespace example

}

structure City {
    name: String;
    age: Integer
}

%

structure Fine { a: String } structure TooClose {}
