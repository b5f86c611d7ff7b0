//! What smithy-java took for the same messages, head and body. It cannot run in this process.

use polywire_gate::{Case, Quote};

use super::Row;

/// Adds the figures of the message, and the target: so many times as fast as smithy-java was on our
/// machines.
pub(super) fn quote(case: &mut Case, row: &Row) {
    let name = row.full_name();
    let line = TABLE.lines().find_map(|line| line.strip_prefix(&name));
    let fields: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    let [here, published, times] = fields[..] else {
        return;
    };
    if let Ok(nanoseconds) = published.parse() {
        let source = "what its authors published, on another machine";
        case.quote(Quote::new("smithy-java published", source).nanoseconds(nanoseconds));
    }
    if let (Ok(nanoseconds), Ok(times)) = (here.parse(), times.parse()) {
        let source = "its codec benchmarks, best of several runs on our machines";
        case.quote(Quote::new("smithy-java", source).nanoseconds(nanoseconds))
            .target_ratio_time("smithy-java", times);
    }
}

/// The case; the nanoseconds of smithy-java on our machines; those that its authors published, or
/// `-`; and how many times as fast we are to be.
const TABLE: &str = "\
awsJson1_0 GetItemOutput_L 22816 19877 1.7
awsJson1_0 GetItemOutput_M 3156 2887 1.7
awsJson1_0 GetItemOutput_S 781 736 1.7
awsJson1_0 PutItemRequest_MixedItem_L 8672 8810 2.0
awsJson1_0 PutItemRequest_MixedItem_M 2984 2645 2.0
awsJson1_0 PutItemRequest_ShallowMap_L 8067 - 2.0
awsJson1_0 PutItemRequest_ShallowMap_M 3012 - 2.0
awsQuery GetMetricDataRequest_L 9072 7506 2.0
awsQuery GetMetricDataRequest_M 4056 3430 2.0
awsQuery GetMetricDataRequest_S 721 468 2.0
awsQuery GetMetricDataResponse_L 105216 78873 2.5
awsQuery GetMetricDataResponse_M 10144 7295 2.5
awsQuery GetMetricDataResponse_OutOfOrder 10992 7921 2.5
awsQuery GetMetricDataResponse_S 3276 2596 3.5
awsQuery PutMetricDataRequest_L 36032 26308 2.0
awsQuery PutMetricDataRequest_M 3052 1911 2.0
awsQuery PutMetricDataRequest_S 440 287 2.0
restJson1 CopyObjectOutput_M 972 1145 1.7
restJson1 CopyObjectOutput_OutOfOrder 1562 1690 1.7
restXml CopyObjectOutput_M 1202 1258 2.5
restXml CopyObjectOutput_OutOfOrder 1732 1726 2.5
restXml CopyObjectRequest_M 1162 1187 2.0
restXml PutObject_L 220 225 2.0
restXml PutObject_S 220 207 2.0
rpcv2Cbor GetItemOutput_L 15776 11832 1.7
rpcv2Cbor GetItemOutput_M 2452 1843 1.7
rpcv2Cbor PutItemRequest_MixedItem_M 2884 2619 1.7
rpcv2Cbor PutItemRequest_ShallowMap_L 9904 7195 1.7
";
