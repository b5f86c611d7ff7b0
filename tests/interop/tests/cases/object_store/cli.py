def aws(*arguments, code=0):
    done = subprocess.run([sys.executable, "-m", "awscli", "--endpoint-url", url, *arguments],
                          capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: {done.returncode} {done.stderr}"
    return done.stdout if code == 0 else done.stderr

with tempfile.TemporaryDirectory() as folder:
    def path(*names):
        return os.path.join(folder, *names)

    def write(name, data):
        os.makedirs(os.path.dirname(path("from", name)), exist_ok=True)
        with open(path("from", name), "wb") as file:
            file.write(data)
        return data

    big = write("big", os.urandom(9 << 20))
    write("sub/a b+c%d \u00e9.txt", b"small")
    write("sub/deeper/e", b"")
    aws("s3", "mb", "s3://bkt")
    assert aws("s3", "ls").endswith(" bkt\n")
    aws("s3", "cp", path("from", "big"), "s3://bkt/copied")
    same(s3.head_object(Bucket="bkt", Key="copied")["ContentLength"], len(big))
    aws("s3", "cp", "s3://bkt/copied", path("back"))
    with open(path("back"), "rb") as file:
        same(file.read() == big, True)
    aws("s3", "cp", path("from", "sub/deeper/e"), "s3://bkt/e", "--content-type", "a/b",
        "--metadata", "m=n")
    head = s3.head_object(Bucket="bkt", Key="e")
    same([head["ContentType"], head["Metadata"]], ["a/b", {"m": "n"}])
    aws("s3", "cp", "s3://bkt/e", "s3://bkt/f")
    aws("s3", "mv", "s3://bkt/f", "s3://bkt/g")
    same(keys(s3.list_objects_v2(Bucket="bkt")), ["copied", "e", "g"])
    assert "(404)" in aws("s3", "cp", "s3://bkt/none", path("none"), code=1)

    said = aws("s3", "sync", path("from"), "s3://bkt/tree")
    same(said.count("upload:"), 3)
    same(aws("s3", "sync", path("from"), "s3://bkt/tree").count("upload:"), 0)
    listed = [line.split()[-1] for line in aws("s3", "ls", "s3://bkt/tree/").splitlines()]
    same(listed, ["sub/", "big"])
    listed = aws("s3", "ls", "--recursive", "s3://bkt/tree/sub")
    assert "tree/sub/a b+c%d \u00e9.txt" in listed and "tree/sub/deeper/e" in listed, listed
    aws("s3", "sync", "s3://bkt/tree", path("to"))
    with open(path("to", "sub", "a b+c%d \u00e9.txt"), "rb") as file:
        same(file.read(), b"small")
    os.remove(path("from", "big"))
    aws("s3", "sync", "--delete", path("from"), "s3://bkt/tree")
    same(len(keys(s3.list_objects_v2(Bucket="bkt", Prefix="tree/"))), 2)
    aws("s3", "rm", "s3://bkt/e")
    aws("s3", "rm", "--recursive", "s3://bkt/tree")
    same(keys(s3.list_objects_v2(Bucket="bkt")), ["copied", "g"])
    answer = json.loads(aws("s3api", "list-objects-v2", "--bucket", "bkt", "--output", "json",
                            "--query", "Contents[].Key"))
    same(answer, ["copied", "g"])
    assert "BucketNotEmpty" in aws("s3", "rb", "s3://bkt", code=1)
    aws("s3", "rb", "--force", "s3://bkt")
    same(s3.list_buckets()["Buckets"], [])
show("done")
