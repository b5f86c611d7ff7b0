s3.create_bucket(Bucket="bkt")
names = ["a b", "a+b", "a%b", "a%20b", "a%2Fb", "a//b", "/a", "//", "a/", "a/../b", "./a", "..",
         "~-._!*'()", "a?b&c=d#e;f", "a:b@c,d$", "[{|}]\\^`", "<&>\"", "\u00e9", "e\u0301",
         "\u30aa\u30b9\u30ed", "\U0001f600", "\u0085", "tab\there", "\x01", "line\nbreak", "\x7f"]
for name in names:
    s3.put_object(Bucket="bkt", Key=name, Body=name.encode())
same(sorted(keys(s3.list_objects_v2(Bucket="bkt"))), sorted(names))
for name in names:
    same(read("bkt", name), name.encode())
    same(s3.head_object(Bucket="bkt", Key=name)["ContentLength"], len(name.encode()))
    s3.copy_object(Bucket="bkt", Key="copy/" + name, CopySource={"Bucket": "bkt", "Key": name})
    same(read("bkt", "copy/" + name), name.encode())
    s3.delete_object(Bucket="bkt", Key=name)
same(sorted(keys(s3.list_objects_v2(Bucket="bkt"))), sorted("copy/" + name for name in names))
# XML cannot hold all of them, even escaped.
writable = [name for name in names if name != "\x01"]
deleted = s3.delete_objects(Bucket="bkt", Delete={
    "Objects": [{"Key": "copy/" + name} for name in writable]})
assert "Errors" not in deleted, deleted
same([item["Key"] for item in deleted["Deleted"]], ["copy/" + name for name in writable])
same(keys(s3.list_objects_v2(Bucket="bkt")), ["copy/\x01"])
show("done")
