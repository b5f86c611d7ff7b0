same(s3.list_buckets()["Buckets"], [])
same(s3.create_bucket(Bucket="one")["Location"], "/one")
s3.create_bucket(Bucket="two", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
same(fails(s3.create_bucket, Bucket="one"), ["BucketAlreadyOwnedByYou", 409])
try:
    s3.create_bucket(Bucket="one")
except s3.exceptions.BucketAlreadyOwnedByYou:
    pass
same(fails(s3.create_bucket, Bucket="Not-A-Name"), ["InvalidBucketName", 400])

listed = s3.list_buckets()
same([bucket["Name"] for bucket in listed["Buckets"]], ["one", "two"])
age = datetime.datetime.now(datetime.timezone.utc) - listed["Buckets"][0]["CreationDate"]
assert datetime.timedelta(-1) < age < datetime.timedelta(1), age
assert listed["Owner"]["ID"]
pages = s3.get_paginator("list_buckets").paginate(PaginationConfig={"PageSize": 1})
same([[bucket["Name"] for bucket in page["Buckets"]] for page in pages], [["one"], ["two"]])
same([bucket["Name"] for bucket in s3.list_buckets(Prefix="tw")["Buckets"]], ["two"])

head = s3.head_bucket(Bucket="two")
same(head["BucketRegion"], "eu-west-1")
assert head["ResponseMetadata"]["RequestId"]
same(fails(s3.head_bucket, Bucket="three"), ["404", 404])
same(s3.get_bucket_location(Bucket="one")["LocationConstraint"], None)
same(s3.get_bucket_location(Bucket="two")["LocationConstraint"], "eu-west-1")
same(fails(s3.get_bucket_location, Bucket="three"), ["NoSuchBucket", 404])
s3.get_waiter("bucket_exists").wait(Bucket="one")

s3.put_object(Bucket="one", Key="k", Body=b"x")
same(fails(s3.delete_bucket, Bucket="one"), ["BucketNotEmpty", 409])
s3.delete_object(Bucket="one", Key="k")
same(s3.delete_bucket(Bucket="one")["ResponseMetadata"]["HTTPStatusCode"], 204)
same(fails(s3.delete_bucket, Bucket="one"), ["NoSuchBucket", 404])
s3.get_waiter("bucket_not_exists").wait(Bucket="one")
# Operations that are not there change nothing.
same(fails(s3.put_bucket_cors, Bucket="two", CORSConfiguration={"CORSRules": [
    {"AllowedMethods": ["GET"], "AllowedOrigins": ["*"]}]}), ["NotImplemented", 501])
same(fails(s3.get_bucket_policy, Bucket="two"), ["NotImplemented", 501])
acl = s3.get_bucket_acl(Bucket="two")
same([grant["Permission"] for grant in acl["Grants"]], ["FULL_CONTROL"])
same(acl["Grants"][0]["Grantee"]["ID"], acl["Owner"]["ID"])
show("done")
