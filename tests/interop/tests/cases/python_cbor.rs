//! Python's `cbor2` over `urllib`.

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, Serving};

const CALL: &str = r#"
import cbor2

def send(operation, body, **headers):
    headers = {"smithy-protocol": "rpc-v2-cbor", "Content-Type": "application/cbor",
               "Accept": "application/cbor", **headers}
    request = urllib.request.Request(
        url + "/service/Weather/operation/" + operation, body, headers, method="POST")
    try:
        answer = urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        answer = error
    data = answer.read()
    assert answer.headers["smithy-protocol"] == "rpc-v2-cbor", answer.headers
    assert not data or answer.headers["content-type"] == "application/cbor"
    return answer.status, cbor2.loads(data) if data else None

def call(operation, **members):
    return send(operation, cbor2.dumps(members))
"#;

fn python(case: &Case, script: &str) -> Option<Value> {
    let python = case.python(&["cbor2"])?;
    let serving = Serving::start(&[]);
    Some(python.run(serving.url(), &format!("{CALL}\n{script}")))
}

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

#[test]
fn python_cbor2_get_city() {
    let case = Case::begin("python_cbor2_get_city");
    let Some(answer) = python(&case, "show(call('GetCity', cityId='oslo'))") else {
        return;
    };
    assert_eq!(answer[0].as_i64(), Some(200));
    assert_eq!(answer[1]["name"].as_str(), Some("Oslo"));
    assert_eq!(answer[1]["population"].as_i64(), Some(717_710));
    assert_eq!(answer[1]["founded"].as_str(), Some("1048-01-01T00:00:00Z"));
    assert_eq!(answer[1]["localNames"]["ja"].as_str(), Some("オスロ"));
    // A header in REST protocols, and a member here.
    assert_eq!(answer[1]["revision"].as_str(), Some("\"r-17\""));
}

#[test]
fn python_cbor2_types() {
    let case = Case::begin("python_cbor2_types");
    let script = "
city = call('GetCity', cityId='oslo')[1]
image = call('GetStationImage', stationId='oslo-blindern')[1]
year = call('GetStatistics', cityId='oslo', year=2025)[1]
forecast = call('GetForecast', cityId='oslo', days=2)[1]
show([
    type(city['founded']).__name__, type(city['capital']).__name__,
    type(image['image']).__name__, image['image'][:4] == b'\\x89PNG',
    type(year['rainfallLitres']).__name__, str(year['rainfallLitres']),
    type(year['meanTemperature']).__name__, str(year['meanTemperature']),
    year['observations'], year['notes']['authors'],
    forecast['issuedAt'], forecast['temperatures'], forecast['outlook'],
])";
    let Some(types) = python(&case, script) else {
        return;
    };
    assert_eq!(
        types,
        json(
            r#"["datetime","bool","bytes",true,"int","123456789012345678901234567890","Decimal","7.125",4294967296,["Ada","Grace"],"2026-11-01T12:00:00Z",[3.5,4.25,2.0],{"wind":{"speed":7.5,"direction":225,"gusts":true}}]"#
        )
    );
}

#[test]
fn python_cbor2_timestamps_and_blobs() {
    let case = Case::begin("python_cbor2_timestamps_and_blobs");
    let script = "
at = datetime.datetime(2026, 11, 1, 11, 55, tzinfo=datetime.timezone.utc)
data = bytes(range(256)) * 40
answers = []
for token, time in (('a', cbor2.CBORTag(1, 1793534100)), ('b', cbor2.CBORTag(1, 1793534100.0))):
    answers.append(call('PutObservation', stationId='oslo-blindern', clientToken=token,
                        observedAt=time, reading={'raw': data}))
body = cbor2.dumps({'stationId': 'oslo-blindern', 'clientToken': 'c', 'observedAt': at,
                    'reading': {'raw': data}}, datetime_as_timestamp=True)
answers.append(send('PutObservation', body))
show([[status, output['status'], output['reading']['raw'] == data] for status, output in answers])";
    let Some(answers) = python(&case, script) else {
        return;
    };
    // The HTTP status of this protocol is always 200. The member `status` is independent of it.
    assert_eq!(
        answers,
        json("[[200,201,true],[200,201,true],[200,201,true]]")
    );
}

#[test]
fn python_cbor2_indefinite_lengths() {
    let case = Case::begin("python_cbor2_indefinite_lengths");
    let script = r"
body = b'\xbf\x66cityId\x7f\x62os\x62lo\xff\x64days\x02\xff'
assert cbor2.loads(body) == {'cityId': 'oslo', 'days': 2}
show([len(send('GetForecast', body)[1]['days']), send('ListCities', b'\xbf\xff')[0],
      send('GetCurrentTime', b'')[0], send('GetCurrentTime', b'\xa0')[0]])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(answer, json("[2,200,200,200]"));
}

#[test]
fn python_cbor2_errors() {
    let case = Case::begin("python_cbor2_errors");
    let script = r"
def error(answer):
    return [answer[0], answer[1]['__type'], answer[1].get('resourceId')]
show([
    error(call('GetCity', cityId='atlantis')),
    error(call('GetCitty', cityId='oslo')),
    error(call('GetCity')),
    error(call('GetCity', cityId=5)),
    error(send('GetCity', b'\xa1\x66cityId')),
    error(send('GetCity', b'{}', **{'Content-Type': 'application/json'})),
    error(send('GetCity', cbor2.dumps({'cityId': 'oslo'}), Accept='application/json')),
])";
    let Some(errors) = python(&case, script) else {
        return;
    };
    assert_eq!(
        errors,
        json(
            r#"[[404,"example.weather#NoSuchResource","atlantis"],
                [404,"smithy.framework#UnknownOperationException",null],
                [400,"smithy.framework#ValidationException",null],
                [400,"smithy.framework#SerializationException",null],
                [400,"smithy.framework#SerializationException",null],
                [415,"smithy.framework#UnsupportedMediaTypeException",null],
                [406,"smithy.framework#NotAcceptableException",null]]"#
        )
    );
}

#[test]
fn python_cbor2_nested_input() {
    let case = Case::begin("python_cbor2_nested_input");
    let script = "
at = cbor2.CBORTag(1, 1793527200)
answer = call('ReportStorm', name='Ylva', severity=2, clientToken='t', affectedCities=['oslo'],
              attachment=b'x' * 100000,
              track=[{'at': at, 'position': {'latitude': 58.0, 'longitude': 7}, 'pressure': 968.5}])
invalid = call('ReportStorm', name='Ylva', severity=2, track=[])
show([answer[0], answer[1]['stormId'], answer[1]['acceptedAt'], invalid[0], invalid[1]['problems']])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(
        answer,
        json(
            r#"[200,"storm-2026-1","2026-11-01T12:00:00Z",400,{"track":"at least one point is needed"}]"#
        )
    );
}

#[test]
fn python_cbor2_delete() {
    let case = Case::begin("python_cbor2_delete");
    let script = "
show([call('DeleteCity', cityId='quito'), call('GetCity', cityId='quito')[0]])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    // Unit output: no body.
    assert_eq!(answer, json("[[200,null],404]"));
}
