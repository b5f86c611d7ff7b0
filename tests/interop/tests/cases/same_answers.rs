//! The same operations give the same answers over every protocol and with every client.

use polywire::codec::json;
use polywire::schema::{Map, Value};
use polywire_interop::{Case, Serving, Weather, run};

/// An operation, its input, its path over REST, and the members of its output that REST has in
/// headers.
struct Asked {
    operation: &'static str,
    input: &'static str,
    target: &'static str,
    headers: &'static [(&'static str, &'static str)],
}

/// Operations that always give the same answer.
const ASKED: [Asked; 9] = [
    Asked {
        operation: "GetCity",
        input: r#"{"cityId":"oslo"}"#,
        target: "/cities/oslo",
        headers: &[("etag", "revision")],
    },
    Asked {
        operation: "GetCity",
        input: r#"{"cityId":"kyoto"}"#,
        target: "/cities/kyoto",
        headers: &[("etag", "revision")],
    },
    Asked {
        operation: "ListCities",
        input: "{}",
        target: "/cities",
        headers: &[],
    },
    Asked {
        operation: "ListCities",
        input: r#"{"pageSize":2,"nextToken":"oslo"}"#,
        target: "/cities?pageSize=2&nextToken=oslo",
        headers: &[],
    },
    Asked {
        operation: "GetForecast",
        input: r#"{"cityId":"oslo","days":14,"units":"imperial"}"#,
        target: "/cities/oslo/forecast?days=14&units=imperial",
        headers: &[("expires", "expiresAt")],
    },
    Asked {
        operation: "SearchStations",
        input: r#"{"text":"o","kinds":["manned","ship"]}"#,
        target: "/stations?text=o&kind=manned&kind=ship",
        headers: &[],
    },
    Asked {
        operation: "DescribeRegion",
        input: r#"{"path":"europe/norway"}"#,
        target: "/regions/europe/norway",
        headers: &[],
    },
    Asked {
        operation: "GetStatistics",
        input: r#"{"cityId":"oslo","year":2025}"#,
        target: "/cities/oslo/statistics/2025",
        headers: &[],
    },
    Asked {
        operation: "GetStatistics",
        input: r#"{"cityId":"kyoto","year":2024}"#,
        target: "/cities/kyoto/statistics/2024",
        headers: &[],
    },
];

/// Returns the answer of `polywire call` over a protocol.
fn by_polywire(weather: &Weather, serving: &Serving, asked: &Asked, protocol: &str) -> String {
    let arguments = [
        "call",
        serving.url(),
        asked.operation,
        asked.input,
        "-p",
        protocol,
    ];
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(0), "{protocol}: {}", ended.stderr);
    let value = json::read_value(&ended.stdout).unwrap();
    weather.output(asked.operation, &value)
}

#[test]
fn polywire_call_same_answers_on_every_wire() {
    let _case = Case::begin("polywire_call_same_answers_on_every_wire");
    let weather = Weather::load();
    let serving = Serving::start(&[]);
    for asked in &ASKED {
        let [rest, cbor, xml] = ["restJson1", "rpcv2Cbor", "xmlRpc"]
            .map(|protocol| by_polywire(&weather, &serving, asked, protocol));
        assert_eq!(rest, cbor, "{}", asked.operation);
        assert_eq!(rest, xml, "{}", asked.operation);
    }
}

#[test]
fn curl_same_answers_as_polywire_call() {
    let case = Case::begin("curl_same_answers_as_polywire_call");
    let Some(curl) = case.curl() else { return };
    let weather = Weather::load();
    let serving = Serving::start(&[]);
    for asked in &ASKED {
        let answer = curl.get(&format!("{}{}", serving.url(), asked.target), &[]);
        let Value::Map(mut output) = answer.json() else {
            panic!("{}", answer.text());
        };
        for (header, member) in asked.headers {
            output.insert(*member, answer.header(header).unwrap());
        }
        let own = weather.output(asked.operation, &Value::Map(output));
        assert_eq!(own, by_polywire(&weather, &serving, asked, "restJson1"));
    }
}

#[test]
fn python_cbor2_same_answers_as_polywire_call() {
    let case = Case::begin("python_cbor2_same_answers_as_polywire_call");
    let Some(python) = case.python(&["cbor2"]) else {
        return;
    };
    let script = r#"
import cbor2
def call(operation, members):
    headers = {"smithy-protocol": "rpc-v2-cbor", "Content-Type": "application/cbor"}
    path = "/service/Weather/operation/" + operation
    request = urllib.request.Request(url + path, cbor2.dumps(members), headers)
    return cbor2.loads(urllib.request.urlopen(request).read())
"#;
    compare(&python, script);
}

#[test]
fn python_xmlrpc_client_same_answers_as_polywire_call() {
    let case = Case::begin("python_xmlrpc_client_same_answers_as_polywire_call");
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let script = r#"
weather = xmlrpc.client.ServerProxy(url + "/RPC2", use_builtin_types=True)
def call(operation, members):
    if operation == "GetForecast":
        return weather.weather.forecast(*members.values())
    output = getattr(weather, operation)(members)
    # Big numbers are text in XML-RPC, so that nobody rounds them.
    for member, number in (("rainfallLitres", int), ("meanTemperature", float)):
        if member in output:
            output[member] = number(output[member])
    return output
"#;
    compare(&python, script);
}

/// Calls all operations with a script that defines `call`.
fn compare(python: &polywire_interop::Python, script: &str) {
    let weather = Weather::load();
    let serving = Serving::start(&[]);
    let all: Vec<String> = ASKED
        .iter()
        .map(|asked| format!("call({:?}, json.loads({:?}))", asked.operation, asked.input))
        .collect();
    let script = format!("{script}\nshow([{}])", all.join(", "));
    let answers = python.run(serving.url(), &script);
    for (index, asked) in ASKED.iter().enumerate() {
        let own = weather.output(asked.operation, &answers[index]);
        assert_eq!(own, by_polywire(&weather, &serving, asked, "restJson1"));
    }
}

/// A change over one protocol is visible over the other protocols.
#[test]
fn polywire_call_one_state_behind_all_wires() {
    let _case = Case::begin("polywire_call_one_state_behind_all_wires");
    let serving = Serving::start(&[]);
    let mut ids = Vec::new();
    for (protocol, status) in [("rpcv2Cbor", 201), ("xmlRpc", 200), ("restJson1", 200)] {
        let input = r#"{"stationId":"oslo-blindern","clientToken":"once","observedAt":"2026-11-01T11:50:00Z","reading":{"wind":{"speed":12.5,"direction":270}}}"#;
        let ended = run(&[
            "call",
            serving.url(),
            "PutObservation",
            input,
            "-p",
            protocol,
        ]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let output = json::read_value(&ended.stdout).unwrap();
        assert_eq!(output["status"].as_i64(), Some(status), "{protocol}");
        ids.push(output["observationId"].clone());
        let wind = Map::from_iter([("speed", Value::from(12.5)), ("direction", 270.into())]);
        assert_eq!(output["reading"]["wind"], Value::Map(wind), "{protocol}");
    }
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
}
