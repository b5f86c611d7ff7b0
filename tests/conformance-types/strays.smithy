$version: "2"

namespace strays

use aws.protocols#restJson1
use aws.protocoltests.misc#AcceptHeaderStarService

/// The operations of the suites that have cases and that no service has.
@restJson1
service Strays {
    operations: [AcceptHeaderStarService]
}
