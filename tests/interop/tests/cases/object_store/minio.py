import io
from minio import Minio
from minio.deleteobjects import DeleteObject
from minio.error import S3Error

store = Minio(url.removeprefix("http://"), access_key="x", secret_key="x", secure=False,
              region="us-east-1")


def same(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def put(key, data):
    return store.put_object("bkt", key, io.BytesIO(data), len(data), part_size=5 << 20)


def names(**arguments):
    return [each.object_name for each in store.list_objects("bkt", **arguments)]


def fails(call, *arguments, **more):
    try:
        call(*arguments, **more)
    except S3Error as error:
        return error.code
    return "it did not fail"


store.make_bucket("bkt")
same([store.bucket_exists("bkt"), store.bucket_exists("none")], [True, False])
# More than the 1000 keys of a page.
keys = sorted([f"many/{number:04}" for number in range(1010)] + ["a/1", "a/2", "d e+f%g"])
for key in keys:
    put(key, key.encode())
for v1 in (True, False):
    same(names(recursive=True, use_api_v1=v1), keys)
    same(sorted(names(use_api_v1=v1)), ["a/", "d e+f%g", "many/"])
    same(names(prefix="a/", use_api_v1=v1), ["a/1", "a/2"])
    same(names(start_after="a/1", prefix="a/", use_api_v1=v1), ["a/2"])
same(store.get_object("bkt", "a/1").read(), b"a/1")
same(store.get_object("bkt", "a/1", offset=1, length=2).read(), b"/1")
put("parts", bytes(6 << 20))
same(store.stat_object("bkt", "parts").size, 6 << 20)
# What the store does not have is said to be that.
same(fails(store.get_bucket_versioning, "bkt"), "NotImplemented")
same(fails(store.get_bucket_tags, "bkt"), "NotImplemented")
same(fails(lambda: names(include_version=True)), "NotImplemented")
same(fails(store.delete_bucket_policy, "bkt"), "NotImplemented")
same(list(store.remove_objects("bkt", [DeleteObject(name) for name in names(recursive=True)])), [])
store.remove_bucket("bkt")
show("done")
