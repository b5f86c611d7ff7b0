s3.create_bucket(Bucket="bkt")
data = bytes(range(256)) * 5
expires = datetime.datetime(2030, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
put = s3.put_object(
    Bucket="bkt", Key="k", Body=data, ContentType="image/x-test", CacheControl="max-age=5",
    ContentDisposition='attachment; filename="a b"', ContentEncoding="gzip",
    ContentLanguage="nb", Expires=expires, Metadata={"One": "1", "two-words": "b c"})
same(put["ETag"], tag(data))

def check(answer):
    same(answer["ETag"], tag(data))
    same(answer["ContentLength"], len(data))
    same([answer["ContentType"], answer["CacheControl"], answer["ContentDisposition"]],
         ["image/x-test", "max-age=5", 'attachment; filename="a b"'])
    same([answer["ContentEncoding"], answer["ContentLanguage"]], ["gzip", "nb"])
    same(answer["Expires"], expires)
    same(answer["Metadata"], {"one": "1", "two-words": "b c"})
    same(answer["AcceptRanges"], "bytes")

got = s3.get_object(Bucket="bkt", Key="k")
check(got)
same(got["Body"].read(), data)
head = s3.head_object(Bucket="bkt", Key="k")
check(head)
same(head["LastModified"], got["LastModified"])

# Ids: each call its own, said once.
def told(answer):
    answer = answer["ResponseMetadata"]
    headers = answer["HTTPHeaders"]
    same(headers["x-amz-request-id"], answer["RequestId"])
    same(headers["x-amzn-requestid"], answer["RequestId"])
    same(len(answer["RequestId"]), 36)
    return answer["RequestId"]

def told_by_error(call, **arguments):
    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        return told(error.response)
    raise AssertionError("the call did not fail")

ids = [told(put), told(got), told(head), told_by_error(s3.get_object, Bucket="bkt", Key="none"),
       told_by_error(s3.head_object, Bucket="bkt", Key="none")]
same(len(set(ids)), 5)

# Ranges.
part = s3.get_object(Bucket="bkt", Key="k", Range="bytes=10-19")
same(part["Body"].read(), data[10:20])
same([part["ContentRange"], part["ResponseMetadata"]["HTTPStatusCode"]],
     [f"bytes 10-19/{len(data)}", 206])
same(read("bkt", "k", Range="bytes=-7"), data[-7:])
same(read("bkt", "k", Range="bytes=1270-"), data[1270:])
same(fails(s3.get_object, Bucket="bkt", Key="k", Range="bytes=9999-"), ["InvalidRange", 416])
same(s3.head_object(Bucket="bkt", Key="k", Range="bytes=0-4")["ContentLength"], 5)
same(s3.get_object(Bucket="bkt", Key="k", ResponseContentType="a/b")["ContentType"], "a/b")

# Conditions.
earlier = got["LastModified"] - datetime.timedelta(hours=1)
later = got["LastModified"] + datetime.timedelta(hours=1)
for call in (s3.get_object, s3.head_object):
    failed = ["PreconditionFailed", 412] if call == s3.get_object else ["412", 412]
    call(Bucket="bkt", Key="k", IfMatch=tag(data))
    call(Bucket="bkt", Key="k", IfNoneMatch='"other"')
    call(Bucket="bkt", Key="k", IfModifiedSince=earlier)
    call(Bucket="bkt", Key="k", IfUnmodifiedSince=later)
    same(fails(call, Bucket="bkt", Key="k", IfMatch='"other"'), failed)
    same(fails(call, Bucket="bkt", Key="k", IfUnmodifiedSince=earlier), failed)
    same(fails(call, Bucket="bkt", Key="k", IfNoneMatch=tag(data)), ["304", 304])
    same(fails(call, Bucket="bkt", Key="k", IfModifiedSince=later), ["304", 304])
same(fails(s3.put_object, Bucket="bkt", Key="k", IfNoneMatch="*"), ["PreconditionFailed", 412])
same(fails(s3.put_object, Bucket="bkt", Key="k", IfMatch='"x"'), ["PreconditionFailed", 412])
same(fails(s3.put_object, Bucket="bkt", Key="new", IfMatch='"x"'), ["NoSuchKey", 404])
s3.put_object(Bucket="bkt", Key="new", Body=b"", IfNoneMatch="*")
same(read("bkt", "new"), b"")
sum = base64.b64encode(hashlib.md5(b"x").digest()).decode()
s3.put_object(Bucket="bkt", Key="new", Body=b"x", ContentMD5=sum)
same(fails(s3.put_object, Bucket="bkt", Key="new", Body=b"y", ContentMD5=sum), ["BadDigest", 400])

# What is not there.
same(fails(s3.get_object, Bucket="bkt", Key="none"), ["NoSuchKey", 404])
try:
    s3.get_object(Bucket="bkt", Key="none")
except s3.exceptions.NoSuchKey as error:
    same(error.response["Error"]["Message"], "The specified key does not exist.")
same(fails(s3.get_object, Bucket="none", Key="k"), ["NoSuchBucket", 404])
same(fails(s3.put_object, Bucket="none", Key="k"), ["NoSuchBucket", 404])
same(fails(s3.head_object, Bucket="bkt", Key="none"), ["404", 404])
same(fails(s3.put_object, Bucket="bkt", Key="x" * 1025), ["KeyTooLongError", 400])
same(fails(s3.put_object_acl, Bucket="bkt", Key="k", ACL="private"), ["NotImplemented", 501])

# Copies.
copied = s3.copy_object(Bucket="bkt", Key="c", CopySource={"Bucket": "bkt", "Key": "k"})
same(copied["CopyObjectResult"]["ETag"], tag(data))
check(s3.head_object(Bucket="bkt", Key="c"))
s3.copy_object(Bucket="bkt", Key="c", CopySource="bkt/k", MetadataDirective="REPLACE",
               Metadata={"three": "3"}, ContentType="text/plain")
head = s3.head_object(Bucket="bkt", Key="c")
same([head["Metadata"], head["ContentType"]], [{"three": "3"}, "text/plain"])
assert "CacheControl" not in head
s3.copy_object(Bucket="bkt", Key="c", CopySource="bkt/c", MetadataDirective="REPLACE")
same(s3.head_object(Bucket="bkt", Key="c")["Metadata"], {})
same(fails(s3.copy_object, Bucket="bkt", Key="c", CopySource="bkt/c"), ["InvalidRequest", 400])
same(fails(s3.copy_object, Bucket="bkt", Key="c", CopySource="bkt/none"), ["NoSuchKey", 404])
same(fails(s3.copy_object, Bucket="bkt", Key="c", CopySource="bkt/k", CopySourceIfMatch='"x"'),
     ["PreconditionFailed", 412])

# Deletions.
same(s3.delete_object(Bucket="bkt", Key="c")["ResponseMetadata"]["HTTPStatusCode"], 204)
s3.delete_object(Bucket="bkt", Key="c")
same(fails(s3.delete_object, Bucket="none", Key="c"), ["NoSuchBucket", 404])
unusual = ["<&>\"'", "k", "none"]
s3.put_object(Bucket="bkt", Key=unusual[0], Body=b"x")
deleted = s3.delete_objects(Bucket="bkt", Delete={"Objects": [{"Key": key} for key in unusual]})
same([item["Key"] for item in deleted["Deleted"]], unusual)
answer = s3.delete_objects(Bucket="bkt", Delete={"Quiet": True, "Objects": [
    {"Key": "new", "ETag": '"other"'}]})
same([[e["Key"], e["Code"]] for e in answer["Errors"]], [["new", "PreconditionFailed"]])
answer = s3.delete_objects(Bucket="bkt", Delete={"Quiet": True, "Objects": [{"Key": "new"}]})
assert "Deleted" not in answer and "Errors" not in answer, answer
same(keys(s3.list_objects_v2(Bucket="bkt")), [])
show("done")
