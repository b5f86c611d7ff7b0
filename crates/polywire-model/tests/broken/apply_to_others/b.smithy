$version: "2"
namespace other

use example#City

apply City$nam @required

apply example#Town @sensitive

apply String @length(min: 1)

apply smithy.api#required @documentation("Must be there.")
