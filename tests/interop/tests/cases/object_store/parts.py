from boto3.s3.transfer import TransferConfig

s3.create_bucket(Bucket="bkt")
MIB = 1 << 20
data = os.urandom(12 * MIB + 7)
# Four parts at a time, in both directions.
config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB,
                        max_concurrency=4, use_threads=True)
s3.upload_fileobj(io.BytesIO(data), "bkt", "source", Config=config)
back = io.BytesIO()
s3.download_fileobj("bkt", "source", back, Config=config)
same(back.getvalue() == data, True)

# Parts of an object, ranges across its parts.
head = s3.head_object(Bucket="bkt", Key="source", PartNumber=2)
same([head["PartsCount"], head["ContentLength"]], [3, 5 * MIB])
got = s3.get_object(Bucket="bkt", Key="source", PartNumber=3)
same(got["ContentRange"], f"bytes {10 * MIB}-{len(data) - 1}/{len(data)}")
same(got["Body"].read() == data[10 * MIB:], True)
same(fails(s3.get_object, Bucket="bkt", Key="source", PartNumber=4), ["InvalidPartNumber", 416])
same(fails(s3.get_object, Bucket="bkt", Key="source", PartNumber=1, Range="bytes=0-1"),
     ["InvalidRequest", 400])
edge = 5 * MIB
same(read("bkt", "source", Range=f"bytes={edge - 3}-{edge + 3}"), data[edge - 3:edge + 4])
same(read("bkt", "source", Range="bytes=3-") == data[3:], True)
answer = s3.get_object_attributes(Bucket="bkt", Key="source", ObjectAttributes=[
    "ETag", "ObjectParts", "ObjectSize", "StorageClass"])
same([answer["ETag"], answer["ObjectSize"], answer["ObjectParts"]["TotalPartsCount"]],
     [got["ETag"].strip('"'), len(data), 3])

# Copies of ranges as parts.
s3.put_object(Bucket="bkt", Key="small", Body=b"0123456789")
begun = s3.create_multipart_upload(Bucket="bkt", Key="k")
place = dict(Bucket="bkt", Key="k", UploadId=begun["UploadId"])

def copy(number, source, bounds=None, **more):
    if bounds:
        more["CopySourceRange"] = "bytes=%d-%d" % bounds
    result = s3.upload_part_copy(**place, PartNumber=number,
                                 CopySource={"Bucket": "bkt", "Key": source}, **more)
    return {"PartNumber": number, "ETag": result["CopyPartResult"]["ETag"]}

first, second = (1, 6 * MIB), (MIB, 11 * MIB)
parts = [copy(1, "source", first), copy(2, "source", second), copy(3, "small", (2, 4))]
wanted = [data[1:6 * MIB + 1], data[MIB:11 * MIB + 1], b"234"]
same([part["ETag"] for part in parts], [tag(piece) for piece in wanted])
same(fails(copy, number=4, source="small", bounds=(2, 10)), ["InvalidRange", 416])
same(fails(copy, number=4, source="none"), ["NoSuchKey", 404])
same(fails(copy, number=4, source="small", CopySourceIfMatch='"x"'), ["PreconditionFailed", 412])
# The bytes stay when their source is gone.
s3.delete_object(Bucket="bkt", Key="source")
done = s3.complete_multipart_upload(**place, MultipartUpload={"Parts": parts})
same(done["ETag"].endswith('-3"'), True)
same(read("bkt", "k") == b"".join(wanted), True)
s3.copy_object(Bucket="bkt", Key="copy", CopySource="bkt/k")
s3.delete_object(Bucket="bkt", Key="k")
same(read("bkt", "copy") == b"".join(wanted), True)

# Conditions when an upload is completed.
begun = s3.create_multipart_upload(Bucket="bkt", Key="copy")
place = dict(Bucket="bkt", Key="copy", UploadId=begun["UploadId"])
part = s3.upload_part(**place, PartNumber=1, Body=b"")
parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
finish = s3.complete_multipart_upload
same(fails(finish, **place, MultipartUpload=parts, IfNoneMatch="*"), ["PreconditionFailed", 412])
finish(**place, MultipartUpload=parts, IfMatch=done["ETag"])
same(read("bkt", "copy"), b"")

# Checksums that the client sent come back.
sum = base64.b64encode(hashlib.sha256(b"x").digest()).decode()
s3.put_object(Bucket="bkt", Key="sum", Body=b"x", ChecksumSHA256=sum)
head = s3.head_object(Bucket="bkt", Key="sum", ChecksumMode="ENABLED")
same([head["ChecksumSHA256"], head["ChecksumType"]], [sum, "FULL_OBJECT"])
assert "ChecksumSHA256" not in s3.head_object(Bucket="bkt", Key="sum")
checksum = s3.get_object_attributes(Bucket="bkt", Key="sum", ObjectAttributes=["Checksum"])
same(checksum["Checksum"]["ChecksumSHA256"], sum)
show("done")
