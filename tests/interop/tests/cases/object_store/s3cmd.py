import os, subprocess, tempfile

folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "hello.txt")
with open(path, "w") as file:
    file.write("hello")
host = url.removeprefix("http://")


def s3cmd(*arguments, code=0):
    """What it prints, word by word."""
    program = os.path.join(os.path.dirname(sys.executable), "s3cmd")
    done = subprocess.run(
        [sys.executable, program, "--config=/dev/null", "--access_key=x", "--secret_key=x",
         "--no-ssl", f"--host={host}", f"--host-bucket={host}", "--no-progress", *arguments],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f"{arguments}: {done}"
    return (done.stdout + done.stderr).split()


def urls(*arguments):
    return [word for word in s3cmd(*arguments) if word.startswith("s3://")]


def same(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


s3cmd("mb", "s3://bkt")
s3cmd("put", path, "s3://bkt/a/hello.txt")
s3cmd("put", "--acl-public", path, "s3://bkt/b.txt")
same(urls("ls", "s3://bkt"), ["s3://bkt/a/", "s3://bkt/b.txt"])
same(urls("ls", "-r", "s3://bkt"), ["s3://bkt/a/hello.txt", "s3://bkt/b.txt"])
same(urls("ls", "s3://bkt/a/"), ["s3://bkt/a/hello.txt"])
same(s3cmd("du", "s3://bkt")[:2], ["10", "2"])
s3cmd("cp", "s3://bkt/b.txt", "s3://bkt/c.txt")
s3cmd("get", "--force", "s3://bkt/c.txt", path + ".got")
with open(path + ".got") as file:
    same(file.read(), "hello")
# What the store does not have is said to be that.
assert "(NotImplemented):" in s3cmd("setacl", "--acl-public", "s3://bkt/b.txt", code=11)
s3cmd("del", "-r", "--force", "s3://bkt")
same(urls("ls", "s3://bkt"), [])
s3cmd("rb", "s3://bkt")
show("done")
