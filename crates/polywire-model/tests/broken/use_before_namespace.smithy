$version: "2"
use smithy.api#String
namespace example

structure City {}
