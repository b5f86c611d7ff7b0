import os, subprocess

for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(AWS_DATA_PATH=folder, AWS_CONFIG_FILE="/dev/null",
                  AWS_SHARED_CREDENTIALS_FILE="/dev/null", AWS_EC2_METADATA_DISABLED="true")
content = {
    "text": "tea & <milk> ü", "flag": True, "big": 9223372036854775807, "double": 0.1 + 0.2,
    "blob": "tea", "moment": "2026-11-22T10:30:59Z", "words": ["one", "two"],
    "parts": [{"id": "p1", "size": -9007199254740993}], "pairs": {"a": "b"},
    "partsByName": {"left": {"words": ["x"]}}, "choice": {"number": 5},
    "inner": {"inner": {"text": "innermost"}},
}
if not maps:
    del content["pairs"], content["partsByName"]


def aws(*arguments):
    command = [sys.executable, "-m", "awscli", "echo", *arguments, "--endpoint-url", url,
               "--region", "us-east-1", "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return [done.returncode, json.loads(done.stdout) if done.stdout else done.stderr.strip()]


show([
    aws("say", "--name", "a/b c", "--path", "x/y z", "--count", "9007199254740993",
        "--tags", "one", "two", "--content", json.dumps(content)),
    aws("refuse", "--reason", "tea"),
    aws("lines", "--page-size", "2", "--query", "lines"),
])
