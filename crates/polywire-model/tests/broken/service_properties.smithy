$version: "2"
namespace example

service Weather {
    version: 1
    operation: [GetCity]
    operations: GetCity
    version: "2"
}
