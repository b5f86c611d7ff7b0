$version: "2"
namespace example

@trait
structure times {
    any: Timestamp
    text: DateTime
    seconds: Seconds
    date: HttpDate

    @timestampFormat("http-date")
    member: DateTime
}

@timestampFormat("date-time")
timestamp DateTime
@timestampFormat("epoch-seconds")
timestamp Seconds
@timestampFormat("http-date")
timestamp HttpDate

@times(any: true, text: 1, seconds: "2026-11-22T00:00:00Z", date: 1, member: "2026-11-22T00:00:00Z")
structure Wrong {}

@times(any: "2026-11-22T00:00:00+01:00", text: "2026-13-22T00:00:00Z", date: "Sun, 32 Nov 2026 00:00:00 GMT")
structure Malformed {}

@times(any: 1.5, text: "2026-11-22T00:00:00.5Z", seconds: 1, date: "Sun, 22 Nov 2026 00:00:00 GMT", member: "Sun, 22 Nov 2026 00:00:00 GMT")
structure Right {}
