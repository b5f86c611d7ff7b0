s3.create_bucket(Bucket="bkt")
page = s3.list_objects_v2(Bucket="bkt")
same([page["KeyCount"], page["IsTruncated"], page["MaxKeys"], page["Name"], page["Prefix"]],
     [0, False, 1000, "bkt", ""])
names = ["a", "b/1", "b/2/x", "b/3", "b0", "c//d", "c/e", "d e+f%g", "\u00e9\u2603\U0001f600"]
for name in names:
    s3.put_object(Bucket="bkt", Key=name, Body=name.encode())

page = s3.list_objects_v2(Bucket="bkt")
same(keys(page), names)
entry = page["Contents"][0]
same([entry["ETag"], entry["Size"], entry["StorageClass"]], [tag(b"a"), 1, "STANDARD"])
same(entry["LastModified"], s3.head_object(Bucket="bkt", Key="a")["LastModified"])
assert "Owner" not in entry
assert "Owner" in s3.list_objects_v2(Bucket="bkt", FetchOwner=True)["Contents"][0]

def walk(**arguments):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="bkt", **arguments)
    return [keys(page) + [[prefix] for prefix in prefixes(page)] for page in pages]

same(walk(Prefix="b/"), [["b/1", "b/2/x", "b/3"]])
same(walk(Prefix="b/", Delimiter="/"), [["b/1", "b/3", ["b/2/"]]])
same(walk(Prefix="c/", Delimiter="/"), [["c/e", ["c//"]]])
same(walk(Delimiter="/"), [["a", "b0", names[7], names[8], ["b/"], ["c/"]]])
same(walk(Delimiter="/", PaginationConfig={"PageSize": 1}),
     [["a"], [["b/"]], ["b0"], [["c/"]], [names[7]], [names[8]]])
same(walk(PaginationConfig={"PageSize": 4}), [names[:4], names[4:8], names[8:]])
same(walk(PaginationConfig={"PageSize": 3, "MaxItems": 4}), [names[:3], names[3:4]])
same(walk(StartAfter="b/2", PaginationConfig={"PageSize": 2}),
     [names[2:4], names[4:6], names[6:8], names[8:]])
same(walk(StartAfter="d", Prefix="d "), [[names[7]]])
page = s3.list_objects_v2(Bucket="bkt", MaxKeys=2)
same([page["KeyCount"], page["IsTruncated"], page["MaxKeys"]], [2, True, 2])
page = s3.list_objects_v2(Bucket="bkt", MaxKeys=0)
same([page["KeyCount"], page["IsTruncated"]], [0, False])
# boto3 asks for encoded keys and decodes them unless the caller asked for them.
page = s3.list_objects_v2(Bucket="bkt", Prefix="d", EncodingType="url")
same([keys(page), page["EncodingType"]], [["d%20e%2Bf%25g"], "url"])
page = s3.list_objects_v2(Bucket="bkt", Prefix="c/", Delimiter="/", EncodingType="url")
same(prefixes(page), ["c//"])
same(fails(s3.list_objects_v2, Bucket="none"), ["NoSuchBucket", 404])
same(fails(s3.list_objects_v2, Bucket="bkt", ContinuationToken="x"), ["InvalidArgument", 400])
same(fails(s3.list_objects_v2, Bucket="bkt", MaxKeys=-1), ["InvalidArgument", 400])
show("done")
