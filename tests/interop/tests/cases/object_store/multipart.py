s3.create_bucket(Bucket="bkt")
MIB = 1 << 20
one, two, three = b"1" * (5 * MIB), os.urandom(5 * MIB), b"the rest"
begun = s3.create_multipart_upload(Bucket="bkt", Key="k <1>", ContentType="a/b",
                                   Metadata={"m": "n"})
same([begun["Bucket"], begun["Key"]], ["bkt", "k <1>"])
place = dict(Bucket="bkt", Key="k <1>", UploadId=begun["UploadId"])
same(s3.list_parts(**place).get("Parts"), None)
tags = {}
for number, data in [(2, one), (1, one), (9, three), (2, two)]:
    sum = base64.b64encode(hashlib.md5(data).digest()).decode()
    part = s3.upload_part(**place, PartNumber=number, Body=data, ContentMD5=sum)
    tags[number] = part["ETag"]
    same(part["ETag"], tag(data))
same(fails(s3.upload_part, **place, PartNumber=0), ["InvalidArgument", 400])
same(fails(s3.upload_part, **{**place, "UploadId": "none"}, PartNumber=1), ["NoSuchUpload", 404])

listed = s3.list_parts(**place)
same([[p["PartNumber"], p["Size"], p["ETag"]] for p in listed["Parts"]],
     [[1, 5 * MIB, tags[1]], [2, 5 * MIB, tags[2]], [9, 8, tags[9]]])
same([listed["Key"], listed["UploadId"], listed["IsTruncated"]],
     ["k <1>", begun["UploadId"], False])
pages = s3.get_paginator("list_parts").paginate(**place, PaginationConfig={"PageSize": 2})
same([[p["PartNumber"] for p in page["Parts"]] for page in pages], [[1, 2], [9]])

def complete(*parts, **more):
    parts = [{"PartNumber": number, "ETag": tags} for number, tags in parts]
    return dict(place, MultipartUpload={"Parts": parts}, **more)

finish = s3.complete_multipart_upload
same(fails(finish, **complete((1, tags[1]), (2, '"x"'))), ["InvalidPart", 400])
same(fails(finish, **complete((1, tags[1]), (3, tags[1]))), ["InvalidPart", 400])
same(fails(finish, **complete((2, tags[2]), (1, tags[1]))), ["InvalidPartOrder", 400])
same(fails(finish, **complete((1, tags[1]), (1, tags[1]))), ["InvalidPartOrder", 400])
same(fails(finish, **complete()), ["MalformedXML", 400])
small = s3.upload_part(**place, PartNumber=3, Body=b"small")["ETag"]
same(fails(finish, **complete((3, small), (9, tags[9]))), ["EntityTooSmall", 400])
same(fails(s3.head_object, Bucket="bkt", Key="k <1>"), ["404", 404])

done = finish(**complete(*[(number, tags[number]) for number in (1, 2, 9)]))
sums = b"".join(hashlib.md5(data).digest() for data in (one, two, three))
same(done["ETag"], f'"{hashlib.md5(sums).hexdigest()}-3"')
same([done["Bucket"], done["Key"]], ["bkt", "k <1>"])
got = s3.get_object(Bucket="bkt", Key="k <1>")
same(got["Body"].read() == one + two + three, True)
same([got["ETag"], got["ContentType"], got["Metadata"]], [done["ETag"], "a/b", {"m": "n"}])
same(fails(finish, **complete((1, tags[1]))), ["NoSuchUpload", 404])

# Uploads that are not done.
ids = [s3.create_multipart_upload(Bucket="bkt", Key=key)["UploadId"]
       for key in ("x/1", "x/2", "y", "y", "z \u00e9")]
listed = s3.list_multipart_uploads(Bucket="bkt")["Uploads"]
same([upload["Key"] for upload in listed], ["x/1", "x/2", "y", "y", "z \u00e9"])
same({upload["UploadId"] for upload in listed}, set(ids))
for size in (1, 2, 3):
    pages = s3.get_paginator("list_multipart_uploads").paginate(
        Bucket="bkt", PaginationConfig={"PageSize": size})
    same([upload for page in pages for upload in page["Uploads"]], listed)
page = s3.list_multipart_uploads(Bucket="bkt", Delimiter="/")
same([prefixes(page), [u["Key"] for u in page["Uploads"]]], [["x/"], ["y", "y", "z \u00e9"]])
page = s3.list_multipart_uploads(Bucket="bkt", Prefix="x/")
same([u["Key"] for u in page["Uploads"]], ["x/1", "x/2"])
for upload in listed:
    s3.abort_multipart_upload(Bucket="bkt", Key=upload["Key"], UploadId=upload["UploadId"])
same(fails(s3.abort_multipart_upload, Bucket="bkt", Key="y", UploadId=ids[2]),
     ["NoSuchUpload", 404])
same(s3.list_multipart_uploads(Bucket="bkt").get("Uploads"), None)
show("done")
