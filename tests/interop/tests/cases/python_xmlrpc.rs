//! Python's `xmlrpc.client`.

use polywire::codec::json;
use polywire::schema::Value;
use polywire_interop::{Case, Serving, Weather};

/// Runs a script against the example service; `weather` is a proxy.
fn python(case: &Case, script: &str) -> Option<Value> {
    let python = case.python(&["xmlrpc.client"])?;
    let serving = Serving::start(&[]);
    let script = format!("weather = xmlrpc.client.ServerProxy(url + '/RPC2')\n{script}");
    Some(python.run(serving.url(), &script))
}

fn json(text: &str) -> Value {
    json::read_value(text).unwrap()
}

#[test]
fn python_xmlrpc_client_get_city() {
    let case = Case::begin("python_xmlrpc_client_get_city");
    let Some(city) = python(&case, "show(weather.GetCity({'cityId': 'oslo'}))") else {
        return;
    };
    assert_eq!(city["name"].as_str(), Some("Oslo"));
    assert_eq!(city["founded"].as_str(), Some("1048-01-01T00:00:00Z"));
    assert_eq!(city["localNames"]["ja"].as_str(), Some("オスロ"));
    assert_eq!(city["revision"].as_str(), Some("\"r-17\""));
}

#[test]
fn python_xmlrpc_client_without_input() {
    let case = Case::begin("python_xmlrpc_client_without_input");
    let script = "show([sorted(weather.GetCurrentTime()), sorted(weather.GetCurrentTime({}))])";
    let Some(names) = python(&case, script) else {
        return;
    };
    let expected = r#"["dateTime","epochSeconds","httpDate","lastModified","time"]"#;
    assert_eq!(names, json(&format!("[{expected},{expected}]")));
}

#[test]
fn python_xmlrpc_client_builtin_types() {
    let case = Case::begin("python_xmlrpc_client_builtin_types");
    let script = "
weather = xmlrpc.client.ServerProxy(url + '/RPC2', use_builtin_types=True)
city = weather.GetCity({'cityId': 'oslo'})
image = weather.GetStationImage({'stationId': 'oslo-blindern'})
forecast = weather.weather.forecast('oslo', 2)
show([
    type(city['founded']).__name__, city['founded'].year,
    type(city['population']).__name__, type(city['capital']).__name__,
    type(city['coordinates']['latitude']).__name__,
    type(image['image']).__name__, image['image'][:4] == b'\\x89PNG',
    type(forecast['issuedAt']).__name__, forecast['expiresAt'],
])";
    let Some(types) = python(&case, script) else {
        return;
    };
    assert_eq!(
        types,
        json(
            r#"["datetime",1048,"int","bool","float","bytes",true,"datetime","2026-11-01T18:00:00Z"]"#
        )
    );
}

