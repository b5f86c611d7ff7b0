s3.create_bucket(Bucket="bkt")
assert "Status" not in s3.get_bucket_versioning(Bucket="bkt")
assert "VersionId" not in s3.put_object(Bucket="bkt", Key="k", Body=b"null")

def enable(status="Enabled"):
    s3.put_bucket_versioning(Bucket="bkt", VersioningConfiguration={"Status": status})
    same(s3.get_bucket_versioning(Bucket="bkt")["Status"], status)

def entries(**arguments):
    """All entries of all pages: key, id and whether it is the newest, markers in brackets."""
    found = []
    for page in s3.get_paginator("list_object_versions").paginate(Bucket="bkt", **arguments):
        listed = [(v["Key"], v["VersionId"], v["IsLatest"]) for v in page.get("Versions", [])]
        listed += [[m["Key"], m["VersionId"], m["IsLatest"]] for m in page.get("DeleteMarkers", [])]
        found += sorted(listed, key=lambda entry: (entry[0], not entry[2]))
    return found

def get(**arguments):
    return s3.get_object(Bucket="bkt", Key="k", **arguments)["Body"].read()

enable()
one = s3.put_object(Bucket="bkt", Key="k", Body=b"one")["VersionId"]
two = s3.put_object(Bucket="bkt", Key="k", Body=b"two" * 9000)["VersionId"]
same(s3.head_object(Bucket="bkt", Key="k")["VersionId"], two)
same([get(), get(VersionId=one), get(VersionId="null")], [b"two" * 9000, b"one", b"null"])
deleted = s3.delete_object(Bucket="bkt", Key="k")
same(deleted["DeleteMarker"], True)
marker = deleted["VersionId"]
same(fails(s3.get_object, Bucket="bkt", Key="k"), ["NoSuchKey", 404])
same(fails(s3.get_object, Bucket="bkt", Key="k", VersionId=marker), ["MethodNotAllowed", 405])
try:
    s3.head_object(Bucket="bkt", Key="k")
except botocore.exceptions.ClientError as error:
    headers = error.response["ResponseMetadata"]["HTTPHeaders"]
    same([headers["x-amz-delete-marker"], headers["x-amz-version-id"]], ["true", marker])
same(keys(s3.list_objects_v2(Bucket="bkt")), [])
for size in (1, 2, 3, 1000):
    same({tuple(entry) for entry in entries(PaginationConfig={"PageSize": size})},
         {("k", marker, True), ("k", two, False), ("k", one, False), ("k", "null", False)})
same(fails(s3.get_object, Bucket="bkt", Key="k", VersionId="0123456789abcdef"),
     ["NoSuchVersion", 404])
same(fails(s3.get_object, Bucket="bkt", Key="k", VersionId="x"), ["InvalidArgument", 400])
same(fails(s3.delete_bucket, Bucket="bkt"), ["BucketNotEmpty", 409])

# Without its marker, the object is there again.
same(s3.delete_object(Bucket="bkt", Key="k", VersionId=marker)["DeleteMarker"], True)
same(get(), b"two" * 9000)
copied = s3.copy_object(Bucket="bkt", Key="k", CopySource={
    "Bucket": "bkt", "Key": "k", "VersionId": one})
same(copied["CopySourceVersionId"], one)
same([get(), get(VersionId=copied["VersionId"]), get(VersionId=two)], [b"one", b"one", b"two" * 9000])
s3.delete_object(Bucket="bkt", Key="k", VersionId=copied["VersionId"])
s3.delete_object(Bucket="bkt", Key="k", VersionId=two)
same(get(), b"one")
same(fails(s3.get_object, Bucket="bkt", Key="k", VersionId=two), ["NoSuchVersion", 404])

# Suspended: `null` is replaced, the others stay.
enable("Suspended")
same(s3.put_object(Bucket="bkt", Key="k", Body=b"new null")["VersionId"], "null")
same([entry[1] for entry in entries()], ["null", one])
same(s3.delete_object(Bucket="bkt", Key="k")["VersionId"], "null")
same(entries(), [["k", "null", True], ("k", one, False)])
same(get(VersionId=one), b"one")
enable()

# Tags belong to a version.
def tags(**arguments):
    answer = s3.get_object_tagging(Bucket="bkt", Key="t", **arguments)
    return {tag["Key"]: tag["Value"] for tag in answer["TagSet"]}

first = s3.put_object(Bucket="bkt", Key="t", Tagging="a=1&b%20c=d+e")["VersionId"]
same([tags(), s3.get_object(Bucket="bkt", Key="t")["TagCount"]], [{"a": "1", "b c": "d e"}, 2])
s3.put_object(Bucket="bkt", Key="t")
same(tags(), {})
s3.put_object_tagging(Bucket="bkt", Key="t", Tagging={"TagSet": [{"Key": "x", "Value": "y"}]})
same([tags(), tags(VersionId=first)], [{"x": "y"}, {"a": "1", "b c": "d e"}])
s3.copy_object(Bucket="bkt", Key="t", CopySource={"Bucket": "bkt", "Key": "t", "VersionId": first})
same(tags(), {"a": "1", "b c": "d e"})
s3.delete_object_tagging(Bucket="bkt", Key="t", VersionId=first)
same([tags(), tags(VersionId=first)], [{"a": "1", "b c": "d e"}, {}])
double = {"TagSet": [{"Key": "x", "Value": "y"}] * 2}
same(fails(s3.put_object_tagging, Bucket="bkt", Key="t", Tagging=double), ["InvalidTag", 400])
same(fails(s3.get_bucket_tagging, Bucket="bkt"), ["NoSuchTagSet", 404])
s3.put_bucket_tagging(Bucket="bkt", Tagging={"TagSet": [{"Key": "x", "Value": "y"}]})
same(s3.get_bucket_tagging(Bucket="bkt")["TagSet"], [{"Key": "x", "Value": "y"}])
s3.delete_bucket_tagging(Bucket="bkt")
same(fails(s3.get_bucket_tagging, Bucket="bkt"), ["NoSuchTagSet", 404])

# Several versions at once.
versions = [{"Key": entry[0], "VersionId": entry[1]} for entry in entries()]
answer = s3.delete_objects(Bucket="bkt", Delete={"Objects": versions})
same(len(answer["Deleted"]), len(versions))
same(entries(), [])
s3.delete_bucket(Bucket="bkt")
show("done")
