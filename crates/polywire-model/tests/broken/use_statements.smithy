$version: "2"
namespace example

use smithy.api#Strin
use other.one#City
use other.two#City
use noHash
use smithy.api#Integer

structure Integer {}