#[test]
fn python_xmlrpc_client_own_types() {
    let case = Case::begin("python_xmlrpc_client_own_types");
    let script = "
city = weather.GetCity({'cityId': 'oslo'})
image = weather.GetStationImage({'stationId': 'oslo-blindern'})
show([type(city['founded']).__name__, str(city['founded']), type(image['image']).__name__])";
    let Some(types) = python(&case, script) else {
        return;
    };
    assert_eq!(types, json(r#"["DateTime","10480101T00:00:00","Binary"]"#));
}

#[test]
fn python_xmlrpc_client_positional_method() {
    let case = Case::begin("python_xmlrpc_client_positional_method");
    let script = "
show([
    len(weather.weather.forecast('oslo')['days']),
    len(weather.weather.forecast('oslo', 2)['days']),
    weather.weather.forecast('oslo', 2, 'imperial')['units'],
    weather.weather.forecast('oslo', 2)['outlook']['wind']['gusts'],
])";
    let Some(answers) = python(&case, script) else {
        return;
    };
    assert_eq!(answers, json(r#"[3,2,"imperial",true]"#));
}

#[test]
fn python_xmlrpc_client_faults() {
    let case = Case::begin("python_xmlrpc_client_faults");
    let script = "
def fault(call):
    try:
        call()
    except xmlrpc.client.Fault as error:
        return [error.faultCode, error.faultString]
show([
    fault(lambda: weather.GetCitty({'cityId': 'oslo'})),
    fault(lambda: weather.GetCity({'cityId': 'atlantis'})),
    fault(lambda: weather.GetCity({})),
    fault(lambda: weather.GetCity({'cityId': 5})),
    fault(lambda: weather.GetCity('oslo', 'paris')),
    fault(lambda: weather.weather.forecast('oslo', 1, 'metric', 'more')),
])";
    let Some(faults) = python(&case, script) else {
        return;
    };
    let codes: Vec<_> = (0..6).map(|index| faults[index][0].as_i64()).collect();
    let expected = [-32_601, 404, -32_602, -32_602, -32_602, -32_602].map(Some);
    assert_eq!(codes, expected, "{faults:?}");
    let text = |index: usize| faults[index][1].as_str().unwrap_or_default().to_owned();
    assert!(text(0).contains("GetCitty"), "{faults:?}");
    assert_eq!(text(1), "NoSuchResource: there is no city \"atlantis\"");
    assert!(text(2).contains("'/cityId'"), "{faults:?}");
}

#[test]
fn python_xmlrpc_client_fault_detail() {
    let case = Case::begin("python_xmlrpc_client_fault_detail");
    // The client keeps only the code and the text. Its parser exposes the other members.
    let script = "
def fault(headers):
    body = xmlrpc.client.dumps(({'cityId': 'atlantis'},), 'GetCity').encode()
    headers = {'Content-Type': 'text/xml', **headers}
    answer = urllib.request.urlopen(urllib.request.Request(url + '/RPC2', body, headers))
    parser, reader = xmlrpc.client.getparser()
    parser.feed(answer.read())
    parser.close()
    return [answer.status, reader._type, reader._stack[0]]
status, kind, asked = fault({'Polywire-Fault-Detail': 'yes'})
show([status, kind, asked['detail'], sorted(fault({})[2])])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(
        answer,
        json(
            r#"[200,"fault",{"__type":"example.weather#NoSuchResource","message":"there is no city \"atlantis\"","resourceKind":"city","resourceId":"atlantis"},["faultCode","faultString"]]"#
        )
    );
}

#[test]
fn python_xmlrpc_client_blob() {
    let case = Case::begin("python_xmlrpc_client_blob");
    // Python breaks base64 into lines.
    let script = "
data = bytes(range(256)) * 40
answer = weather.PutObservation({
    'stationId': 'oslo-blindern', 'clientToken': 'blob',
    'observedAt': datetime.datetime(2026, 11, 1, 11, 55),
    'reading': {'raw': xmlrpc.client.Binary(data)},
})
builtin = xmlrpc.client.ServerProxy(url + '/RPC2', use_builtin_types=True)
again = builtin.PutObservation({
    'stationId': 'oslo-blindern', 'clientToken': 'bytes',
    'observedAt': datetime.datetime(2026, 11, 1, 11, 55),
    'reading': {'raw': data},
})
show([answer['reading']['raw'].data == data, again['reading']['raw'] == data])";
    let Some(same) = python(&case, script) else {
        return;
    };
    assert_eq!(same, json("[true,true]"));
}

#[test]
fn python_xmlrpc_client_date_time() {
    let case = Case::begin("python_xmlrpc_client_date_time");
    let script = "
def report(at, token):
    return weather.storm.report({
        'name': 'Ylva', 'severity': 2, 'clientToken': token,
        'track': [{'at': at, 'position': {'latitude': 58.0, 'longitude': 7.0}}],
    })['stormId']
show([
    report(datetime.datetime(2026, 11, 1, 10), 'a'),
    report(xmlrpc.client.DateTime('20261101T10:00:00'), 'b'),
    report(xmlrpc.client.DateTime('2026-11-01T10:00:00Z'), 'c'),
    str(weather.GetCity({'cityId': 'kyoto'})['founded'])[:9],
])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    for index in 0..3 {
        let id = answer[index].as_str().unwrap_or_default();
        assert!(id.starts_with("storm-2026-"), "{answer:?}");
    }
}

#[test]
fn python_xmlrpc_client_i8() {
    let case = Case::begin("python_xmlrpc_client_i8");
    let script = "
year = weather.GetStatistics({'cityId': 'oslo', 'year': 2025})
show([year['observations'], year['rainfallLitres'], year['meanTemperature']])";
    let Some(numbers) = python(&case, script) else {
        return;
    };
    // A number of more than 32 bits is an i8. Numbers that clients cannot represent are strings.
    assert_eq!(
        numbers,
        json(r#"[4294967296,"123456789012345678901234567890","7.125"]"#)
    );
}

#[test]
fn python_xmlrpc_client_nested_structs() {
    let case = Case::begin("python_xmlrpc_client_nested_structs");
    let script = "
region = weather.DescribeRegion({'path': 'europe/norway'})['region']
year = weather.GetStatistics({'cityId': 'oslo', 'year': 2025})
show([region, year['extremes']['warmest'], year['notes']])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(
        answer,
        json(
            r#"[{"name":"Norway","center":{"latitude":61.0,"longitude":8.5},"cities":[],"parts":[{"name":"Eastern Norway","cities":["oslo"],"parts":[]}]},{"at":"2025-07-20T14:00:00Z","value":31.0},{"reviewed":true,"authors":["Ada","Grace"],"gaps":{"february":"sensor under snow"}}]"#
        )
    );
}

#[test]
fn python_xmlrpc_client_nil() {
    let case = Case::begin("python_xmlrpc_client_nil");
    let script = "
weather = xmlrpc.client.ServerProxy(url + '/RPC2', allow_none=True)
page = weather.ListCities({'pageSize': 2, 'nextToken': None})
show([[city['cityId'] for city in page['cities']], page['nextToken'],
      len(weather.weather.forecast('oslo', None, 'metric')['days'])])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(answer, json(r#"[["kyoto","oslo"],"oslo",3]"#));
}

#[test]
fn python_xmlrpc_client_text() {
    let case = Case::begin("python_xmlrpc_client_text");
    let script = "
texts = ['', ' ', '<&>\"\\'', 'ö オ 🌧', 'line\\nbreak', ']]>']
def search(text):
    try:
        return weather.SearchStations({'text': text})['searched']
    except xmlrpc.client.Fault as error:
        return error.faultCode
show([search(text) for text in texts])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    // The service requires at least one character.
    assert_eq!(answer, json("[-32602,3,3,3,3,3]"));
}

#[test]
fn python_xmlrpc_client_many_calls() {
    let case = Case::begin("python_xmlrpc_client_many_calls");
    // All calls use one connection, and a fault does not close it.
    let script = "
class Counting(xmlrpc.client.Transport):
    made = 0
    def make_connection(self, host):
        if not (self._connection and host == self._connection[0]):
            Counting.made += 1
        return super().make_connection(host)
weather = xmlrpc.client.ServerProxy(url + '/RPC2', transport=Counting())
names = set()
for number in range(100):
    names.add(weather.GetCity({'cityId': 'oslo'})['name'])
    try:
        weather.GetCity({'cityId': 'x' * (number + 1)})
    except xmlrpc.client.Fault:
        pass
show([sorted(names), Counting.made])";
    let Some(answer) = python(&case, script) else {
        return;
    };
    assert_eq!(answer, json(r#"[["Oslo"],1]"#));
}

#[test]
fn python_xmlrpc_client_delete_is_seen_elsewhere() {
    let case = Case::begin("python_xmlrpc_client_delete_is_seen_elsewhere");
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let Some(curl) = case.curl() else { return };
    let serving = Serving::start(&[]);
    let before = curl.get(&format!("{}/cities/quito", serving.url()), &[]);
    assert_eq!(before.status, 200);
    let weather = Weather::load();
    let city = weather.output("GetCity", &before.json());
    assert!(city.contains("Quito"), "{city}");
    let script = "
weather = xmlrpc.client.ServerProxy(url + '/RPC2')
show(weather.DeleteCity({'cityId': 'quito'}))";
    assert_eq!(python.run(serving.url(), script), json("{}"));
    let after = curl.get(&format!("{}/cities/quito", serving.url()), &[]);
    assert_eq!(after.status, 404);
}
