import io
from minio import Minio
from minio.commonconfig import ENABLED, ComposeSource, Tags
from minio.deleteobjects import DeleteObject
from minio.error import S3Error
from minio.versioningconfig import VersioningConfig

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
# Versions and tags.
same(store.get_bucket_tags("bkt"), None)
tags = Tags.new_bucket_tags()
tags["a b"] = "c"
store.set_bucket_tags("bkt", tags)
same(dict(store.get_bucket_tags("bkt")), {"a b": "c"})
assert store.get_bucket_versioning("bkt").status in (None, "Off")
store.set_bucket_versioning("bkt", VersioningConfig(ENABLED))
same(store.get_bucket_versioning("bkt").status, "Enabled")
put("a/1", b"new")
versions = [each for each in store.list_objects("bkt", prefix="a/1", include_version=True)]
same([each.is_latest for each in versions], ["true", "false"])
old = versions[1].version_id
same(store.get_object("bkt", "a/1", version_id=old).read(), b"a/1")
# A part that is copied from a range of an object.
store.compose_object("bkt", "composed", [
    ComposeSource("bkt", "parts", offset=1, length=5 << 20), ComposeSource("bkt", "a/1")])
same(store.stat_object("bkt", "composed").size, (5 << 20) + 3)
# What the store does not have is said to be that.
same(fails(store.get_bucket_replication, "bkt"), "NotImplemented")
same(fails(store.delete_bucket_policy, "bkt"), "NotImplemented")
versions = store.list_objects("bkt", recursive=True, include_version=True)
gone = [DeleteObject(each.object_name, each.version_id) for each in versions]
same(list(store.remove_objects("bkt", gone)), [])
store.remove_bucket("bkt")
show("done")
