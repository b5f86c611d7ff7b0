$version: "2"
namespace a
string S
